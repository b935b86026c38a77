using NBomber.Contracts;
using NBomber.Contracts.Stats;
using Bound = Snapper.Scenarios.Measures.Threshold;
using MeasureNames = Snapper.Scenarios.Measures.MeasureNames;

namespace Snapper.NBomberHost;

/// <summary>Those of a scenario's thresholds that NBomber's own numbers can tell. The others need times from the intended start, or windows: './snapper load' keeps them.</summary>
internal static class Bounds
{
    /// <summary>NBomber's thresholds for ours; what it cannot tell is left out.</summary>
    public static Threshold[] Of(IEnumerable<Bound> ours) => [.. ours.SelectMany(Of)];

    private static IEnumerable<Threshold> Of(Bound bound)
    {
        var limit = bound.Limit;
        switch (bound.Measure)
        {
            case "p50-ms":
                yield return Threshold.Create(stats => stats.Ok.Latency.Percent50 <= limit);
                break;
            case "p99-ms":
                yield return Threshold.Create(stats => stats.Ok.Latency.Percent99 <= limit);
                break;
            case "max-ms":
                yield return Threshold.Create(stats => stats.Ok.Latency.MaxMs <= limit);
                break;
            case "error-percent":
                yield return Threshold.Create(stats => PercentOf(stats, false) <= limit);
                break;
            case "abort-percent":
                yield return Threshold.Create(stats => PercentOf(stats, true) <= limit);
                break;
            case { } name when name.StartsWith(MeasureNames.AbortPercentOf, StringComparison.Ordinal):
                var code = Answers.Abort + name[MeasureNames.AbortPercentOf.Length..];
                yield return Threshold.Create(stats => PercentOf(stats, code) <= limit);
                break;
            default:
                break;
        }
    }

    /// <summary>Failed requests that are aborts, or that are not, in per cent of all. Counted here: NBomber's own per cents are whole numbers.</summary>
    internal static double PercentOf(ScenarioStats stats, bool aborts) =>
        100.0 * stats.Fail.StatusCodes.Where(status => status.StatusCode.StartsWith(Answers.Abort, StringComparison.Ordinal) == aborts).Sum(static status => status.Count) / Math.Max(1, stats.AllRequestCount);

    internal static double PercentOf(ScenarioStats stats, string code) =>
        100.0 * stats.Fail.StatusCodes.Where(status => status.StatusCode == code).Sum(static status => status.Count) / Math.Max(1, stats.AllRequestCount);
}
