using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>Base of the benchmarks that drive the runtime inside this process.</summary>
public abstract class InProcessBenchmark : IBenchmark
{
    /// <inheritdoc />
    public abstract string Name { get; }

    /// <inheritdoc />
    public abstract string What { get; }

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        if (context.InProcess is null)
        {
            return new BenchmarkResult { Name = Name, What = What, Missing = "this build has no in-process system" };
        }

        var folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        try
        {
            await using var system = context.InProcess(new InProcessSettings(context.Options.Accounts, folder));
            await system.StartAsync(CancellationToken.None);
            var result = await MeasureAsync(context, system);
            var notes = system.Facts.Concat(result.Notes).ToDictionary(static note => note.Key, static note => note.Value);
            return result with { Notes = notes };
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>Measures the started system.</summary>
    protected abstract Task<BenchmarkResult> MeasureAsync(BenchmarkContext context, IInProcessSystem system);

    /// <summary>A workload on the system.</summary>
    protected static Side SideOf(BenchmarkContext context, IInProcessSystem system, string name, Mix mix, double zipf)
    {
        var chooser = context.Transfers(zipf);
        return new Side(
            name,
            context.Options.Pipelines.Select(static count => new LoadShape(count)).ToArray(),
            (_, seed) => new InProcessPipeline(system, chooser, mix, seed),
            system.Processes)
        {
            OwnRole = "runtime and driver",

            // ACTs may conflict; a PACT never aborts for another's sake, and here nothing else can abort it.
            AbortsAllowed = mix is { NonTransactional: false, PactShare: < 1 },
        };
    }
}

/// <summary>CPU per transaction ÷ CPU of one no-op actor call through a sidecar.</summary>
public sealed class InProcessCpuBenchmark(string name, string label, Mix mix, Goal goal) : InProcessBenchmark
{
    /// <inheritdoc />
    public override string Name => name;

    /// <inheritdoc />
    public override string What => $"CPU per {label} in process, Redis included ÷ CPU of one no-op actor call through the sidecar";

    /// <inheritdoc />
    protected override async Task<BenchmarkResult> MeasureAsync(BenchmarkContext context, IInProcessSystem system)
    {
        await using var baseline = await BaselineSystem.StartAsync();
        var ours = SideOf(context, system, $"{label} in process", mix, 0);
        var (a, b) = await SideBySide.RunAsync(ours, BaselineSides.Noop(context, baseline), context.Plan, context.Progress);
        var plain = await SideBySide.RunOneAsync(SideOf(context, system, "NonTxn-local", Mix.NonTxn, 0), context.Plan, context.Progress);
        return BenchmarkResult.Ratio(Name, What, goal, a, b, static run => run.CpuPerTransaction, context.Plan.Seed, plain) with { Notes = Facts.Of(baseline) };
    }
}

/// <summary>One workload of the system ÷ another of the same system.</summary>
public sealed class InProcessRatioBenchmark(
    string name, string what, (string Name, Mix Mix, double Zipf) upper, (string Name, Mix Mix, double Zipf) lower, Func<RunResult, double> metric, Goal goal)
    : InProcessBenchmark
{
    /// <inheritdoc />
    public override string Name => name;

    /// <inheritdoc />
    public override string What => what;

    /// <inheritdoc />
    protected override async Task<BenchmarkResult> MeasureAsync(BenchmarkContext context, IInProcessSystem system)
    {
        var (a, b) = await SideBySide.RunAsync(
            SideOf(context, system, upper.Name, upper.Mix, upper.Zipf), SideOf(context, system, lower.Name, lower.Mix, lower.Zipf), context.Plan, context.Progress);
        return BenchmarkResult.Ratio(Name, What, goal, a, b, metric, context.Plan.Seed);
    }
}

/// <summary>The share of ACT attempts that abort.</summary>
public sealed class ActAbortsBenchmark : InProcessBenchmark
{
    /// <inheritdoc />
    public override string Name => "act-aborts";

    /// <inheritdoc />
    public override string What => "ACT attempts aborted at 50 % PACT, zipf 0.9, in process";

    /// <inheritdoc />
    protected override async Task<BenchmarkResult> MeasureAsync(BenchmarkContext context, IInProcessSystem system)
    {
        var side = await SideBySide.RunOneAsync(SideOf(context, system, "50 % PACT, zipf 0.9", new Mix(0.5), 0.9), context.Plan, context.Progress);
        return NoopBenchmark.Alone(side, static run => run.ActAbortShare * 100, "%", context) with { Name = Name, What = What, Goal = new Goal(30, 15, false) };
    }
}
