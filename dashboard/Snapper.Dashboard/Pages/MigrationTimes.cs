using Snapper.Contracts;
using Snapper.Dashboard.Charts;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Pages;

/// <summary>How long a migration took, drawn and in figures alike, and what it did to the others. Times are unix milliseconds.</summary>
internal static class MigrationTimes
{
    /// <summary>Throughput before and after is that of this time.</summary>
    private const double SideMs = 10_000;

    /// <summary>Workers' latencies are of this time before they were asked.</summary>
    private const double LatencyMs = 60_000;

    // Nobody may have looked, and then there is one sample in ten seconds.
    private const double LooksMs = 15_000;

    /// <summary>When a part was planned, and when it was over; null: it is not. What its source notes of its phases comes later than the former, and perhaps than the latter.</summary>
    public static (double From, double? To) Span(MigrationPart part)
    {
        var phases = part.Phases.Select(phase => (double)phase.At.ToUnixTimeMilliseconds()).ToArray();
        var from = phases.Append(part.Created?.ToUnixTimeMilliseconds() ?? double.MaxValue).Min();
        return (from == double.MaxValue ? 0 : from, part.Ended is { } ended ? Math.Max(from, ended.ToUnixTimeMilliseconds()) : null);
    }

    /// <summary>From the first part's plan to the last part's end; null: it is not over. (0, null): nothing is known yet.</summary>
    public static (double From, double? To) Span(MigrationStatus migration)
    {
        var parts = migration.Parts.Select(Span).Where(span => span.From > 0).ToArray();
        if (parts.Length == 0) return (0, null);
        return (parts.Min(span => span.From), parts.Length == migration.Parts.Count && parts.All(span => span.To is not null) ? parts.Max(span => span.To) : null);
    }

    /// <summary>Milliseconds from its plan to its end: as long as its bar; null: it is not over.</summary>
    public static double? Took(MigrationPart part) => Span(part) is var (from, to) ? to - from : null;

    /// <summary>Its bar: what it did from its plan to its end.</summary>
    /// <param name="part">The part.</param>
    /// <param name="nowMs">Where what is not over ends.</param>
    public static IEnumerable<Stretch> Stretches(MigrationPart part, double nowMs)
    {
        var (from, over) = Span(part);
        var to = over ?? Math.Max(from, nowMs);
        var phases = part.Phases.Where(phase => phase.Phase is not ("done" or "cancelled")).Select(phase => (phase.Phase, At: Math.Clamp((double)phase.At.ToUnixTimeMilliseconds(), from, to))).ToList();
        if (phases.Count == 0 || phases[0].At > from) phases.Insert(0, ("planned", from));
        for (var i = 0; i < phases.Count; i++)
        {
            var (phase, at) = phases[i];

            // Planned twice: until its source has seen it, and until it begins.
            if (i > 0 && phase == "planned") continue;
            var next = i + 1;
            while (phase == "planned" && next < phases.Count && phases[next].Phase == "planned") next++;
            var end = next < phases.Count ? Math.Max(at, phases[next].At) : to;
            var css = phase switch { "planned" => "c12", "freezing" => "c7", "draining" => "c2", _ => "c1" };
            yield return new Stretch(at, end, $"fill {css}{(next < phases.Count || over is not null ? "" : " open")}", $"{phase} {Fmt.Ms(end - at)}");
        }
    }

    /// <summary>Throughput and latency before and after, as far as they are known.</summary>
    /// <param name="migration">The migration.</param>
    /// <param name="samples">Of all workers together, oldest first.</param>
    /// <param name="nowMs">The present.</param>
    public static string Effect(MigrationStatus migration, IReadOnlyList<Sample> samples, double nowMs)
    {
        if (Span(migration) is not (var start, { } end) || start == 0) return "";
        var before = $"Before: {Throughput(samples, start - SideMs, start)}{Latency(samples.LastOrDefault(sample => sample.AtMs <= start && sample.AtMs > start - LooksMs))}.";
        if (nowMs < end + SideMs) return $"{before} After: not yet known.";
        var after = $"{before} After: {Throughput(samples, end, end + SideMs)}";

        // Until then the last minute of a worker is in part the time before.
        return nowMs < end + LatencyMs
            ? $"{after}; latency not yet known: workers tell it of a whole minute."
            : $"{after}{Latency(samples.FirstOrDefault(sample => sample.AtMs >= end + LatencyMs && sample.AtMs < end + LatencyMs + LooksMs))}.";
    }

    private static string Throughput(IReadOnlyList<Sample> samples, double from, double to)
    {
        var inside = samples.Where(sample => sample.AtMs > from && sample.AtMs <= to).ToArray();
        return inside.Length == 0 ? "not seen" : $"{Fmt.Number(inside.Average(sample => sample.PactPerSecond + sample.ActPerSecond))} committed/s";
    }

    private static string Latency(Sample? sample) => sample?.Latency?.Pact?.P99Ms is { } p99 ? $", PACT p99 {Fmt.Ms(p99)} in its minute" : "";
}
