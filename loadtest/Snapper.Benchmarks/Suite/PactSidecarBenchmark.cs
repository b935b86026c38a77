using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>PACTs, one per request, through the sidecar, against plain actors behind theirs.</summary>
public sealed class PactSidecarBenchmark : IBenchmark
{
    /// <inheritdoc />
    public string Name => "pact-sidecar";

    /// <inheritdoc />
    public string What => "PACT through the sidecar, one transaction per request ÷ NonTxn-Dapr (throughput)";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var baseline = await BaselineSystem.StartAsync();
        await using var snapper = await SnapperSystem.StartAsync();
        var ours = new Side(
            "Snapper PACT", context.Connections, (_, seed) => new HttpPipeline(snapper.MultiTransfer(context.Transfers()), seed), snapper.Processes);
        var (a, b) = await SideBySide.RunAsync(ours, BaselineSides.MultiTransfer(context, baseline), context.Plan, context.Progress);
        return BenchmarkResult.Ratio(Name, What, new Goal(2, 3, true), a, b, static run => run.PerSecond, context.Plan.Seed) with
        {
            Notes = Facts.Of(snapper, baseline),
        };
    }
}

/// <summary>PACTs, many per request as the client library sends them, against plain actors.</summary>
public sealed class PactBatchedBenchmark : IBenchmark
{
    // Fewer connections than with single transactions: each carries a whole batch.
    private static readonly int[] ConnectionCounts = [4, 8];

    /// <inheritdoc />
    public string Name => "pact-batched";

    /// <inheritdoc />
    public string What => "PACT through the sidecar, batched requests ÷ NonTxn-Dapr (throughput)";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var baseline = await BaselineSystem.StartAsync();
        await using var snapper = await SnapperSystem.StartAsync();
        var shapes = ConnectionCounts.SelectMany(count => context.Options.Batches.Select(batch => new LoadShape(count, batch))).ToArray();
        var ours = new Side(
            "Snapper PACT, batched",
            shapes,
            (shape, seed) => new HttpPipeline(snapper.BatchedMultiTransfer(context.Transfers(), shape.Batch), seed),
            snapper.Processes);
        var (a, b) = await SideBySide.RunAsync(ours, BaselineSides.MultiTransfer(context, baseline), context.Plan, context.Progress);
        return BenchmarkResult.Ratio(Name, What, new Goal(6, 10, true), a, b, static run => run.PerSecond, context.Plan.Seed) with
        {
            Notes = Facts.Of(snapper, baseline),
        };
    }
}

/// <summary>The sides that several benchmarks compare with.</summary>
internal static class BaselineSides
{
    public static Side MultiTransfer(BenchmarkContext context, BaselineSystem system) => new(
        BaselineSystem.SystemName + " MultiTransfer",
        context.Connections,
        (_, seed) => new HttpPipeline(system.MultiTransfer(context.Transfers()), seed),
        system.Processes);

    public static Side Noop(BenchmarkContext context, BaselineSystem system) => new(
        "no-op actor call",
        context.Connections,
        (_, seed) => new HttpPipeline(system.Noop(context.Transfers()), seed),
        system.Processes);
}

/// <summary>Settings of several systems in one list.</summary>
internal static class Facts
{
    public static IReadOnlyDictionary<string, string> Of(params ISystemUnderTest[] systems) => systems
        .SelectMany(static system => system.Facts.Select(fact => (Key: $"{system.Name}: {fact.Key}", fact.Value)))
        .ToDictionary(static fact => fact.Key, static fact => fact.Value);
}
