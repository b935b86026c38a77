using Snapper.Benchmarks.Load;

namespace Snapper.Benchmarks.Runs;

/// <summary>Plan of a comparison.</summary>
/// <param name="Times">Of a measured run.</param>
/// <param name="SweepTimes">Of a run that only looks for the best shape.</param>
/// <param name="Repetitions">Measured runs per side.</param>
/// <param name="Seed">Decides all random choices.</param>
public readonly record struct RunPlan(RunTimes Times, RunTimes SweepTimes, int Repetitions, ulong Seed);

/// <summary>Measures sides at their best: first a sweep, then repetitions in A-B-B-A order.</summary>
public static class SideBySide
{
    /// <summary>Compares two sides.</summary>
    public static async Task<(SideRuns A, SideRuns B)> RunAsync(Side a, Side b, RunPlan plan, Action<string> progress)
    {
        var runs = await RunAsync([a, b], plan, progress);
        return (runs[0], runs[1]);
    }

    /// <summary>Compares any number of sides.</summary>
    public static async Task<IReadOnlyList<SideRuns>> RunAsync(
        IReadOnlyList<Side> sides, RunPlan plan, Action<string> progress)
    {
        var sweeps = sides.Select(static _ => new List<SweepRun>()).ToArray();
        for (var i = 0; i < sides.Max(static side => side.Shapes.Count); i++)
        {
            for (var side = 0; side < sides.Count; side++)
            {
                await SweepAsync(sides[side], i, sweeps[side], plan, progress);
            }
        }

        var shapes = sides.Zip(sweeps, Best).ToArray();
        var runs = sides.Select(static _ => new List<RunResult>()).ToArray();
        foreach (var at in AbbaOrder.Of(sides.Count, plan.Repetitions))
        {
            // The n-th runs of all sides draw the same accounts.
            var seed = plan.Seed + (ulong)runs[at].Count;
            runs[at].Add(await OnceAsync(sides[at], shapes[at], plan.Times, seed, progress));
        }

        return [.. sides.Select((side, at) => new SideRuns(side.Name, shapes[at], runs[at], sweeps[at]))];
    }

    /// <summary>Measures one side alone.</summary>
    public static async Task<SideRuns> RunOneAsync(Side side, RunPlan plan, Action<string> progress)
    {
        var sweep = new List<SweepRun>();
        for (var i = 0; i < side.Shapes.Count; i++)
        {
            await SweepAsync(side, i, sweep, plan, progress);
        }

        var shape = Best(side, sweep);
        var runs = new List<RunResult>();
        for (var i = 0; i < plan.Repetitions; i++)
        {
            runs.Add(await OnceAsync(side, shape, plan.Times, plan.Seed + (ulong)i, progress));
        }

        return new SideRuns(side.Name, shape, runs, sweep);
    }

    private static async Task SweepAsync(Side side, int index, List<SweepRun> sweep, RunPlan plan, Action<string> progress)
    {
        // With one shape there is nothing to choose.
        if (index < side.Shapes.Count && side.Shapes.Count > 1)
        {
            sweep.Add(new SweepRun(side.Shapes[index], await OnceAsync(side, side.Shapes[index], plan.SweepTimes, plan.Seed, progress)));
        }
    }

    private static async Task<RunResult> OnceAsync(Side side, LoadShape shape, RunTimes times, ulong seed, Action<string> progress)
    {
        var run = await side.RunAsync(shape, times, seed);
        progress($"  {side.Name} at {shape}: {run.PerSecond:F0}/s, {run.CpuPerTransaction:F0} us CPU{(run.Void is null ? "" : $", VOID: {run.Void}")}");
        return run;
    }

    private static LoadShape Best(Side side, IReadOnlyList<SweepRun> sweep)
    {
        var best = side.Shapes[0];
        var fastest = 0.0;
        foreach (var (shape, run) in sweep)
        {
            if (run.Void is null && run.PerSecond > fastest)
            {
                (best, fastest) = (shape, run.PerSecond);
            }
        }

        return best;
    }
}
