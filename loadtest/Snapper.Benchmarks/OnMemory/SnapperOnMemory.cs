using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Benchmarks.OnMemory;

/// <summary>The real runtime in this process on a log in memory: nothing is durable.</summary>
public sealed class SnapperOnMemory : IAsyncDisposable
{
    private readonly MemoryTransactionLog _log;
    private readonly MemoryStateStore _store;
    private WorkerHost? _worker;

    private SnapperOnMemory()
    {
        var storage = new MemoryStorage();
        _log = new MemoryTransactionLog(storage);
        _store = new MemoryStateStore(storage, TimeProvider.System, new StateStoreOptions());
    }

    /// <summary>Takes any request.</summary>
    public ITransactionService Door => _worker!.Door;

    /// <summary>Starts it.</summary>
    public static async Task<SnapperOnMemory> StartAsync()
    {
        var system = new SnapperOnMemory();
        system._worker = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions(),
                ActorTypes = [.. SnapperAppsSmallBankActors.All, .. SnapperAppsListAppendActors.All],
                Log = system._log,
                Store = system._store,
            },
            CancellationToken.None);
        return system;
    }

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        if (_worker is not null)
        {
            await _worker.DisposeAsync();
        }

        await _store.DisposeAsync();
        await _log.DisposeAsync();
    }
}
