using Snapper.Contracts;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Pages;

/// <summary>What is checked of a worker, by itself and from here, with what to do about it.</summary>
internal static class HealthRows
{
    private const double RedisWarnsAt = 0.75;
    private const double PeerSilentMs = 2000;
    private const long LogBehind = 10_000;

    /// <summary>All rows of a worker.</summary>
    public static IEnumerable<HealthPage.Row> Of(WorkerState worker)
    {
        var asOf = worker.AnsweredAt;
        if (worker is { Refused: true, Problem: { } refusal })
        {
            yield return new(worker.Name, "lets the dashboard look", false, refusal, "It answers. The dashboard needs a token of its own with the right to view: set SNAPPER_TOKEN where it is started (docs/dashboard.md#signing-in).", worker.AskedAt);
        }
        else if (worker.Problem is { } problem)
        {
            yield return new(worker.Name, "answers", false, problem, "'up' starts a dead worker again by itself; if it does not come back, its last lines are in the data folder under logs/, and './snapper doctor' checks the machine.", worker.AskedAt);
        }
        else if (worker.Status is not null)
        {
            yield return new(worker.Name, "answers", true, $"at {worker.Url.GetLeftPart(UriPartial.Authority)}", "", asOf);
        }

        foreach (var (name, check) in worker.Ready?.Checks ?? new ReadyView().Checks) yield return new(worker.Name, name, check.Healthy, check.Detail ?? "", check.Healthy ? "" : Fix(name), asOf);
        if (worker.Status is not { } status) yield break;
        if (status.Redis is { UsedBytes: { } used } redis)
        {
            // Without a limit of its own it may use what the machine has.
            var limited = redis.MaxBytes is > 0;
            var share = (limited ? redis.MaxBytes : redis.SystemBytes) is > 0 and { } most ? (double)used / most : (double?)null;
            var full = share >= RedisWarnsAt;
            var says = limited ? $"{Fmt.Bytes(used)} of {Fmt.Bytes(redis.MaxBytes)}, {share:P0}"
                : share is null ? $"{Fmt.Bytes(used)}, no limit is set"
                : $"{Fmt.Bytes(used)}, no limit is set; its machine has {Fmt.Bytes(redis.SystemBytes)}, {share:P0} of it";
            yield return new(worker.Name, "redis memory", !full, says, !full ? ""
                : limited ? "A full Redis refuses writes, and then nothing commits. Raise maxmemory, or take load away; docs/operating.md says how to size it."
                : "Without a limit Redis is ended by its machine when memory runs out, and then nothing commits until it is back. Give the machine more, or take load away; with maxmemory it refuses writes instead; docs/operating.md says how to size it.", asOf);
        }

        var behind = status.LogPosition - status.DurablePosition;
        yield return new(worker.Name, "log is durable", behind < LogBehind, $"{Fmt.Count(behind, "record")} {(behind == 1 ? "is" : "are")} not durable yet", behind < LogBehind ? "" : "Redis or the disk is slow: look at redis latency and at the disk of its append-only file.", asOf);
        foreach (var peer in status.Cluster?.Peers ?? [])
        {
            var silent = peer.UnansweredMs > PeerSilentMs;
            yield return new(worker.Name, $"reaches {peer.Worker}", !silent, silent ? $"no answer for {Fmt.Ms(peer.UnansweredMs)}, {Fmt.Count(peer.Queued, "message")} wait: {peer.LastProblem}" : "answers",
                silent ? "If that worker lives, look at its sidecar and at Dapr's placement; one that stays away is taken over when its lease has run out." : "", asOf);
        }
    }

    private static string Fix(string check) => check switch
    {
        "log" => "Is Redis up, and can the worker write to it? './snapper doctor' says; a full or read-only Redis refuses writes.",
        "memory" => "Redis is nearly full: no transaction is begun that may write until there is room again.",
        "checkpoints" => "States are not checkpointed out of the log: usually Redis is slow or full. Restarts take longer until it goes on.",
        "states" => "It has met states that a newer program wrote, and refuses them: docs/evolution.md.",
        "worker" => "It starts, or has given up: its last lines are in the data folder under logs/.",
        "door" or "requests" => "It lets no requests in: it starts, stops, or waits for another check in this list.",
        "sidecar" => "Is daprd up? Its log is in the data folder under logs/daprd-*.log.",
        _ => "The worker's own words say what is wrong; docs/troubleshooting.md goes by symptom.",
    };
}
