using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Log.Writing;

/// <summary>
/// A worker's append queue (L1): gives sequence numbers, gathers what is enqueued while a group is in flight into the next
/// one, and keeps sending a group whose outcome is unknown until the log has said what became of it (L6).
/// </summary>
/// <remarks>
/// Thread-safe. It has no thread of its own: a call that finds the queue idle sends at once, and the completion of an append
/// sends what has gathered meanwhile, on the thread that completed it. A log that completes inside <c>Append</c> therefore
/// calls the observer before <see cref="Enqueue(LogRecord)"/> has returned; a call from inside the observer only queues.
/// </remarks>
public sealed partial class LogWriter : IAsyncDisposable
{
    private readonly ITransactionLog _log;
    private readonly ILogObserver _observer;
    private readonly LogWriterOptions _options;
    private readonly long _epoch;
    private readonly Action<Task<AppendResult>> _appended;
    private readonly ITimer _retryTimer;
    private readonly CancellationTokenSource _disposal = new();
    private readonly TaskCompletionSource _ended = new();
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private readonly GroupQueue _queue;
    private readonly List<(long Ticket, TaskCompletionSource Done)> _drains = [];
    private PendingGroup? _inFlight;
    private long _lastTicket;
    private long _flushedTicket;
    private long _lastSequence;
    private long _durableSequence;
    private long _unflushedBytes;
    private bool _isFree = true;
    private bool _pumping;
    private bool _waitingToRetry;
    private bool _disposed;
    private LogLostException? _lost;

    // Only touched by whoever pumps.
    private TimeSpan _retryDelay;
    private bool _outage;

    /// <summary>Continues an opened log.</summary>
    /// <param name="log">Not disposed by the writer.</param>
    /// <param name="opening">What opening the log told: its epoch and the number of the next record.</param>
    /// <param name="observer">Hears what becomes of the queue.</param>
    /// <param name="options">Bounds.</param>
    /// <param name="time">For the pauses between tries.</param>
    public LogWriter(ITransactionLog log, LogOpening opening, ILogObserver observer, LogWriterOptions options, TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(opening);
        ArgumentNullException.ThrowIfNull(observer);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(time);
        options.Validate();
        _log = log;
        _observer = observer;
        _options = options;
        _queue = new GroupQueue(options.GroupBytesMax, options.SchedulingPolicy);
        _epoch = opening.Epoch;
        _lastSequence = opening.NextSequence - 1;
        _durableSequence = _lastSequence;
        _retryDelay = options.RetryDelayMin;
        _appended = OnAppended;
        using (FlowSuppression.Start())
        {
            _retryTimer = time.CreateTimer(static writer => ((LogWriter)writer!).OnRetryDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Nothing queued and nothing in flight. True already while the observer hears of the flush that made it so.</summary>
    public bool IsFree => Volatile.Read(ref _isFree);

    /// <summary>Encoded bytes that are queued or in flight, for back-pressure.</summary>
    public long QueuedBytes => Volatile.Read(ref _unflushedBytes);

    /// <summary>Number of the last record that is durable; everything below is, too.</summary>
    public long DurableSequence => Volatile.Read(ref _durableSequence);

    /// <summary>Number of the last record that was enqueued.</summary>
    public long LastSequence => Volatile.Read(ref _lastSequence);

    /// <summary>Puts a record at the end of the queue and encodes it at once; the record object is not kept.</summary>
    /// <returns>Its ticket; tickets count up over records and barriers. After a loss nothing is queued and the ticket is never flushed.</returns>
    /// <exception cref="ArgumentException">The record cannot be encoded (text that is not Unicode, too large); nothing was queued.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public long Enqueue(LogRecord record) => Enqueue(record, out _);

    /// <summary>As <see cref="Enqueue(LogRecord)"/>, and tells the record's sequence number (0 after a loss).</summary>
    public long Enqueue(LogRecord record, out long sequence)
    {
        ArgumentNullException.ThrowIfNull(record);
        long ticket;
        bool pump;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_lost is not null)
            {
                sequence = 0;
                return ++_lastTicket;
            }

            // Numbers are taken only once the record is in: one that cannot be encoded leaves no hole.
            var bytes = _queue.Add(record, _lastSequence + 1, _lastTicket + 1);
            Volatile.Write(ref _lastSequence, _lastSequence + 1);
            Volatile.Write(ref _unflushedBytes, _unflushedBytes + bytes);
            sequence = _lastSequence;
            ticket = ++_lastTicket;
            pump = TakePump();
        }

        if (pump)
        {
            Pump();
        }

        return ticket;
    }

    /// <summary>
    /// Asks for a flush that is sent after now, checks the epoch and holds everything queued before (L5): the next group's,
    /// or, when there is nothing to append, a check of the epoch alone.
    /// </summary>
    /// <returns>Its ticket. After a loss it is never flushed.</returns>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public long EnqueueBarrier()
    {
        long ticket;
        bool pump;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            ticket = ++_lastTicket;
            if (_lost is not null)
            {
                return ticket;
            }

            _queue.AddBarrier(ticket);
            pump = TakePump();
        }

        if (pump)
        {
            Pump();
        }

        return ticket;
    }

    /// <summary>Completes when everything enqueued before the call is flushed.</summary>
    /// <exception cref="LogLostException">The writer was fenced or found a gap.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of before that.</exception>
    public Task Drain(CancellationToken cancellation)
    {
        lock (_gate)
        {
            if (_lost is not null)
            {
                return Task.FromException(_lost);
            }

            if (_flushedTicket >= _lastTicket)
            {
                return Task.CompletedTask;
            }

            ObjectDisposedException.ThrowIf(_disposed, this);

            // Completed inline, so that a simulator with one thread stays in charge of the order of things.
            var done = new TaskCompletionSource();
            _drains.Add((_lastTicket, done));
            return cancellation.CanBeCanceled ? done.Task.WaitAsync(cancellation) : done.Task;
        }
    }

    /// <summary>Stops. What is queued and not yet flushed is dropped: drain first. Waits for an append that is in flight.</summary>
    public async ValueTask DisposeAsync()
    {
        bool first, endNow;
        List<TaskCompletionSource> drains;
        lock (_gate)
        {
            first = !_disposed;
            _disposed = true;
            endNow = first && (!_pumping || _waitingToRetry);
            _waitingToRetry = false;
            drains = _drains.ConvertAll(d => d.Done);
            _drains.Clear();
        }

        foreach (var drain in drains)
        {
            drain.TrySetException(new ObjectDisposedException(nameof(LogWriter)));
        }

        if (endNow)
        {
            _ended.TrySetResult();
        }

        if (first)
        {
            // Not CancelAsync: it would hop to the pool, away from a simulator.
            _disposal.Cancel();
            await _ended.Task;
            await _retryTimer.DisposeAsync();
            _disposal.Dispose();
        }
        else
        {
            await _ended.Task;
        }
    }

    /// <summary>True: the caller must pump. One thread at a time does.</summary>
    private bool TakePump()
    {
        Volatile.Write(ref _isFree, false);
        return !_pumping && (_pumping = true);
    }
}
