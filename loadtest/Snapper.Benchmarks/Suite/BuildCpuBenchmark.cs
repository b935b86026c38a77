using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// What one worker, or several in one process, spend per transaction, this tree's build ÷ an older commit's. Each build is a process of its own with a Redis of its own, both live
/// for the whole benchmark and take turns; the same driver sources are built against both.
/// </summary>
public sealed class BuildCpuBenchmark(string name, string label, double pactShare, int workers) : IBenchmark
{
    /// <summary>Fewer pairs say too little about a ratio near one.</summary>
    internal const int PairsMin = 10;

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => $"CPU per {label} {(workers == 1 ? "of one worker" : $"over {workers} workers in process")}, this tree ÷ commit --old, Redis and driver included, at least {PairsMin} pairs";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var root = ServerTools.RepositoryRoot();
        context.Progress($"  building commit {context.Options.Old} and this tree");
        await using var old = await OldBuild.CheckOutAsync(root, context.Options.Old);
        var (oldProgram, isItsOwn) = await old.BuildAsync();
        if (isItsOwn) context.Progress($"  this tree's driver needs more than the runtime of {context.Options.Old} has: it is driven by its own");
        var newProgram = await OldBuild.BuildDriverAsync(root);
        await using var before = await DriverProcess.StartAsync("the driver of the old build", oldProgram, context.Options.Accounts, workers);
        await using var after = await DriverProcess.StartAsync("the driver of this build", newProgram, context.Options.Accounts, workers);
        var a = new Turns(context, after, $"{label}, this tree", pactShare);
        var b = new Turns(context, before, $"{label}, {context.Options.Old}", pactShare);

        // Unmeasured, for the just-in-time compiler.
        await a.WarmUpAsync();
        await b.WarmUpAsync();
        foreach (var isB in AbbaOrder.Of(Math.Max(PairsMin, context.Options.Repeat)))
        {
            await (isB ? b : a).RunAsync();
        }

        return BenchmarkResult.PairedRatio(
            Name, What, new Goal(1.08, 1, false) { WholeInterval = true }, a.Runs, b.Runs, static run => run.CpuPerTransaction, context.Plan.Seed);
    }

    private sealed class Turns(BenchmarkContext context, DriverProcess driver, string side, double share)
    {
        private readonly List<RunResult> _runs = [];
        private readonly LoadShape _shape = new(context.Options.Pipelines.Max());

        public SideRuns Runs => new(side, _shape, _runs, []);

        public Task WarmUpAsync() => driver.RunAsync(share, _shape.Pipelines, context.Plan.Times.Warmup, context.Plan.Times.Measured, context.Plan.Seed);

        public async Task RunAsync()
        {
            var times = context.Plan.Times;
            var run = await driver.RunAsync(share, _shape.Pipelines, times.Warmup, times.Measured, context.Plan.Seed + (ulong)_runs.Count);
            _runs.Add(run);
            context.Progress($"  {side} at {_shape}: {run.PerSecond:F0}/s, {run.CpuPerTransaction:F1} us CPU{(run.Void is null ? "" : $", VOID: {run.Void}")}");
        }
    }
}
