using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Membership;

/// <summary>
/// Keeps a worker's lease from the moment that its log is open, on a thread of its own: neither recovery nor user code nor a busy pool may make others take it for dead (R5).
/// </summary>
internal sealed class LeaseKeeper : IAsyncDisposable
{
    private readonly IClusterStore _store;
    private readonly TimeProvider _time;
    private readonly TimeSpan _lease;
    private readonly TimeSpan _every;
    private readonly CancellationTokenSource _ending = new();
    private readonly Action<Exception> _failed;
    private readonly Background _background;
    private readonly Thread _thread;
    private Task _loop = Task.CompletedTask;
    private string _directoryId = "";
    private long _directoryVersion;
    private long _generation;
    private int _begun;
    private int _leaving; // by those who have asked, at the same time perhaps; one that has left counts for good

    /// <param name="store">What all share.</param>
    /// <param name="lease">How long a lease lasts.</param>
    /// <param name="time">For the pauses.</param>
    /// <param name="background">Without threads there, it renews without one of its own.</param>
    /// <param name="failed">Hears that this worker is no member any more: it must stop.</param>
    public LeaseKeeper(IClusterStore store, TimeSpan lease, TimeProvider time, Background background, Action<Exception> failed)
    {
        _store = store;
        _time = time;
        _lease = lease;
        _every = lease / 5;
        _background = background;
        _failed = failed;
        _thread = new Thread(Run) { IsBackground = true, Name = $"lease {store.Self}", Priority = ThreadPriority.AboveNormal };
    }

    /// <summary>Registers, and begins to renew.</summary>
    /// <returns>Id of the directory.</returns>
    /// <exception cref="LogLostException">The log has another owner already.</exception>
    public async Task<string> Begin(MemberAddress address, CancellationToken cancellation)
    {
        var registered = await _store.Members.Register(address, cancellation).ConfigureAwait(false);
        if (!registered.IsDone)
        {
            throw new LogLostException(AppendStatus.Fenced, $"{_store.Self} could not be registered ({registered.Status}): {registered.Detail}");
        }

        _generation = registered.Value!.Generation;
        _begun = 1;
        if (_background.HasThreads)
        {
            _thread.Start();
        }
        else
        {
            _loop = _background.Run(Go);
        }

        return registered.Value.DirectoryId;
    }

    /// <summary>The lease is not renewed any more: this life leaves, has left, or gives up what it owns.</summary>
    public bool IsLeaving => Volatile.Read(ref _leaving) > 0;

    /// <summary>Lets the lease run out.</summary>
    public void Cease() => Interlocked.Increment(ref _leaving);

    /// <summary>
    /// Leaves for good, if this worker owns nothing. Its lease is not renewed then. Cancelled, it may have left.
    /// </summary>
    /// <returns>Null: it has left; else why not.</returns>
    public async Task<string?> TryLeave(CancellationToken cancellation)
    {
        Interlocked.Increment(ref _leaving); // a renewal that crosses it would find no member, and fail the worker
        var hasLeft = false;
        var began = _time.GetTimestamp();
        try
        {
            while (true)
            {
                try
                {
                    var left = await _store.Members.Leave(cancellation).ConfigureAwait(false);
                    hasLeft = left.Status is ClusterStatus.Done or ClusterStatus.AlreadyDone;
                    return hasLeft ? null : left.Detail;
                }
                catch (Exception exception)
                    when (StorageFaults.IsPassing(exception) && _time.GetElapsedTime(began) < _lease)
                {
                    // It may have left; then the store says so now.
                    await Background.Pause(_every / 4, _time, cancellation).ConfigureAwait(false);
                }
            }
        }
        finally
        {
            if (!hasLeft)
            {
                Interlocked.Decrement(ref _leaving);
            }
        }
    }

    /// <summary>What was heard of the directory: a store that knows less has lost something.</summary>
    public void Heard(string directoryId, long version)
    {
        _directoryId = directoryId;
        Volatile.Write(ref _directoryVersion, version);
    }

    /// <summary>A generation that has risen since this life began: what a log or the directory had acknowledged was found to be lost. Every worker recovers from what there is (L6).</summary>
    public void Look(ClusterStanding standing)
    {
        if (standing.Generation > _generation)
        {
            throw new LogLostFailure(
                AppendStatus.Fenced,
                $"{_store.Self} begins anew: the store was found to have lost what it had acknowledged (generation {standing.Generation}, {_generation} when this life began); the worker that found it says what.");
        }
    }

    public async ValueTask DisposeAsync()
    {
        _ending.Cancel(); // not CancelAsync: it would hop to the pool, away from a simulator
        if (_begun != 0 && _background.HasThreads && Thread.CurrentThread != _thread)
        {
            _thread.Join(); // not where what it has failed goes on to this end: it comes to its own behind that
        }

        await _loop.ConfigureAwait(false);

        _ending.Dispose();
    }

    private void Run()
    {
        while (Turn().GetAwaiter().GetResult() is { } pause && !_ending.Token.WaitHandle.WaitOne(pause))
        {
        }
    }

    private async Task Go()
    {
        try
        {
            while (await Turn().ConfigureAwait(false) is { } pause)
            {
                await Background.Pause(pause, _time, _ending.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (_ending.IsCancellationRequested)
        {
        }
    }

    /// <summary>Renews once.</summary>
    /// <returns>For how long to wait then; null: it is over.</returns>
    private async Task<TimeSpan?> Turn()
    {
        if (_ending.IsCancellationRequested)
        {
            return null;
        }

        try
        {
            await Renew().ConfigureAwait(false);
            return _every;
        }
        catch (OperationCanceledException) when (_ending.IsCancellationRequested)
        {
            return null;
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            return _every / 4; // while the store is away nobody's lease can be judged
        }
        catch (Exception exception)
        {
            _failed(exception);
            return null;
        }
    }

    private async Task Renew()
    {
        if (IsLeaving)
        {
            return;
        }

        var renewed = await _store.Members.Renew(_directoryId, Volatile.Read(ref _directoryVersion), _ending.Token).ConfigureAwait(false);
        if (IsLeaving)
        {
            return; // it may have left while the renewal was under way
        }

        if (renewed.Status is ClusterStatus.Fenced or ClusterStatus.Lost or ClusterStatus.Stale)
        {
            throw new LogLostFailure(
                renewed.Status == ClusterStatus.Lost ? AppendStatus.Gap : AppendStatus.Fenced, $"{_store.Self} is no member any more ({renewed.Status}): {renewed.Detail}");
        }

        if (renewed.Value is { } standing)
        {
            Look(standing);
        }
    }
}
