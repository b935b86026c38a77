using System.Globalization;
using Snapper.Benchmarks.Reporting;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>One of our sides, and what its throughput ÷ the peer's must be.</summary>
internal sealed record OwnSide(Side Side, Goal? Goal = null);

/// <summary>
/// Several sides of ours against several of a peer, all in one run: the first of ours ÷ the first of the peer's is the
/// number; the notes have the others, and what they cost.
/// </summary>
internal static class PeerComparison
{
    /// <summary>Runs all sides and compares them.</summary>
    public static async Task<BenchmarkResult> RunAsync(
        string name,
        string what,
        BenchmarkContext context,
        IReadOnlyList<OwnSide> ours,
        IReadOnlyList<Side> theirs,
        IReadOnlyDictionary<string, string> facts)
    {
        Side[] all = [.. ours.Select(static own => own.Side), .. theirs];
        foreach (var side in all.Where(static side => side.Shapes.Count == 1))
        {
            // No sweep, so it runs once unmeasured, for the just-in-time compiler.
            await side.RunAsync(side.Shapes[0], context.Plan.SweepTimes, context.Plan.Seed);
        }

        var runs = await SideBySide.RunAsync(all, context.Plan, context.Progress);
        var goals = ours.Select(static own => own.Goal).ToArray();
        return Compare(
            name, what, [.. runs.Take(ours.Count)], goals, [.. runs.Skip(ours.Count)], facts, context.Plan.Seed);
    }

    /// <summary>Settings of both.</summary>
    public static IReadOnlyDictionary<string, string> FactsOf(SnapperSystem snapper) =>
        Facts.Of(snapper).Concat(OrleansSystem.Facts).ToDictionary();

    /// <summary>Compares what was measured.</summary>
    internal static BenchmarkResult Compare(
        string name,
        string what,
        IReadOnlyList<SideRuns> ours,
        IReadOnlyList<Goal?> goals,
        IReadOnlyList<SideRuns> theirs,
        IReadOnlyDictionary<string, string> facts,
        ulong seed)
    {
        SideRuns[] beside = [.. ours.Skip(1), .. theirs.Skip(1)];
        var result = BenchmarkResult.PairedRatio(name, what, goals[0], ours[0], theirs[0], PerSecond, seed, beside);
        var notes = new Dictionary<string, string>(facts);
        for (var i = 0; i < ours.Count; i++)
        {
            Add(notes, ours[i], theirs[0], goals[i], seed);
        }

        foreach (var other in theirs.Skip(1))
        {
            Add(notes, ours[0], other, null, seed);
        }

        return result with { Notes = notes };
    }

    private static void Add(Dictionary<string, string> notes, SideRuns a, SideRuns b, Goal? goal, ulong seed)
    {
        var throughput = BenchmarkResult.PairedRatio("", "", goal, a, b, PerSecond, seed);
        var cpu = BenchmarkResult.PairedRatio("", "", null, a, b, static run => run.CpuPerTransaction, seed);
        var verdict = goal is null ? "" : $"; bar {Text(goal.Bar)}, aim {Text(goal.Aim)}: {throughput.Verdict}";
        notes[$"{a.Name} ÷ {b.Name}"] = throughput.Missing is { } reason
            ? $"no number: {reason}"
            : $"throughput {Ratio(throughput)}, CPU per transaction {Ratio(cpu)}{verdict}";
    }

    private static string Ratio(BenchmarkResult ratio) =>
        $"{Report.Number(ratio.Measured!.Value)} [{Interval(ratio.Interval!.Value)}]";

    private static string Interval(Interval interval) =>
        $"{Report.Number(interval.Low)}–{Report.Number(interval.High)}";

    private static string Text(double number) => number.ToString("0.##", CultureInfo.InvariantCulture);

    private static double PerSecond(RunResult run) => run.PerSecond;
}
