using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>Sides of Orleans: loads in the first silo's process, and over HTTP.</summary>
internal sealed class OrleansSides(BenchmarkContext context, OrleansSystem system)
{
    // With few loops there are fewer conflicts.
    private static readonly LoadShape[] s_few = [new(16)];

    private static readonly OrleansWork[] s_lists = [OrleansWork.SortedLists, OrleansWork.AppendsFirst];

    private int _turn;
    private int _runs;

    /// <summary>A load from within the first silo, in the ways that are compared, the best one first.</summary>
    public IEnumerable<Side> Of(OrleansLoad load) => load.Zipf is { } zipf
        ? load.Transfers.Select(way => InSilo(way, load.Stalls(way) ? s_few : Loops(), zipf))
        : s_lists.Select(way => InSilo(way, [new LoadShape(HotList.Clients)], 0));

    /// <summary>The same over HTTP, one transaction for each request, at all silos in turn.</summary>
    public IEnumerable<Side> OverHttp(OrleansLoad load) => load.Zipf is { } zipf
        ? load.Transfers.Select(way => Transfers(way, load.Stalls(way) ? s_few : context.Connections, zipf))
        : s_lists.Select(Lists);

    private static string OverHttp(OrleansWork way) => OrleansLoad.NameOf(way) + ", over HTTP";

    private IReadOnlyList<LoadShape> Loops() =>
        [.. s_few, .. context.Options.Pipelines.Select(static loops => new LoadShape(loops))];

    private Side Transfers(OrleansWork way, IReadOnlyList<LoadShape> shapes, double zipf) => new(
        OverHttp(way),
        shapes,
        (_, seed) => new HttpPipeline(OrleansSystem.MultiTransfer(way, context.Transfers(zipf), NextDoor()), seed),
        system.Processes)
    {
        AbortsAllowed = true,
        Check = async () => Balances.Judge(
            await system.SumAsync(way == OrleansWork.Plain, context.Options.Accounts), context.Options.Accounts),
    };

    private Side Lists(OrleansWork way)
    {
        var path = OrleansDoor.PathOf(way);
        return ListSide.Of(
            OverHttp(way),
            new LoadShape(HotList.Clients),
            () => $"h{++_runs}",
            (run, seed) => HttpLists.Loop(run, DoorOf(NextDoor()), seed),
            key => OrleansSystem.ListAsync(system.Doors[0], key),
            system.Processes) with { AbortsAllowed = true };

        HttpListDoor DoorOf(Uri silo) => new(_ => silo, path, ListRequests.WriteInput);
    }

    private Side InSilo(OrleansWork work, IReadOnlyList<LoadShape> shapes, double zipf) => new(
        OrleansLoad.NameOf(work),
        shapes,
        static (_, _) => throw new NotSupportedException("Its loops are in the silo."),
        system.Processes)
    {
        AbortsAllowed = true,
        Elsewhere = (shape, times, seed) => system.RunAsync(new OrleansRun(
            work, context.Options.Accounts, zipf, shape.Pipelines, times.Warmup.TotalSeconds,
            times.Measured.TotalSeconds, seed, [])),
    };

    private Uri NextDoor() => system.Doors[_turn++ % system.Doors.Count];
}
