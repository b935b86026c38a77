using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Checkpoints;

/// <summary>
/// Checkpoints durable changes into the actors' stored states and trims the log behind them (L7, L8): first the states, then the
/// outcomes of callers' keys, then the trim, so that a crash between leaves everything in at least one place.
/// </summary>
/// <remarks>
/// Thread-safe. Nothing runs while there is nothing to checkpoint. What could not be checkpointed stays pending and is tried again one
/// interval later; a fence or a gap stops it for good. Its continuations follow the caller's context, so that a simulator can
/// run it on one thread; a server should start it from a thread without one.
/// </remarks>
public sealed partial class Checkpointer : IAsyncDisposable
{
    private readonly ITransactionLog _log;
    private readonly IStateStore _store;
    private readonly CheckpointerOptions _options;
    private readonly long _epoch;
    private readonly TimeProvider _time;
    private readonly CheckpointRateLimiter _pace;
    private readonly ITimer _timer;
    private readonly CancellationTokenSource _disposal = new();
    private readonly Lock _gate = new();
    private readonly HashSet<ActorKey>? _setAside;
    private readonly IReadOnlyDictionary<ActorKey, long> _lastVersions;

    // Guarded by the gate.
    private readonly DirtyActors _changes;
    private Task _running = Task.CompletedTask;
    private string? _damage; // of which was heard; only touched by the checkpoint that runs
    private long? _failingSince;
    private long _failingSaid;
    private long _foldedBelow;
    private long _trimmedBelow;
    private bool _started;
    private bool _armed;
    private bool _disposed;

