using System.Text.Json;
using Snapper.Runtime.Inspection;

namespace Snapper.Server.Api.Endpoints;

/// <summary>The inspection views as JSON. Lists stand in an object under their name, so that fields can join them later.</summary>
internal static class ViewWriter
{
    public static void Write(Utf8JsonWriter json, WorkerStatus status)
    {
        json.WriteStartObject();
        json.WriteString("worker"u8, status.Worker);
        json.WriteNumber("pid"u8, status.Pid);
        WritePid(json, "sidecarPid"u8, status.SidecarPid);
        WritePid(json, "redisPid"u8, status.RedisPid);
        json.WriteNumber("epoch"u8, status.Epoch);
        json.WriteString("dapr"u8, status.Dapr);
        json.WriteString("log"u8, status.Log);
        json.WriteString("durability"u8, status.Durability);
        json.WriteNumber("uptimeMs"u8, status.UptimeMs);
        json.WriteString("version"u8, status.Version);
        json.WriteNumber("committed"u8, status.Committed);
        json.WriteNumber("aborted"u8, status.Aborted);
        json.WriteNumber("inFlight"u8, status.InFlight);
        json.WriteNumber("committedPact"u8, status.CommittedPact);
        json.WriteNumber("committedAct"u8, status.CommittedAct);
        WriteCounts(json, "abortsByReason"u8, status.AbortsByReason);
        json.WriteNumber("batches"u8, status.Batches);
        json.WriteNumber("openBatches"u8, status.OpenBatches);
        json.WriteNumber("highestCommittedBatch"u8, status.HighestCommittedBatch);
        json.WriteNumber("logPosition"u8, status.LogPosition);
        json.WriteNumber("durablePosition"u8, status.DurablePosition);
        json.WriteNumber("undos"u8, status.Undos);
        json.WriteNumber("residentActors"u8, status.ResidentActors);
        WriteCounts(json, "repeatsByReason"u8, status.RepeatsByReason);
        json.WriteNumber("cpuMs"u8, Math.Round(status.CpuMs));
        json.WriteNumber("residentBytes"u8, status.ResidentBytes);
        if (status.Redis is { } redis)
        {
            json.WriteStartObject("redis"u8);
            json.WriteNumber("usedBytes"u8, redis.UsedBytes);
            json.WriteNumber("maxBytes"u8, redis.MaxBytes);
            json.WriteNumber("systemBytes"u8, redis.SystemBytes);
            json.WriteEndObject();
        }

        json.WriteStartObject("latency"u8);
        WriteLatency(json, "pact"u8, status.PactLatency);
        WriteLatency(json, "act"u8, status.ActLatency);
        json.WriteEndObject();
        if (status.Cluster is { } cluster)
        {
            json.WritePropertyName("cluster"u8);
            Write(json, cluster);
        }

        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, ClusterStatusView cluster)
    {
        json.WriteStartObject();
        json.WriteString("master"u8, cluster.Master);
        json.WriteNumber("masterEpoch"u8, cluster.MasterEpoch);
        json.WriteNumber("directory"u8, cluster.Directory);
        json.WriteNumber("waitingForNumber"u8, cluster.WaitingForNumber);
        json.WriteNumber("globalPacts"u8, cluster.GlobalPacts);
        json.WriteNumber("remoteCalls"u8, cluster.RemoteCalls);
        json.WriteNumber("passedOn"u8, cluster.PassedOn);
        json.WriteStartArray("peers"u8);
        foreach (var peer in cluster.Peers)
        {
            json.WriteStartObject();
            json.WriteString("worker"u8, peer.Worker);
            json.WriteNumber("epoch"u8, peer.Epoch);
            json.WriteNumber("queued"u8, peer.Queued);
            json.WriteNumber("unansweredMs"u8, Math.Round(peer.UnansweredMs));
            json.WriteNumber("sent"u8, peer.Sent);
            json.WriteNumber("received"u8, peer.Received);
            json.WriteNumber("retransmissions"u8, peer.Retransmissions);
            json.WriteString("lastProblem"u8, peer.LastProblem);
            json.WriteString("via"u8, peer.Via);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, IReadOnlyList<ActorTypeView> types)
    {
        json.WriteStartObject();
        json.WriteStartArray("types"u8);
        foreach (var type in types)
        {
            json.WriteStartObject();
            json.WriteString("type"u8, type.Type);
            json.WriteStartArray("methods"u8);
            foreach (var method in type.Methods)
            {
                json.WriteStartObject();
                json.WriteString("name"u8, method.Name);
                json.WriteBoolean("mayAbort"u8, method.MayAbort);
                json.WriteBoolean("readOnly"u8, method.ReadOnly);
                WriteElement(json, "input"u8, method.Input);
                WriteElement(json, "result"u8, method.Result);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, ActorView actor)
    {
        json.WriteStartObject();
        json.WriteString("type"u8, actor.Type);
        json.WriteString("id"u8, actor.Id);
        WriteElement(json, "state"u8, actor.State);
        json.WriteNumber("version"u8, actor.Version);
        json.WriteNumber("lastBatch"u8, actor.LastBatch);
        json.WriteString("worker"u8, actor.Worker);
        json.WriteBoolean("resident"u8, actor.Resident);
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, ActorListView list)
    {
        json.WriteStartObject();
        json.WriteString("type"u8, list.Type);
        json.WriteString("worker"u8, list.Worker);
        json.WriteStartArray("actors"u8);
        foreach (var actor in list.Actors)
        {
            json.WriteStartObject();
            json.WriteString("id"u8, actor.Id);
            WriteNumberOrNull(json, "version"u8, actor.Version);
            json.WriteBoolean("resident"u8, actor.Resident);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteString("next"u8, list.Next);
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, ScheduleView schedule)
    {
        json.WriteStartObject();
        json.WriteString("type"u8, schedule.Type);
        json.WriteString("id"u8, schedule.Id);
        json.WriteStartArray("entries"u8);
        foreach (var entry in schedule.Entries)
        {
            json.WriteStartObject();
            json.WriteString("kind"u8, entry.Kind);
            json.WriteNumber("transaction"u8, entry.Transaction);
            json.WriteNumber("batch"u8, entry.Batch);
            json.WriteString("state"u8, entry.State);
            json.WriteNumber("calls"u8, entry.Calls);
            json.WriteNumber("declared"u8, entry.Declared);
            json.WriteNumber("ahead"u8, entry.Ahead);
            json.WriteNumber("behind"u8, entry.Behind);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, IReadOnlyList<BatchView> batches)
    {
        json.WriteStartObject();
        json.WriteStartArray("batches"u8);
        foreach (var batch in batches)
        {
            WriteOne(json, batch);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void WriteOne(Utf8JsonWriter json, BatchView batch)
    {
        json.WriteStartObject();
        json.WriteNumber("batch"u8, batch.Batch);
        json.WriteNumber("previousBatch"u8, batch.PreviousBatch);
        json.WriteNumber("transactions"u8, batch.Transactions);
        json.WriteNumber("actors"u8, batch.Actors);
        json.WriteString("state"u8, batch.State);
        json.WriteNumber("formedAtMs"u8, batch.FormedAt.ToUnixTimeMilliseconds());
        WriteNumberOrNull(json, "completedMs"u8, batch.CompletedMs);
        WriteNumberOrNull(json, "queuedMs"u8, batch.QueuedMs);
        WriteNumberOrNull(json, "committedMs"u8, batch.CommittedMs);
        WriteStrings(json, "waitingFor"u8, batch.WaitingFor);
        WriteNumberOrNull(json, "globalBatch"u8, batch.GlobalBatch);
        WriteNumberOrNull(json, "preparedMs"u8, batch.PreparedMs);
        json.WriteString("lastActor"u8, batch.LastActor);
        json.WriteString("beforeLastActor"u8, batch.BeforeLastActor);
        WriteNumberOrNull(json, "lastActorAfterMs"u8, batch.LastActorAfterMs);
        json.WriteString("heldBackBy"u8, NameOf(batch.HeldBackBy));
        WriteNumberOrNull(json, "heldBackMs"u8, batch.HeldBackMs);
        json.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter json, IReadOnlyList<AbortView> aborts)
    {
        json.WriteStartObject();
        json.WriteStartArray("aborts"u8);
        foreach (var abort in aborts)
        {
            json.WriteStartObject();
            json.WriteNumber("atMs"u8, abort.At.ToUnixTimeMilliseconds());
            json.WriteString("id"u8, abort.Id);
            json.WriteNumber("transaction"u8, abort.Transaction);
            json.WriteString("mode"u8, abort.Mode);
            json.WriteString("root"u8, abort.Root);
            json.WriteString("method"u8, abort.Method);
            json.WriteString("reason"u8, abort.Reason);
            json.WriteString("message"u8, abort.Message);
            json.WriteBoolean("repeated"u8, abort.Repeated);
            WriteStrings(json, "actors"u8, abort.Actors);
            json.WriteNumber("blocker"u8, abort.Blocker);
            json.WriteNumber("floor"u8, abort.Floor);
            json.WriteNumber("ceil"u8, abort.Ceil);
            WriteParty(json, "blockedBy"u8, abort.BlockedBy);
            WriteParty(json, "undoneFor"u8, abort.UndoneFor);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteParty(Utf8JsonWriter json, ReadOnlySpan<byte> name, PartyView? party)
    {
        if (party is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartObject(name);
        json.WriteString("request"u8, party.Request);
        json.WriteNumber("transaction"u8, party.Transaction);
        json.WriteString("mode"u8, party.Mode);
        json.WriteString("root"u8, party.Root);
        json.WriteString("method"u8, party.Method);
        json.WriteNumber("age"u8, party.Age);
        json.WriteEndObject();
    }

    private static void WriteCounts(Utf8JsonWriter json, ReadOnlySpan<byte> name, IReadOnlyDictionary<string, long> counts)
    {
        json.WriteStartObject(name);
        foreach (var (reason, count) in counts)
        {
            json.WriteNumber(reason, count);
        }

        json.WriteEndObject();
    }

    private static void WriteLatency(Utf8JsonWriter json, ReadOnlySpan<byte> name, LatencyView? latency)
    {
        if (latency is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartObject(name);
        json.WriteNumber("count"u8, latency.Count);
        json.WriteNumber("p50Ms"u8, latency.P50Ms);
        json.WriteNumber("p90Ms"u8, latency.P90Ms);
        json.WriteNumber("p99Ms"u8, latency.P99Ms);
        json.WriteNumber("p999Ms"u8, latency.P999Ms);
        json.WriteNumber("maxMs"u8, latency.MaxMs);
        json.WriteEndObject();
    }

    private static void WriteStrings(Utf8JsonWriter json, ReadOnlySpan<byte> name, IReadOnlyList<string> values)
    {
        json.WriteStartArray(name);
        foreach (var value in values)
        {
            json.WriteStringValue(value);
        }

        json.WriteEndArray();
    }

    private static void WriteElement(Utf8JsonWriter json, ReadOnlySpan<byte> name, JsonElement? value)
    {
        json.WritePropertyName(name);
        if (value is { ValueKind: not JsonValueKind.Undefined } element)
        {
            element.WriteTo(json);
        }
        else
        {
            json.WriteNullValue();
        }
    }

    // A process that is not ours, or not there, has no number.
    private static void WritePid(Utf8JsonWriter json, ReadOnlySpan<byte> name, int pid) => WriteNumberOrNull(json, name, pid == 0 ? null : pid);

    private static string? NameOf(HeldBackBy? by) => by switch
    {
        HeldBackBy.Actor => "actor",
        HeldBackBy.Actors => "actors",
        HeldBackBy.Batches => "batches",
        HeldBackBy.Decision => "decision",
        HeldBackBy.Log => "log",
        _ => null,
    };

    private static void WriteNumberOrNull(Utf8JsonWriter json, ReadOnlySpan<byte> name, double? value)
    {
        if (value is { } number)
        {
            json.WriteNumber(name, number);
        }
        else
        {
            json.WriteNull(name);
        }
    }
}
