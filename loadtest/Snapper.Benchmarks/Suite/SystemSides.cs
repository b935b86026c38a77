using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;
using Snapper.Protocol.Identity;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// Our sides over HTTP: workers as users start them, with a sidecar each. Requests go to the worker that owns the root,
/// as from a client that remembers where answers came from.
/// </summary>
internal sealed class SystemSides : IDisposable
{
    // Fewer connections than with single transactions: each carries a whole batch.
    private static readonly int[] s_batchConnections = [4, 8];

    private readonly BenchmarkContext _context;
    private readonly SnapperSystem _system;
    private readonly SnapperReads _reads;
    private readonly int[] _owners;
    private readonly int[] _partitions;
    private int _turn;
    private int _runs;

    private SystemSides(BenchmarkContext context, SnapperSystem system, int[] owners, int[] partitions)
    {
        _context = context;
        _system = system;
        _owners = owners;
        _partitions = partitions;
        _reads = new SnapperReads(system.Worker);
    }

    /// <summary>Learns who owns what.</summary>
    public static async Task<SystemSides> OfAsync(BenchmarkContext context, SnapperSystem system)
    {
        if (system.Workers.Count == 1)
        {
            return new SystemSides(context, system, [], []);
        }

        using var client = new ClusterClient(system.Worker);
        return new SystemSides(
            context,
            system,
            await client.OwnersAsync(context.Options.Accounts, system.Workers),
            await client.PartitionsAsync(system.Workers));
    }

    /// <summary>Transfers as PACTs at the workers' own doors, one for each request.</summary>
    public Side Transfers(double zipf) => OfTransfers(
        "Snapper PACT, direct door", _context.Connections, zipf,
        (_, chooser, worker) => SnapperSystem.DirectMultiTransfer(chooser, worker.Url));

    /// <summary>The same, many for each request.</summary>
    public Side Batched(double zipf) => OfTransfers(
        "Snapper PACT, direct door, batched",
        [.. from count in s_batchConnections from batch in _context.Options.Batches select new LoadShape(count, batch)],
        zipf,
        (shape, chooser, worker) => SnapperSystem.DirectBatchedMultiTransfer(chooser, worker.Url, shape.Batch, act: false));

    /// <summary>Transfers as PACTs through the sidecars, one for each request.</summary>
    public Side ThroughSidecars(double zipf) => OfTransfers(
        "Snapper PACT, through daprd", _context.Connections, zipf,
        (_, chooser, worker) => SnapperSystem.MultiTransfer(chooser, worker.Sidecar));

    /// <summary>Hot lists at the workers' own doors.</summary>
    public Side Lists(ListMix mix) => OfLists(
        $"Snapper {mix.Name}, direct door", mix, SnapperSystem.TransactionsPath, static worker => worker.Url);

    /// <summary>Hot lists through the sidecars.</summary>
    public Side ListsThroughSidecars(ListMix mix) => OfLists(
        $"Snapper {mix.Name}, through daprd", mix, SnapperSystem.InvokePath, static worker => worker.Sidecar);

    /// <inheritdoc />
    public void Dispose() => _reads.Dispose();

    private Side OfTransfers(
        string name,
        IReadOnlyList<LoadShape> shapes,
        double zipf,
        Func<LoadShape, IAccountChooser, ReadyWorker, HttpWorkload> workload)
    {
        var all = _context.Transfers(zipf);
        var choosers = _system.Workers
            .Select((_, at) => _owners.Length == 0 ? all : new RootedChooser(all, _owners, at + 1)).ToArray();
        var accounts = _context.Options.Accounts;
        return new Side(name, shapes, Next, _system.Processes)
        {
            Check = async () => Balances.Judge(await _reads.SumAsync(accounts), accounts),
        };

        IPipeline Next(LoadShape shape, ulong seed)
        {
            var at = _turn++ % choosers.Length;
            return new HttpPipeline(workload(shape, choosers[at], _system.Workers[at]), seed);
        }
    }

    private Side OfLists(string name, ListMix mix, string path, Func<ReadyWorker, Uri> address)
    {
        var door = new HttpListDoor(
            transaction => address(OwnerOf(transaction)),
            path,
            (json, transaction) => ListRequests.Write(json, transaction, mix.Next()));
        return ListSide.Of(
            name,
            new LoadShape(HotList.Clients),
            () => $"h{++_runs}",
            (run, seed) => HttpLists.Loop(run, door, seed),
            _reads.ListAsync,
            _system.Processes) with { AbortsAllowed = mix.HasActs };
    }

    private ReadyWorker OwnerOf(ListTransaction transaction) => _partitions.Length == 0
        ? _system.Workers[0]
        : _system.Workers[_partitions[Partition.Of(ListRequests.RootOf(transaction)).Number] - 1];
}
