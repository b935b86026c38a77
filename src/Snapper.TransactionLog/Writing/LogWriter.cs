using Snapper.Protocol;
using System.Runtime.ExceptionServices;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.Writing;

/// <summary>
/// A worker's append queue (L1): gives sequence numbers, gathers what is enqueued while a group is in flight into the next
/// one, and keeps sending a group whose outcome is unknown until the log has said what became of it (L6).
/// </summary>
/// <remarks>
/// Thread-safe. It has no thread of its own: a call that finds the queue idle sends at once, and the completion of an append
/// sends what has gathered meanwhile, on the thread that completed it. A log that completes inside <c>Append</c> therefore
/// calls the observer before <see cref="Enqueue(LogRecord)"/> has returned; a call from inside the observer only queues.
/// </remarks>
public sealed class LogWriter : IAsyncDisposable
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
        _queue = new GroupQueue(options.GroupBytesMax);
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

    /// <summary>Sends groups until one does not complete at once. A loop, not recursion: a log may complete every append inside the call.</summary>
    private void Pump()
    {
        using var noFlow = FlowSuppression.Start();
        while (true)
        {
            PendingGroup? group = null;
            bool ended;
            lock (_gate)
            {
                ended = _disposed || _lost is not null;
                if (!ended)
                {
                    group = _inFlight ??= _queue.Take();
                    _pumping = group is not null;
                }
            }

            if (ended)
            {
                // Outside the lock: whoever waits for the end goes on inside this call.
                _ended.TrySetResult();
            }

            if (group is null)
            {
                return;
            }

            var append = Send(group);
            if (!append.IsCompleted)
            {
                // Not awaited: an await would hop to the pool when the completing thread has a context of its own,
                // and a simulator could then not run this on its one thread.
                _ = append.ContinueWith(_appended, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
                return;
            }

            if (!Complete(append))
            {
                return;
            }
        }
    }

    private Task<AppendResult> Send(PendingGroup group)
    {
        try
        {
            return group.Count == 0
                ? _log.CheckEpoch(_epoch, _disposal.Token)
                : _log.Append(_epoch, group.FirstSequence, group.Count, group.Buffer.Written, _disposal.Token);
        }
        catch (Exception error)
        {
            // A log that throws instead of returning a failed task has said just as little about its effect.
            return Task.FromException<AppendResult>(error);
        }
    }

    private void OnAppended(Task<AppendResult> append)
    {
        try
        {
            if (Complete(append))
            {
                Pump();
            }
        }
        catch (Exception bug)
        {
            // Only an observer can throw here, and it must not. A queue that stands still in silence would be worse than
            // a process that ends and recovers, so the error goes where nobody catches it.
            ThreadPool.UnsafeQueueUserWorkItem(static e => e.Throw(), ExceptionDispatchInfo.Capture(bug), preferLocal: false);
        }
    }

    /// <summary>Takes in what became of the group in flight; true: go on sending.</summary>
    private bool Complete(Task<AppendResult> append)
    {
        if (!append.IsCompletedSuccessfully)
        {
            // Unknown (L6): the same bytes go out again, and nothing behind them does.
            var error = append.Exception?.GetBaseException();
            if (Planted.Is(PlantedFault.UnknownAppendTakenForDone))
            {
                Succeeded();
                return true;
            }

            if (Planted.Is(PlantedFault.ResendAnotherGroup))
            {
                _inFlight = null;
            }

            return RetryLater(error is null ? "the append was cancelled" : $"{error.GetType().Name}: {error.Message}");
        }

        var result = append.Result;
        switch (result.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                Succeeded();
                return true;
            case AppendStatus.Refused:
                return RetryLater($"refused: {result.Detail}");
            default:
                Stop(new LogLostException(result.Status, result.Detail), result);
                return false;
        }
    }

    private void Succeeded()
    {
        long ticket;
        List<TaskCompletionSource>? drained = null;
        lock (_gate)
        {
            var group = _inFlight!;
            _inFlight = null;
            ticket = _flushedTicket = group.LastTicket;
            if (group.Count > 0)
            {
                Volatile.Write(ref _durableSequence, group.FirstSequence + group.Count - 1);
            }

            Volatile.Write(ref _unflushedBytes, _unflushedBytes - group.Buffer.Length);
            Volatile.Write(ref _isFree, _queue.IsEmpty);
            group.Buffer.Release();
            for (var i = _drains.Count - 1; i >= 0; i--)
            {
                if (_drains[i].Ticket <= ticket)
                {
                    (drained ??= []).Add(_drains[i].Done);
                    _drains.RemoveAt(i);
                }
            }
        }

        _retryDelay = _options.RetryDelayMin;
        if (_outage)
        {
            _outage = false;
            _observer.Available();
        }

        _observer.Flushed(ticket);
        for (var i = (drained?.Count ?? 0) - 1; i >= 0; i--)
        {
            drained![i].TrySetResult();
        }
    }

    private bool RetryLater(string detail)
    {
        bool ended;
        lock (_gate)
        {
            ended = _disposed;
            _waitingToRetry = !ended;
        }

        if (ended)
        {
            // The group's memory is not given back: a log that was cancelled may still be reading it.
            _ended.TrySetResult();
            return false;
        }

        if (!_outage)
        {
            _outage = true;
            _observer.Unavailable(detail);
        }

        var delay = _retryDelay;
        _retryDelay = TimeSpan.FromTicks(Math.Min(_retryDelay.Ticks * 2, _options.RetryDelayMax.Ticks));
        try
        {
            _retryTimer.Change(delay, Timeout.InfiniteTimeSpan);
        }
        catch (ObjectDisposedException)
        {
            // Disposed of between the lock and here: DisposeAsync has seen the wait and ended it.
        }

        return false;
    }

    private void OnRetryDue()
    {
        lock (_gate)
        {
            if (!_waitingToRetry)
            {
                return;
            }

            _waitingToRetry = false;
        }

        Pump();
    }

    private void Stop(LogLostException lost, AppendResult result)
    {
        List<TaskCompletionSource> drains;
        lock (_gate)
        {
            _lost = lost;
            _inFlight?.Buffer.Release();
            _inFlight = null;
            while (_queue.Take() is { } dropped)
            {
                dropped.Buffer.Release();
            }

            Volatile.Write(ref _unflushedBytes, 0);
            Volatile.Write(ref _isFree, true);
            drains = _drains.ConvertAll(d => d.Done);
            _drains.Clear();
        }

        _observer.Lost(result.Status, result.Detail);
        _ended.TrySetResult();
        foreach (var drain in drains)
        {
            drain.TrySetException(lost);
        }
    }
}
