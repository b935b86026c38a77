using System.Diagnostics;
using System.Globalization;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;
using static Snapper.Telemetry.InstrumentKind;

namespace Snapper.Telemetry;

/// <summary>
/// All instruments of a worker: the one table from which <c>/metrics</c> is written, OTLP is sent, and
/// docs/telemetry.md is made. Names and kinds are contract.
/// </summary>
internal static class Instruments
{
    public const string MeterName = "Snapper.Dapr";

    private static readonly double s_processStart = StartOfProcess();
    private static readonly Label[] s_reason = [new("reason", "error.type")];
    private static readonly Label[] s_peer = [new("peer", "snapper.peer")];
    private static readonly Label s_mode = new("mode", "snapper.transaction.mode");

    /// <summary>The rows, in the order of <c>/metrics</c>.</summary>
    public static IReadOnlyList<Instrument> All { get; } =
    [
        new("snapper_worker_info", null, "1", Gauge, "Facts about the worker; always 1.",
            [.. from name in (string[])["worker", "version", "dapr", "log", "durability"] select new Label(name, name)],
            static now => OfFacts(now.Status)),
        new("snapper_transactions_total", null, "{transaction}", Counter,
            "Transactions that ended; the mode of committed ones.",
            [s_mode, new("outcome", "snapper.transaction.outcome")],
            static now =>
            [
                new(now.Status.CommittedPact, "pact", "committed"), new(now.Status.CommittedAct, "act", "committed"),
                new(now.Status.Aborted, null, "aborted"),
            ]),
        new("snapper_transaction_aborts_total", null, "{transaction}", Counter, "Transactions that were aborted.",
            s_reason, static now => now.Status.AbortsByReason.Select(OfReason)),
        new("snapper_transaction_repeats_total", "snapper.transaction.repeats", "{attempt}", Counter,
            "Attempts that the system ran again by itself.", s_reason,
            static now => now.Status.RepeatsByReason.Select(OfReason)),
        new("snapper_transaction_duration_seconds", "snapper.transaction.duration", "s", Histogram,
            "From arrival to answer; on /metrics of committed transactions only.", [s_mode, new("le", "le")],
            static now =>
                [.. Durations("pact", now.Totals.PactDurations), .. Durations("act", now.Totals.ActDurations)]),
        Of("snapper_transactions_in_flight", "snapper.transaction.active", "{transaction}", UpDownCounter,
            "Transactions accepted and not yet answered.", static status => status.InFlight),
        Of("snapper_batches_total", "snapper.batch.formed", "{batch}", Counter, "Batches formed.",
            static status => status.Batches),
        Of("snapper_batch_highest_committed", "snapper.batch.highest_committed", "{batch}", Gauge,
            "Number of the highest committed batch.", static status => status.HighestCommittedBatch),
        Of("snapper_undos_total", "snapper.undo.count", "{undo}", Counter, "Undos of speculative work.",
            static status => status.Undos),
        Of("snapper_log_position", "snapper.log.position", "{record}", Gauge,
            "Last position appended to the log.", static status => status.LogPosition),
        Of("snapper_log_durable_position", "snapper.log.durable_position", "{record}", Gauge,
            "Last position of the log known to be durable.", static status => status.DurablePosition),
        Of("snapper_resident_actors", "snapper.actor.resident", "{actor}", UpDownCounter,
            "Actors in memory.", static status => status.ResidentActors),
        new("snapper_resident_actor_bytes", "snapper.actor.resident_size", "By", Gauge,
            "Bytes of the actors in memory, estimated.", [], static now => [new Sample(now.Totals.ActorBytes)]),
        new("snapper_actors_left_for_room_total", "snapper.actor.left_for_room", "{actor}", Counter,
            "Actors that left memory to make room for others.", [],
            static now => [new Sample(now.Totals.ActorsLeftForRoom)]),
        new("snapper_request_ids", "snapper.request_id.kept", "{id}", UpDownCounter,
            "Ids of requests whose outcomes are kept.", [], static now => [new Sample(now.Totals.RequestIds)]),
        new("snapper_request_ids_max", "snapper.request_id.max", "{id}", Gauge,
            "How many of them are kept at most; new ones beyond are refused.", [],
            static now => [new Sample(now.Totals.RequestIdsMost)]),
        Of("snapper_worker_epoch", "snapper.worker.epoch", "{epoch}", Gauge,
            "Epoch in which the worker writes its log.", static status => status.Epoch),
        new("snapper_store_losses_total", "snapper.store.losses", "{loss}", Counter,
            "How often the store was found to have less than it had acknowledged; kept in the log.", [],
            static now => [new Sample(now.Totals.Losses)]),
        new("snapper_checkpoints_failing", "snapper.checkpoint.failing", "1", Gauge,
            "1: the last checkpoint failed, so that the log is not trimmed and grows.", [],
            static now => [new Sample(now.Totals.CheckpointsFail ? 1 : 0)]),
        new("snapper_checkpoint_failures_total", "snapper.checkpoint.failures", "{checkpoint}", Counter,
            "Checkpoints that failed; each is tried again.", [],
            static now => [new Sample(now.Totals.CheckpointFailures)]),
        Of("snapper_worker_uptime_seconds", "snapper.worker.uptime", "s", Gauge,
            "Time since the worker started.", static status => status.UptimeMs / 1000.0),
        Of("snapper_held_bytes", "snapper.memory.held", "By", UpDownCounter,
            "What requests and answers hold.", static status => status.Memory?.HeldBytes),
        Of("snapper_held_max_bytes", "snapper.memory.held_max", "By", Gauge,
            "What requests and answers may hold; more are refused.", static status => status.Memory?.HeldMaxBytes),
        Of("snapper_heap_limit_bytes", "snapper.memory.heap_limit", "By", Gauge,
            "What the managed heap may grow to.", static status => status.Memory?.LimitBytes),
        Of("snapper_memory_refusing", "snapper.memory.refusing", "1", Gauge,
            "1: new work is refused, since the managed heap is near its limit.",
            static status => status.Memory is { } memory ? memory.Refusing ? 1 : 0 : null),
        Of("snapper_redis_used_bytes", "snapper.redis.used", "By", Gauge,
            "Memory that the Redis of log and states uses.", static status => status.Redis?.UsedBytes),
        Of("snapper_redis_max_bytes", "snapper.redis.max", "By", Gauge,
            "Memory that this Redis may use; 0: it has no limit of its own.", static status => status.Redis?.MaxBytes),
        Of("snapper_redis_system_bytes", "snapper.redis.system", "By", Gauge,
            "Memory of the machine of this Redis, its limit where it has none of its own; 0: unknown.",
            static status => status.Redis?.SystemBytes),
        Of("snapper_cluster_master_epoch", "snapper.cluster.master_epoch", "{epoch}", Gauge,
            "Epoch of the master that the worker follows; 0: none.", static status => status.Cluster?.MasterEpoch),
        Of("snapper_cluster_global_pacts", "snapper.cluster.global_pacts", "{transaction}", UpDownCounter,
            "PACTs over several workers that have a number and have not ended.",
            static status => status.Cluster?.GlobalPacts),
        Of("snapper_cluster_remote_calls", "snapper.cluster.remote_calls", "{call}", UpDownCounter,
            "Calls of this worker's transactions that run on other workers.",
            static status => status.Cluster?.RemoteCalls),
        Of("snapper_cluster_waiting_for_number", "snapper.cluster.waiting_for_number", "{transaction}", UpDownCounter,
            "PACTs that wait for a number of the master.", static status => status.Cluster?.WaitingForNumber),
        OfPeers("snapper_mailbox_queued", "snapper.mailbox.queued", "{message}", UpDownCounter,
            "Messages to another worker that it has not taken yet.", static peer => peer.Queued),
        OfPeers("snapper_mailbox_unanswered_seconds", "snapper.mailbox.unanswered", "s", Gauge,
            "For how long another worker has not answered.", static peer => peer.UnansweredMs / 1000),
        OfPeers("snapper_mailbox_detour", "snapper.mailbox.detour", "1", Gauge,
            "1: packets to another worker go through a third one, since it does not answer directly.",
            static peer => peer.Via is null ? 0 : 1),
        OfPeers("snapper_mailbox_direct_link", "snapper.mailbox.direct_link", "1", Gauge,
            "1: packets to another worker go by a direct link; 0: through the sidecars.",
            static peer => peer.DirectLink ? 1 : 0),
        OfPeers("snapper_mailbox_retransmissions_total", "snapper.mailbox.retransmissions", "{packet}", Counter,
            "Packets to another worker that were sent again.", static peer => peer.Retransmissions),
        new("snapper_health_check", "snapper.health.check", "1", Gauge, "1 when the check passes, else 0.",
            [new("check", "snapper.health.check.name")],
            static now => now.Checks.Select(static check => new Sample(check.Healthy ? 1 : 0, check.Name))),

        // By OTLP the runtime's own instruments say these (meter System.Runtime).
        Of("process_cpu_seconds_total", null, "s", Counter,
            "User and system CPU time of the process.", static _ => Environment.CpuUsage.TotalTime.TotalSeconds),
        Of("process_resident_memory_bytes", null, "By", Gauge, "Resident memory of the process.",
            static _ => Environment.WorkingSet),
        Of("process_start_time_seconds", null, "s", Gauge,
            "Start of the process, in seconds since the Unix epoch.", static _ => s_processStart),
        new("dotnet_gc_collections_total", null, "{collection}", Counter, "Garbage collections.",
            [new("generation", "gc.heap.generation")],
            static _ => Enumerable.Range(0, GC.MaxGeneration + 1).Select(
                static one => new Sample(GC.CollectionCount(one), one.ToString(CultureInfo.InvariantCulture)))),
        Of("snapper_process_managed_heap_bytes", null, "By", Gauge,
            "Bytes of objects in the managed heap at the end of the last collection; 0 before the first.",
            static _ => LiveBytes()),
        Of("dotnet_gc_heap_size_bytes", null, "By", Gauge,
            "Bytes in the managed heap.", static _ => GC.GetTotalMemory(forceFullCollection: false)),
        Of("dotnet_gc_allocated_bytes_total", null, "By", Counter,
            "Bytes allocated on the managed heap.", static _ => GC.GetTotalAllocatedBytes()),
        Of("dotnet_gc_pause_seconds_total", null, "s", Counter,
            "Time paused for garbage collections.", static _ => GC.GetTotalPauseDuration().TotalSeconds),
        Of("dotnet_thread_pool_threads", null, "{thread}", UpDownCounter,
            "Threads of the thread pool.", static _ => ThreadPool.ThreadCount),
        Of("dotnet_thread_pool_queue_length", null, "{work_item}", UpDownCounter,
            "Work items waiting in the thread pool.", static _ => ThreadPool.PendingWorkItemCount),
    ];

