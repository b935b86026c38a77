using Snapper.Protocol.Coordination;

namespace Snapper.Runtime.Execution;

/// <summary>ACTs start here, the callers in turn.</summary>
public sealed partial class Executor
{
    private static readonly WorkItem s_turn = new() { Kind = WorkKind.NextStart };

    private readonly WaitingStarts _starts; // guarded by the lock of the inbox
    private ITimer? _pause;

    // Whose start runs now, until an item comes that it did not cause here.
    private CallerLanes<WorkItem>.Lane? _served;
    private long _servedFrom;
    private bool _servedIsPact;

    private static double ShareOfCaller(WorkerOptions options) =>
        options.CallerTimeShare ?? Math.Clamp(Environment.ProcessorCount / (16.0 * options.Executors), 1.0 / 16, 0.5);

    private void StartNext()
    {
        var now = Worker.Time.GetTimestamp();
        WorkItem start;
        string? caller;
        long pause;
        lock (_inboxLock)
        {
            // One that pauses sends nothing meanwhile, and the other one alone would be no change of callers.
            if (_starts.AreOfSeveral)
            {
                Worker.Callers.NoteSeveral(now);
            }

            caller = _starts.NextCaller;
            pause = _starts.Take(now, Worker.Callers.AreSeveral(caller, now), out start, out _served);
            if (pause == 0)
            {
                QueueTurns();
            }
        }

        if (pause == 0)
        {
            (_servedFrom, _servedIsPact) = (now, false);

            // One of whom many wait sends nothing meanwhile, and is about all the same.
            Worker.Callers.Note(start.Request.Asked.CountedFor, now);
            StartAct(start.Request, gateIsOpen: start.Index != 0);
        }
        else if (pause > 0)
        {
            // It is for others: with them it ends, and while they come it is begun again.
            var ticks = Math.Min(pause, Math.Max(1, Worker.Callers.LeftOfSeveral(caller, now)));
            Pause(TimeSpan.FromSeconds((double)ticks / Worker.Time.TimestampFrequency));
        }
    }

    /// <summary>
    /// Other code of a caller than that of its starts takes its time, too, if it does not go on within a turn: a PACT,
    /// a call from elsewhere, what is behind an <c>await</c>.
    /// </summary>
    private void ContinueTurn(Request request)
    {
        if (_served is not null || !Worker.Callers.MayBeSeveral)
        {
            return;
        }

        var (caller, now) = (request.Asked.CountedFor, Worker.Time.GetTimestamp());
        if (!Worker.Callers.AreSeveral(caller, now))
        {
            return;
        }

        (_servedFrom, _servedIsPact) = (now, request.IsPact);
        lock (_inboxLock)
        {
            _served = _starts.LaneOf(caller, now);
        }
    }

    private void EndTurn()
    {
        _starts.Charge(_served!, _servedFrom, Worker.Time.GetTimestamp(), _servedIsPact);
        _served = null;
    }

    private void Pause(TimeSpan time)
    {
        _pause ??= Worker.Time.CreateTimer(_ => EndPause(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _pause.Change(TimeSpan.FromMilliseconds(Math.Ceiling(time.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
    }

    private void EndPause()
    {
        lock (_inboxLock)
        {
            QueueTurns();
        }

        Wake?.Invoke();
    }

    private void QueueTurns()
    {
        while (_starts.TryAddTurn())
        {
            _inbox.Enqueue(s_turn);
            _inboxHasItems = true;
        }
    }
}
