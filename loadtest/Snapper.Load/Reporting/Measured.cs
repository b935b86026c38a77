using Snapper.Runtime.Inspection;
using Snapper.Benchmarks.Statistics;
using Snapper.Load.Running;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Measures;

namespace Snapper.Load.Reporting;

/// <summary>The numbers of a run, from what was counted.</summary>
internal static class Measured
{
    private static readonly double[] s_percentiles = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100];

    /// <summary>All measures by name, see <see cref="MeasureNames"/>.</summary>
    public static Dictionary<string, double> All(Recorder recorder, RunLog log, TimeSpan length, IReadOnlyDictionary<string, double> ofChange)
    {
        var latency = recorder.Latency;
        var arrivals = Math.Max(1, recorder.Arrivals);
        var measures = new Dictionary<string, double>(StringComparer.Ordinal)
        {
            ["p50-ms"] = Ms(latency, 50),
            ["p90-ms"] = Ms(latency, 90),
            ["p99-ms"] = Ms(latency, 99),
            ["p99.9-ms"] = Ms(latency, 99.9),
            ["p99.99-ms"] = Ms(latency, 99.99),
            ["max-ms"] = latency.Max / 1000.0,
            ["committed-per-second"] = recorder.Committed / length.TotalSeconds,
            ["error-percent"] = 100.0 * recorder.Errors / arrivals,
            ["abort-percent"] = 100.0 * recorder.SystemAborts / arrivals,
            ["arrival-error-p99-ms"] = Ms(recorder.ArrivalError, 99),
        };
        foreach (var (label, count) in recorder.Outcomes)
        {
            if (label.StartsWith(Ending.Aborted, StringComparison.Ordinal))
            {
                measures[MeasureNames.AbortPercentOf + label[Ending.Aborted.Length..]] = 100.0 * count / arrivals;
            }
        }

        AddChange(measures, recorder, log);
        foreach (var (name, value) in ofChange)
        {
            measures[name] = value;
        }

        return measures;
    }

    public static IReadOnlyList<LatencyPoint> Curve(LatencyHistogram latency) => [.. s_percentiles.Select(percentile => new LatencyPoint(percentile, Ms(latency, percentile)))];

    public static IReadOnlyList<CoursePoint> Points(Course course)
    {
        var points = new List<CoursePoint>();
        for (var i = 0; i < course.Latency.Count; i++)
        {
            // Counts come in steps; a stretch is measured over the whole steps next to it.
            var from = Math.Round(i * course.Stretch / Running.Course.Step) * Running.Course.Step;
            var to = Math.Round(Math.Min((i + 1) * course.Stretch, course.Length) / Running.Course.Step) * Running.Course.Step;
            var seconds = to - from;
            if (seconds < Running.Course.Step / 2)
            {
                continue;
            }

            double PerSecond(EndingKind kind) => Math.Round(course.Ended(kind, from, to) / seconds, 2);
            var latency = course.Latency[i];
            points.Add(new CoursePoint(
                Math.Round((from + to) / 2, 3), Math.Round(course.Arrived(from, to) / seconds, 2), PerSecond(EndingKind.Committed), PerSecond(EndingKind.SystemAbort),
                PerSecond(EndingKind.ApplicationAbort), PerSecond(EndingKind.Error),
                latency.Count == 0 ? null : Ms(latency, 50), latency.Count == 0 ? null : Ms(latency, 99), latency.Count == 0 ? null : Ms(latency, 99.9), latency.Count == 0 ? null : latency.Max / 1000.0));
        }

        return points;
    }

    public static IReadOnlyList<WindowReport> Windows(Recorder recorder)
    {
        var windows = new List<WindowReport>();
        foreach (var window in Enum.GetValues<Window>())
        {
            var counts = recorder[window];
            if (counts.Arrivals > 0)
            {
                windows.Add(new WindowReport(
                    window.ToString().ToLowerInvariant(), counts.Arrivals, Ms(counts.Latency, 50), Ms(counts.Latency, 99), Ms(counts.Latency, 99.9), counts.Latency.Max / 1000.0, counts.SystemAborts));
            }
        }

        return windows;
    }

    public static double Ms(LatencyHistogram histogram, double percentile) => histogram.Percentile(percentile) / 1000.0;

    private static void AddChange(Dictionary<string, double> measures, Recorder recorder, RunLog log)
    {
        if (log.Bands.Count == 0)
        {
            return;
        }

        var during = recorder[Window.During];
        if (Dip(recorder.Course, log.Bands) is { } dip)
        {
            measures["dip-percent"] = dip;
        }

        if (during.Arrivals == 0)
        {
            return; // nobody was there to notice: bounds on it are not kept, they are not measured
        }

        measures["change-p99-ms"] = Ms(during.Latency, 99);
        measures["change-abort-percent"] = 100.0 * during.SystemAborts / Math.Max(1, during.Arrivals);
        var waits = recorder.LongestWaits();
        if (waits.Length > 0)
        {
            Array.Sort(waits);
            measures["pause-p99-ms"] = waits[(int)Math.Ceiling(0.99 * waits.Length) - 1] / 1000.0;
        }
    }

    /// <summary>The least that a second which a change touches commits, below a second of the time before the first change, in per cent; 0: not below. Null: there is no such second, or none to compare with.</summary>
    internal static double? Dip(Course course, IReadOnlyList<Band> bands)
    {
        const double second = 1;
        var before = Math.Min(bands[0].FromSeconds, course.Length);
        var whole = Math.Floor(before / Course.Step) * Course.Step;
        if (whole < second)
        {
            return null;
        }

        var usual = course.Ended(EndingKind.Committed, 0, whole) / whole;
        var least = double.MaxValue;
        foreach (var band in bands)
        {
            // Seconds that lie wholly in the measured time; a load that ends is no dip.
            for (var from = Math.Floor((band.FromSeconds - second) / Course.Step) * Course.Step; from < band.ToSeconds; from += Course.Step)
            {
                if (from >= 0 && from + second <= course.Length)
                {
                    least = Math.Min(least, course.Ended(EndingKind.Committed, from, from + second));
                }
            }
        }

        return usual <= 0 || least == double.MaxValue ? null : Math.Max(0, 100 * (1 - (least / usual)));
    }
}
