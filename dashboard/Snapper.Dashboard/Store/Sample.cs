using Snapper.Contracts;

namespace Snapper.Dashboard.Store;

/// <summary>What a worker did between two looks. Rates are per second of the time that really passed.</summary>
public sealed record Sample
{
    /// <summary>When the later look was answered, unix milliseconds.</summary>
    public required double AtMs { get; init; }
    public double PactPerSecond { get; init; }
    public double ActPerSecond { get; init; }
    public double AbortedPerSecond { get; init; }
    public double RepeatedPerSecond { get; init; }
    public double BatchesPerSecond { get; init; }
    public double? CpuPercent { get; init; }
    public long InFlight { get; init; }
    public IReadOnlyDictionary<string, double> AbortsByReason { get; init; } = new Dictionary<string, double>();
    public IReadOnlyDictionary<string, double> RepeatsByReason { get; init; } = new Dictionary<string, double>();
    public LatencyByMode? Latency { get; init; }

    /// <summary>Null: the process is another one than before, so that its counters cannot be compared.</summary>
    public static Sample? Between(WorkerStatus before, double beforeMs, WorkerStatus now, double nowMs)
    {
        var seconds = (nowMs - beforeMs) / 1000;
        if (seconds <= 0 || now.Epoch != before.Epoch || now.Pid != before.Pid || now.UptimeMs < before.UptimeMs) return null;
        double Rate(double later, double earlier) => Math.Max(0, later - earlier) / seconds;
        IReadOnlyDictionary<string, double> Rates(IReadOnlyDictionary<string, long> later, IReadOnlyDictionary<string, long> earlier) =>
            later.ToDictionary(pair => pair.Key, pair => Rate(pair.Value, earlier.GetValueOrDefault(pair.Key)));
        return new Sample
        {
            AtMs = nowMs,
            PactPerSecond = Rate(now.CommittedPact, before.CommittedPact),
            ActPerSecond = Rate(now.CommittedAct, before.CommittedAct),
            AbortedPerSecond = Rate(now.Aborted, before.Aborted),
            RepeatedPerSecond = Rate(now.RepeatsByReason.Values.Sum(), before.RepeatsByReason.Values.Sum()),
            BatchesPerSecond = Rate(now.Batches, before.Batches),
            CpuPercent = now.CpuMs is { } cpu && before.CpuMs is { } earlierCpu ? Rate(cpu, earlierCpu) / 10 : null,
            InFlight = now.InFlight,
            AbortsByReason = Rates(now.AbortsByReason, before.AbortsByReason),
            RepeatsByReason = Rates(now.RepeatsByReason, before.RepeatsByReason),
            Latency = now.Latency,
        };
    }

    /// <summary>
    /// All workers together, one value per second: rates are added; of latencies the mean of the workers' medians weighted by their counts, and the worst of
    /// their 99th percentiles (those of the whole are not known, but are not above it).
    /// </summary>
    public static IReadOnlyList<Sample> Together(IEnumerable<IReadOnlyList<Sample>> workers) =>
        [.. workers.SelectMany(samples => samples.GroupBy(sample => Math.Floor(sample.AtMs / 1000)).Select(second => (second.Key, Last: second.Last())))
            .GroupBy(one => one.Key).OrderBy(second => second.Key).Select(second => Sum(second.Key * 1000, [.. second.Select(one => one.Last)]))];

    /// <summary>Those of seconds that are over everywhere: of the last two some workers may not have answered yet, and their sum is too low. All, while there are no others.</summary>
    /// <param name="samples">Of all workers together, oldest first.</param>
    /// <param name="nowMs">Unix milliseconds.</param>
    public static IReadOnlyList<Sample> Whole(IReadOnlyList<Sample> samples, double nowMs) =>
        samples.TakeWhile(sample => sample.AtMs <= nowMs - 2000).ToArray() is { Length: > 0 } whole ? whole : samples;

    private static Sample Sum(double atMs, IReadOnlyList<Sample> samples) => new()
    {
        AtMs = atMs,
        PactPerSecond = samples.Sum(s => s.PactPerSecond),
        ActPerSecond = samples.Sum(s => s.ActPerSecond),
        AbortedPerSecond = samples.Sum(s => s.AbortedPerSecond),
        RepeatedPerSecond = samples.Sum(s => s.RepeatedPerSecond),
        BatchesPerSecond = samples.Sum(s => s.BatchesPerSecond),
        CpuPercent = samples.Any(s => s.CpuPercent is not null) ? samples.Sum(s => s.CpuPercent ?? 0) : null,
        InFlight = samples.Sum(s => s.InFlight),
        AbortsByReason = Add(samples.Select(s => s.AbortsByReason)),
        RepeatsByReason = Add(samples.Select(s => s.RepeatsByReason)),
        Latency = samples.Any(s => s.Latency is not null)
            ? new LatencyByMode(Merge(samples.Select(s => s.Latency?.Pact)), Merge(samples.Select(s => s.Latency?.Act)))
            : null,
    };

    private static IReadOnlyDictionary<string, double> Add(IEnumerable<IReadOnlyDictionary<string, double>> all) =>
        all.SelectMany(one => one).GroupBy(pair => pair.Key).ToDictionary(group => group.Key, group => group.Sum(pair => pair.Value));

    /// <summary>Percentiles of several workers as one, as <see cref="Together"/> says; null when nothing was counted.</summary>
    public static LatencyView? Merge(IEnumerable<LatencyView?> workers)
    {
        var counted = workers.Where(one => one is { Count: > 0 }).Select(one => one!).ToArray();
        if (counted.Length == 0) return null;
        var count = counted.Sum(one => one.Count);
        return new LatencyView(
            count, counted.Sum(one => one.P50Ms * one.Count) / count, counted.Max(one => one.P90Ms), counted.Max(one => one.P99Ms),
            counted.Max(one => one.P999Ms), counted.Max(one => one.MaxMs));
    }
}
