using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Suite;

/// <summary>One named benchmark.</summary>
public interface IBenchmark
{
    /// <summary>Its name on the command line.</summary>
    string Name { get; }

    /// <summary>What its number is.</summary>
    string What { get; }

    /// <summary>Starts what it needs, measures, stops it.</summary>
    Task<BenchmarkResult> RunAsync(BenchmarkContext context);
}

/// <summary>What all benchmarks of one invocation share.</summary>
/// <param name="Options">The command line.</param>
/// <param name="InProcess">Makes the runtime inside this process; null when this build has none.</param>
/// <param name="Progress">Takes one line per run.</param>
public sealed record BenchmarkContext(
    BenchmarkOptions Options, Func<InProcessSettings, IInProcessSystem>? InProcess, Action<string> Progress)
{
    private static readonly TimeSpan SweepMax = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan SweepWarmupMax = TimeSpan.FromSeconds(2);

    /// <summary>Times, repetitions and seed.</summary>
    public RunPlan Plan
    {
        get
        {
            var times = new RunTimes(TimeSpan.FromSeconds(Options.Warmup), TimeSpan.FromSeconds(Options.Duration));
            var sweep = new RunTimes(Min(times.Warmup, SweepWarmupMax), Min(times.Measured, SweepMax));
            return new RunPlan(times, sweep, Options.Repeat, Options.Seed);
        }
    }

    /// <summary>Connections to try, one transaction per request.</summary>
    public IReadOnlyList<LoadShape> Connections => Options.Connections.Select(static count => new LoadShape(count)).ToArray();

    /// <summary>Four accounts of a transfer.</summary>
    /// <param name="zipf">Skew; 0 is uniform.</param>
    public IAccountChooser Transfers(double zipf = 0) => new TransferChooser(new ZipfSampler(Options.Accounts, zipf), 4);

    private static TimeSpan Min(TimeSpan a, TimeSpan b) => a < b ? a : b;
}
