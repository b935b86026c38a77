using System.Globalization;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Systems;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Inspection;
using Snapper.Storage.Redis;
using Snapper.Storage.States;

namespace Snapper.Benchmarks.InProcess;

/// <summary>The real runtime in this process, with a real Redis beside it (<c>appendonly yes</c>, <c>appendfsync always</c>).</summary>
public sealed class SnapperInProcess(InProcessSettings settings) : IInProcessSystem
{
    private readonly ActorKey[] _keys = TransferRequests.Keys(settings.Accounts);
    private LocalActors? _plain;
    private RedisServer? _redis;
    private RedisConnections? _connections;
    private RedisTransactionLog? _log;
    private RedisStateStore? _store;
    private WorkerHost? _worker;

    /// <inheritdoc/>
    public string Name => "Snapper in process";

    /// <summary>Hears of its transactions; null: nobody does.</summary>
    public ITransactionObserver? Observer { get; init; }

    /// <summary>What can be seen of the worker.</summary>
    public IWorkerInspection Inspection => _worker!.Inspection;

    /// <summary>Takes any request.</summary>
    public ITransactionService Door => _worker!.Door;

    /// <inheritdoc/>
    public IReadOnlyList<MeasuredProcess> Processes => [new MeasuredProcess("redis", _redis!.Id)];

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string> Facts { get; private set; } = new Dictionary<string, string>();

    /// <inheritdoc/>
    public async Task StartAsync(CancellationToken cancellation)
    {
        _redis = await RedisServer.StartAsync(settings.DataFolder);
        _connections = await _redis.ConnectAsync();
        _log = new RedisTransactionLog(_connections, "w1");
        _store = new RedisStateStore(_log, TimeProvider.System, new StateStoreOptions());
        var options = OptionsFromEnvironment();
        _worker = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = options,
                ActorTypes = [.. SnapperAppsSmallBankActors.All, .. SnapperAppsListAppendActors.All],
                Log = _log,
                Store = _store,
                Observer = Observer,
            },
            cancellation);
        _plain = new LocalActors(options.Executors, SnapperAppsSmallBankActors.All[0]);
        Facts = new Dictionary<string, string>
        {
            ["executors"] = options.Executors.ToString(CultureInfo.InvariantCulture),
            ["redis"] = RedisServer.Durability,
        };
    }

    /// <inheritdoc/>
    public async ValueTask<TransactionEnd> RunAsync(TransactionKind kind, Transfer transfer)
    {
        if (kind == TransactionKind.NonTransactional)
        {
            await _plain!.MultiTransfer(AccountIds.Of(transfer.Root), [AccountIds.Of(transfer.To1), AccountIds.Of(transfer.To2), AccountIds.Of(transfer.To3)]);
            return new TransactionEnd(true, 1, null);
        }

        return TransferRequests.EndOf(await _worker!.Door.Submit(TransferRequests.Of(_keys, kind, transfer), CancellationToken.None));
    }

    /// <inheritdoc/>
    public async ValueTask<TransactionEnd> RunWaitingAsync(int list, TimeSpan wait, Transfer? accounts)
    {
        var root = new ActorKey("ListAppend", $"w{list}");
        var request = new TransactionRequest
        {
            Actor = root,
            Method = "Execute",
            Input = System.Text.Encoding.UTF8.GetBytes(
                $$"""{"ops":[],"delayMs":{{(int)wait.TotalMilliseconds}}}"""),
            Mode = TransactionMode.Pact,
            Access = accounts is { } with
                ? [new(root, 1), new(_keys[with.To1], 1), new(_keys[with.To2], 1), new(_keys[with.To3], 1)]
                : [new(root, 1)],
        };
        return TransferRequests.EndOf(await _worker!.Door.Submit(request, CancellationToken.None));
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (_worker is not null)
        {
            if (Environment.GetEnvironmentVariable("SNAPPER_SHOW_STATUS") is not null)
            {
                var status = _worker.Inspection.Status();
                Console.Error.WriteLine($"gc {GC.CollectionCount(0)} {GC.CollectionCount(1)} {GC.CollectionCount(2)} pause {GC.GetTotalPauseDuration().TotalMilliseconds:0} ms alloc {GC.GetTotalAllocatedBytes() >> 20} MiB {status} repeats: {string.Join(' ', status.RepeatsByReason)}");
            }

            await _worker.DisposeAsync();
        }

        _plain?.Dispose();
        if (_store is not null)
        {
            await _store.DisposeAsync();
            await _log!.DisposeAsync();
            await _connections!.DisposeAsync();
        }

        if (_redis is not null)
        {
            await _redis.DisposeAsync();
        }
    }

    /// <summary>Settings to try, by environment; the defaults are the product's.</summary>
    private static WorkerOptions OptionsFromEnvironment()
    {
        var standard = new WorkerOptions();
        return new WorkerOptions
        {
            Executors = Number("SNAPPER_EXECUTORS", standard.Executors),
            Coordinators = Number("SNAPPER_COORDINATORS", standard.Coordinators),
            OpenBatches = Number("SNAPPER_OPEN_BATCHES", standard.OpenBatches),
            TransactionsPerBatch = Number("SNAPPER_BATCH", standard.TransactionsPerBatch),
        };
    }

    private static int Number(string variable, int standard) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : standard;
}
