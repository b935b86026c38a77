using System.Runtime.ExceptionServices;

namespace Snapper.Storage.Log.Writing;

/// <summary>Sending: one group in flight, what became of it, and the same bytes again while nobody knows (L6).</summary>
public sealed partial class LogWriter
{
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

            if (_options.SchedulingPolicy.FlushHeld())
            {
                if (BeginWait())
                {
                    SetTimer(TimeSpan.FromMilliseconds(2));
                }

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
            return RetryLater(error is null ? "the append was cancelled"
                : error is TooFewReplicasException ? error.Message
                : $"{error.GetType().Name}: {error.Message}");
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

    /// <summary>The group in flight waits for the timer.</summary>
    /// <returns>False: the writer was disposed of.</returns>
    private bool BeginWait()
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
        }

        return !ended;
    }

    private bool RetryLater(string detail)
    {
        if (!BeginWait())
        {
            return false;
        }

        if (!_outage)
        {
            _outage = true;
            _observer.Unavailable(detail);
        }

        SetTimer(_options.SchedulingPolicy.AppendRepeatedAtOnce() ? TimeSpan.Zero : _retryDelay);
        _retryDelay = TimeSpan.FromTicks(Math.Min(_retryDelay.Ticks * 2, _options.RetryDelayMax.Ticks));
        return false;
    }

    private void SetTimer(TimeSpan delay)
    {
        try
        {
            _retryTimer.Change(delay, Timeout.InfiniteTimeSpan);
        }
        catch (ObjectDisposedException)
        {
            // Disposed of between the lock and here: DisposeAsync has seen the wait and ended it.
        }
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
