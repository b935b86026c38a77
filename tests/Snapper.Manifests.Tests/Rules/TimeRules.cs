using System.Globalization;
using Snapper.Runtime.Execution;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>A worker that is told to stop has the time for it, and its sidecar as long.</summary>
internal static class TimeRules
{
    /// <summary>Requests under way, before it has left and before it stops; the last checkpoint; telling the others: each as long as a drain at most.</summary>
    private const int Drains = 4;

    public static IEnumerable<string> Problems(Manifests all)
    {
        var drain = (int)new WorkerOptions().DrainTimeout.TotalSeconds;
        foreach (var pods in all.Pods.Where(pods => pods.HasSidecar))
        {
            var worker = pods.Containers.FirstOrDefault(EnvironmentRules.IsWorker);
            if (worker is null || !pods.Environment(worker, "").TryGetValue("SNAPPER_LEAVE_ON_STOP", out var text))
            {
                yield return $"{pods.Where}: without SNAPPER_LEAVE_ON_STOP its callers wait for a lease to run out whenever it is stopped";
                continue;
            }

            var leave = int.Parse(text, CultureInfo.InvariantCulture);
            var grace = (int?)pods.Spec["terminationGracePeriodSeconds"] ?? 30;
            var block = Seconds((string?)pods.Annotations["dapr.io/block-shutdown-duration"]);
            var sidecar = block + int.Parse((string?)pods.Annotations["dapr.io/graceful-shutdown-seconds"] ?? "5", CultureInfo.InvariantCulture);
            if (block < leave + drain) yield return $"{pods.Where}: the sidecar stays for {block} s, and the worker needs it for {leave} s to leave and {drain} s to drain";
            if (grace < leave + (Drains * drain)) yield return $"{pods.Where}: the worker may need {leave + (Drains * drain)} s to stop, and is killed after {grace} s";
            if (grace < sidecar) yield return $"{pods.Where}: the sidecar may need {sidecar} s to stop, and is killed after {grace} s";
        }
    }

    private static int Seconds(string? duration) => duration is null ? 0
        : duration.EndsWith('s') && int.TryParse(duration[..^1], NumberStyles.None, CultureInfo.InvariantCulture, out var seconds) ? seconds
        : throw new FormatException($"dapr.io/block-shutdown-duration must be in seconds here, not {duration}");
}