    private static Instrument Of(
        string prometheus, string? otlp, string unit, InstrumentKind kind, string help,
        Func<WorkerStatus, double?> value) =>
        new(prometheus, otlp, unit, kind, help, [], now => value(now.Status) is { } read ? [new Sample(read)] : null);

    private static Instrument OfPeers(
        string prometheus, string otlp, string unit, InstrumentKind kind, string help, Func<PeerView, double> value) =>
        new(prometheus, otlp, unit, kind, help, s_peer,
            now => now.Status.Cluster?.Peers.Select(peer => new Sample(value(peer), peer.Worker)));

    private static Sample[] OfFacts(WorkerStatus status) =>
        [new(1, status.Worker, status.Version, status.Dapr, status.Log, status.Durability)];

    private static Sample OfReason(KeyValuePair<string, long> reason) => new(reason.Value, reason.Key);

    private static IEnumerable<Sample> Durations(string mode, DurationsView? durations)
    {
        if (durations is null)
        {
            yield break;
        }

        for (var i = 0; i < durations.UpTo.Count; i++)
        {
            var bound = i < durations.Bounds.Count ? durations.Bounds[i] : double.PositiveInfinity;
            yield return new Sample(durations.UpTo[i], mode, PrometheusText.Number(bound)) { Part = "_bucket" };
        }

        yield return new Sample(durations.Sum, mode, null) { Part = "_sum" };
        yield return new Sample(durations.UpTo[^1], mode, null) { Part = "_count" };
    }

    /// <summary>Without garbage that awaits its collection, and room between objects. A scrape starts no collection.</summary>
    private static long LiveBytes()
    {
        var last = GC.GetGCMemoryInfo(GCKind.Any);
        return Math.Max(0, last.HeapSizeBytes - last.FragmentedBytes);
    }

    private static double StartOfProcess()
    {
        using var process = Process.GetCurrentProcess();
        return new DateTimeOffset(process.StartTime).ToUnixTimeMilliseconds() / 1000.0;
    }
}
