using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Runs;

/// <summary>How hard a side is driven.</summary>
/// <param name="Pipelines">Closed loops (connections).</param>
/// <param name="Batch">Transactions per request.</param>
public readonly record struct LoadShape(int Pipelines, int Batch = 1)
{
    /// <inheritdoc />
    public override string ToString() => Batch == 1 ? $"{Pipelines}" : $"{Pipelines}×{Batch}";
}

/// <summary>One side of a comparison: a system under one workload.</summary>
/// <param name="Name">What the tables call it.</param>
/// <param name="Shapes">Shapes to try; the fastest is measured.</param>
/// <param name="Pipeline">Makes the pipeline of one closed loop from a shape and a seed.</param>
/// <param name="Processes">Processes besides this one whose CPU time counts.</param>
public sealed record Side(
    string Name, IReadOnlyList<LoadShape> Shapes, Func<LoadShape, ulong, IPipeline> Pipeline, IReadOnlyList<MeasuredProcess> Processes)
{
    /// <summary>What this process is in the CPU table.</summary>
    public string OwnRole { get; init; } = CpuMeter.Generator;

    /// <summary>False: an abort makes the run void.</summary>
    public bool AbortsAllowed { get; init; }

    /// <summary>Runs it in another process, which checks it, too; null: by loops of this process.</summary>
    public Func<LoadShape, RunTimes, ulong, Task<RunResult>>? Elsewhere { get; init; }

    /// <summary>Looks at what a run has left behind, and says what is wrong; null: it is not looked at.</summary>
    public Func<Task<string?>>? Check { get; init; }

    /// <summary>Runs it once.</summary>
    public async Task<RunResult> RunAsync(LoadShape shape, RunTimes times, ulong seed)
    {
        if (Elsewhere is not null)
        {
            return await JudgeAsync(await Elsewhere(shape, times, seed));
        }

        var random = new FastRandom(seed);
        var pipelines = new IPipeline[shape.Pipelines];
        for (var i = 0; i < pipelines.Length; i++)
        {
            pipelines[i] = Pipeline(shape, random.NextBits());
        }

        var result = await ClosedLoop.RunAsync(pipelines, times, Processes, OwnRole);
        return await JudgeAsync(result);
    }

    private async Task<RunResult> JudgeAsync(RunResult result)
    {
        var judged = AbortsAllowed ? result : result.WithoutAborts();
        return judged.Void is null && Check is not null ? judged with { Void = await Check() } : judged;
    }
}

/// <summary>A short run that looked for the best shape.</summary>
public sealed record SweepRun(LoadShape Shape, RunResult Run);

/// <summary>The runs of one side.</summary>
public sealed record SideRuns(string Name, LoadShape Shape, IReadOnlyList<RunResult> Runs, IReadOnlyList<SweepRun> Sweep)
{
    /// <summary>Why the side is worth nothing; null when every run is valid.</summary>
    public string? Void => Runs.FirstOrDefault(static run => run.Void is not null)?.Void;

    /// <summary>One number of every run.</summary>
    public double[] Values(Func<RunResult, double> metric) => Runs.Select(metric).ToArray();

    /// <summary>Median and range of one number.</summary>
    public Summary Summary(Func<RunResult, double> metric) => Statistics.Summary.Of(Values(metric));
}
