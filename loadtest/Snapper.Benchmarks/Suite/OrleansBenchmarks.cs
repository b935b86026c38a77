using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.OnMemory;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>What is compared with Orleans.</summary>
/// <param name="Name">Begins the names of its benchmarks.</param>
/// <param name="What">In words.</param>
/// <param name="Zipf">Skew of the accounts; null: hot lists.</param>
public sealed record OrleansLoad(string Name, string What, double? Zipf)
{
    /// <summary>Few conflicts.</summary>
    public static OrleansLoad Uniform { get; } =
        new("orleans-uniform", "transfers over 4 accounts, uniform", 0);

    /// <summary>Conflicts.</summary>
    public static OrleansLoad Zipf09 { get; } =
        new("orleans-zipf", "transfers over 4 accounts, zipf 0.9", 0.9);

    /// <summary>Little but conflicts.</summary>
    public static OrleansLoad Lists { get; } =
        new("orleans-hot-lists", "12 hot lists, 1 to 5 operations, 16 clients", null);

    // Where deposits at the same time seldom meet they are the faster way; else they wait in rings for each other.
    internal OrleansWork[] Transfers => Zipf == 0
        ? [OrleansWork.Parallel, OrleansWork.Sorted, OrleansWork.Plain]
        : [OrleansWork.Sorted, OrleansWork.Parallel];

    // Rings of waits end by the default timeout of a lock, 10 s: more loops only make more of them.
    internal bool Stalls(OrleansWork way) => way == OrleansWork.Parallel && Zipf > 0;

    internal static string NameOf(OrleansWork work) => work switch
    {
        OrleansWork.Plain => "Orleans, plain grains",
        OrleansWork.Parallel => "Orleans Transactions, parallel",
        OrleansWork.Sorted => "Orleans Transactions, sorted",
        OrleansWork.SortedLists => "Orleans Transactions, sorted",
        OrleansWork.AppendsFirst => "Orleans Transactions, sorted, appends first",
        _ => throw new ArgumentOutOfRangeException(nameof(work), work, "It is not compared."),
    };
}

/// <summary>A worker in this process against a silo with the load in its own.</summary>
public sealed class OrleansInProcessBenchmark(OrleansLoad load, Goal? goal) : IBenchmark
{
    /// <inheritdoc />
    public string Name => load.Name;

    /// <inheritdoc />
    public string What => $"{load.What}: PACTs of one worker, in process ÷ Orleans Transactions, one silo, in process";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        try
        {
            await using var durable = new SnapperInProcess(new InProcessSettings(context.Options.Accounts, folder));
            await durable.StartAsync(CancellationToken.None);
            await using var memory = await SnapperOnMemory.StartAsync();
            await using var orleans = await OrleansSystem.StartAsync(1);
            DoorSides[] doors =
            [
                new(context, durable.Door, "flushed log", durable.Processes),
                new(context, memory.Door, "log in memory", []),
            ];
            var theirs = new OrleansSides(context, orleans);
            var facts = durable.Facts.Concat(OrleansSystem.Facts).ToDictionary();
            var ours = doors.SelectMany(Ours).Select((side, at) => new OwnSide(side, at == 0 ? goal : null));
            return await PeerComparison.RunAsync(Name, What, context, [.. ours], [.. theirs.Of(load)], facts);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private IEnumerable<Side> Ours(DoorSides door) => load.Zipf is { } zipf
        ? [door.Transfers(TransactionKind.Pact, zipf), door.Transfers(TransactionKind.Act, zipf)]
        : [door.Lists(ListMix.Pacts), door.Lists(ListMix.Acts), door.Lists(ListMix.Mixed)];
}

/// <summary>One worker of <c>./snapper up</c> against a silo, both over HTTP.</summary>
public sealed class OrleansHttpBenchmark(OrleansLoad load) : IBenchmark
{
    /// <inheritdoc />
    public string Name => load.Name + "-http";

    /// <inheritdoc />
    public string What =>
        $"{load.What}: PACTs at the direct door ÷ Orleans Transactions, one silo, each one request of HTTP";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var snapper = await SnapperSystem.StartAsync();
        await using var orleans = await OrleansSystem.StartAsync(1);
        using var ours = await SystemSides.OfAsync(context, snapper);
        return await PeerComparison.RunAsync(
            Name, What, context, [.. Ours(ours).Select(static side => new OwnSide(side))],
            [.. new OrleansSides(context, orleans).OverHttp(load)], PeerComparison.FactsOf(snapper));
    }

    private IEnumerable<Side> Ours(SystemSides sides) => load.Zipf is { } zipf
        ? [sides.Transfers(zipf), sides.Batched(zipf), sides.ThroughSidecars(zipf)]
        : [sides.Lists(ListMix.Pacts), sides.Lists(ListMix.Acts), sides.Lists(ListMix.Mixed),
            sides.ListsThroughSidecars(ListMix.Pacts)];
}

/// <summary>Two workers of <c>./snapper up</c> against two silos, each a process of its own.</summary>
/// <param name="load">What is compared.</param>
/// <param name="goals">Of our sides, in their order.</param>
public sealed class OrleansTwoBenchmark(OrleansLoad load, params Goal[] goals) : IBenchmark
{
    private const int Two = 2;

    /// <inheritdoc />
    public string Name => load.Name + "-two";

    /// <inheritdoc />
    public string What => load.Zipf is null
        ? $"{load.What}: PACTs of 2 workers at their direct doors ÷ Orleans Transactions, 2 silos, in process"
        : $"{load.What}: PACTs of 2 workers, batched at their direct doors ÷ Orleans Transactions, 2 silos, in process";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var snapper = await SnapperSystem.StartAsync(Two);
        await using var orleans = await OrleansSystem.StartAsync(Two);
        using var client = new ClusterClient(snapper.Worker);
        var before = await client.WorkersAsync();
        using var ours = await SystemSides.OfAsync(context, snapper);
        var theirs = new OrleansSides(context, orleans);
        var result = await PeerComparison.RunAsync(
            Name, What, context, [.. Ours(ours).Select((side, at) => new OwnSide(side, goals.ElementAtOrDefault(at)))],
            [.. theirs.Of(load), .. theirs.OverHttp(load).Take(1)], PeerComparison.FactsOf(snapper));
        return ClusterWatch.Judge(result, ClusterWatch.TakenOver(before, await client.WorkersAsync()));
    }

    private IEnumerable<Side> Ours(SystemSides sides) => load.Zipf is { } zipf
        ? [sides.Batched(zipf), sides.Transfers(zipf), sides.ThroughSidecars(zipf)]
        : [sides.Lists(ListMix.Pacts), sides.Lists(ListMix.Acts), sides.Lists(ListMix.Mixed)];
}