    /// <summary>
    /// Continues after a recovery, which has checkpointed everything that the log held, but for what it set aside.
    /// </summary>
    /// <param name="log">The opened log; not disposed here.</param>
    /// <param name="store">Its store; not disposed here.</param>
    /// <param name="opening">What opening the log told.</param>
    /// <param name="recovered">What recovery found: its outcomes are copied out before their records are trimmed.</param>
    /// <param name="options">When and how much.</param>
    /// <param name="time">For the interval, and for rests.</param>
    public Checkpointer(
        ITransactionLog log, IStateStore store, LogOpening opening, RecoverySummary recovered, CheckpointerOptions options, TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(store);
        ArgumentNullException.ThrowIfNull(opening);
        ArgumentNullException.ThrowIfNull(recovered);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(time);
        _log = log;
        _store = store;
        _options = options;
        _time = time;
        _pace = new CheckpointRateLimiter(time);
        _epoch = opening.Epoch;
        _foldedBelow = opening.FirstSequence;
        _trimmedBelow = opening.FirstSequence;
        _changes = new DirtyActors(
            opening.NextSequence - 1,
            opening.Watermarks.Max(new LogWatermarks(recovered.HighestTransaction, recovered.HighestActCounter)),
            recovered.Outcomes,
            recovered.SetAside,
            recovered.Unversioned);
        _setAside = recovered.SetAside.Count == 0 ? null : [.. recovered.SetAside.Select(one => one.Actor)];
        _lastVersions = recovered.LastVersions;
        _timer = time.CreateTimer(static c => ((Checkpointer)c!).OnDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Actors with a durable change that is not checkpointed.</summary>
    public int PendingActors
    {
        get
        {
            lock (_gate)
            {
                return _changes.Actors;
            }
        }
    }

    /// <summary>Rough bytes of records heard of since the last checkpoint.</summary>
    public long UnfoldedBytes
    {
        get
        {
            lock (_gate)
            {
                return _changes.Bytes;
            }
        }
    }

    /// <summary>Records below this number are checkpointed and trimmed (whole groups; a backend may keep a little more).</summary>
    public long TrimmedBelow => Volatile.Read(ref _trimmedBelow);

    /// <summary>Checkpoints that ended well.</summary>
    public long Checkpoints { get; private set; }

    /// <summary>Actors' states handed to the store, since the start.</summary>
    public long CheckpointedActors { get; private set; }

    /// <summary>Outcomes copied out of the log, since the start.</summary>
    public long SavedOutcomes { get; private set; }

    /// <summary>Why the last checkpoint failed; null: it did not.</summary>
    public string? LastError { get; private set; }

    /// <summary>Checkpoints that failed, since the start.</summary>
    public long Failures { get; private set; }

    /// <summary>
    /// It works: no checkpoint has failed, or failures have lasted for less than
    /// <see cref="CheckpointerOptions.FailingMax"/>. Else memory, log and the time of a recovery grow.
    /// </summary>
    public bool IsHealthy
    {
        get
        {
            lock (_gate)
            {
                return Stopped is null
                    && (_failingSince is not { } since || _time.GetElapsedTime(since) < CheckpointerOptions.FailingMax);
            }
        }
    }

    /// <summary><see cref="AppendStatus.Fenced"/>, <see cref="AppendStatus.Gap"/> or <see cref="AppendStatus.Behind"/>: it stopped for good; null: it works.</summary>
    public AppendStatus? Stopped { get; private set; }

    /// <summary>
    /// Hears, once, of damage in the store that keeps states from being checkpointed, and with them the log from being
    /// trimmed. It is tried again as ever.
    /// </summary>
    public Action<string>? OnDamaged { get; init; }

    /// <summary>
    /// Hears of the first failure in a row, and once per <see cref="CheckpointerOptions.FailingMax"/> of further ones:
    /// for how long they have lasted, and why.
    /// </summary>
    public Action<TimeSpan, string>? OnFailing { get; init; }

    /// <summary>
    /// Hears of markers that give versions to committed changes which had none, since the place of their actor was
    /// damaged (R4): they are to be written to the log, and told of as durable, like any record.
    /// </summary>
    public Action<LogRecord>? OnVersionsGiven { get; init; }

    /// <summary>Hears, once, that it stopped for good; the worker must drop its memory and recover.</summary>
    public Action<AppendStatus, string>? OnStopped { get; init; }

    /// <summary>
    /// True when no durable change of the actor waits to be checkpointed. It knows what <see cref="OnDurable"/> told: whoever asks
    /// must know that the actor has no change that is still on its way to the log.
    /// </summary>
    public bool IsCheckpointed(ActorKey actor)
    {
        lock (_gate)
        {
            return !_changes.Holds(actor);
        }
    }

    /// <summary>
    /// True while the actor has changes that recovery could not checkpoint: until they are, what the store has of it is
    /// not its state (L8).
    /// </summary>
    public bool IsSetAside(ActorKey actor) => _setAside?.Contains(actor) == true && !IsCheckpointed(actor);

    /// <summary>From now on checkpoints happen by themselves.</summary>
    public void Start()
    {
        bool arm;
        lock (_gate)
        {
            _started = true;
            arm = _changes.LastSequence >= _foldedBelow && TakeArm();
        }

        if (arm)
        {
            Arm(_options.Interval);
        }
    }

    /// <summary>Takes in a record that is durable; every record once, in the order of their numbers. The record object is not kept.</summary>
    /// <exception cref="ProtocolViolationException">The number or an actor's version does not follow the one before it.</exception>
    public void OnDurable(LogRecord record, long sequence)
    {
        ArgumentNullException.ThrowIfNull(record);
        bool arm, now;
        lock (_gate)
        {
            var before = _changes.Bytes;
            _changes.Add(record, sequence);

            // Once per crossing: the checkpoint that it starts takes everything that has gathered.
            now = _started && Stopped is null
                && ((before < _options.UnfoldedBytesMax && _changes.Bytes >= _options.UnfoldedBytesMax) || _options.SchedulingPolicy.FoldedAtOnce());
            arm = TakeArm();
        }

        if (now)
        {
            Arm(TimeSpan.Zero);
        }
        else if (arm)
        {
            Arm(_options.Interval);
        }
    }

    /// <summary>Keeps a record in the log, and with it all that follow: other workers may ask for it (R2, L8). Before it is told of as durable.</summary>
    public void Hold(long sequence)
    {
        lock (_gate)
        {
            _changes.Hold(sequence);
        }
    }

    /// <summary>Ends a <see cref="Hold"/>; the log is trimmed with the next checkpoint.</summary>
    public void Release(long sequence)
    {
        lock (_gate)
        {
            _changes.Release(sequence);
        }
    }

    /// <summary>Stops checkpointing and waits for a checkpoint that runs. Does not checkpoint what is pending: the log has it.</summary>
    public async ValueTask DisposeAsync()
    {
        Task running;
        lock (_gate)
        {
            if (_disposed)
            {
                return;
            }

            _disposed = true;
            running = _running;
        }

        // Not CancelAsync: it would hop to the pool, away from a simulator.
        _disposal.Cancel();
        await running;
        await _timer.DisposeAsync();
        _disposal.Dispose();
    }

    /// <summary>True: the caller must set the timer.</summary>
    private bool TakeArm() => _started && !_armed && !_disposed && Stopped is null && (_armed = true);

    private void Arm(TimeSpan delay)
    {
        try
        {
            _timer.Change(delay, Timeout.InfiniteTimeSpan);
        }
        catch (ObjectDisposedException)
        {
            // Disposed of meanwhile: nothing is checkpointed any more.
        }
    }

    private void OnDue()
    {
        lock (_gate)
        {
            _armed = false;
            if (_disposed || Stopped is not null)
            {
                return;
            }
        }

        _ = OneAtATime(() => CheckpointOnce(null), isUrgent: false);
    }
}
