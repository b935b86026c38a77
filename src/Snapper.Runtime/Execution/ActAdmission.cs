using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>
/// Holds ACTs back before their first visit, where ACTs do meet conflicts: behind batches they would take places and keep locks until those are final (H3). A matter of
/// speed alone. Thread-safe; what is formed and what attempts met is noted by the commit machine's executor.
/// </summary>
public sealed class ActAdmission
{
    private const double ConflictsToHold = 0.03;
    private const double AverageWeight = 0.005;

    // A batch that takes longer has a method that waits: those who do not touch its actors must not notice.
    private static readonly TimeSpan s_longest = TimeSpan.FromMilliseconds(5);

    private readonly Worker _worker;
    private readonly Queue<(long Formed, Request Request)> _held = new();
    private readonly ITimer _timer;
    private long _lastFormed;

    // Share of ACT attempts that met a conflict: a moving average over some hundred attempts, 0 to 1.
    private double _conflicts;

    public ActAdmission(Worker worker)
    {
        _worker = worker;
        _timer = worker.Time.CreateTimer(_ => Release(all: true), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public void NoteFormed(BatchId bid) => Volatile.Write(ref _lastFormed, Math.Max(_lastFormed, bid.Value));

    /// <summary>An attempt has finished, or died of a conflict.</summary>
    public void NoteAttempt(bool metConflict) =>
        Volatile.Write(ref _conflicts, (_conflicts * (1 - AverageWeight)) + (metConflict ? AverageWeight : 0));

    /// <summary>
    /// Holds an ACT back while batches are open that were formed before it: it would take places behind them and keep locks
    /// until they are final (H3). Those that come later do not hold it, nor those that take long. Only where ACTs do meet
    /// conflicts: elsewhere they run beside the batches.
    /// </summary>
    /// <returns>False: nothing is open; start it.</returns>
    public bool TryHold(Request request)
    {
        var formed = Volatile.Read(ref _lastFormed);
        if (formed <= _worker.Final.Value || !AreHeld())
        {
            return false;
        }

        lock (_held)
        {
            // Final is published before the held ones are looked at: one of the two sees the other.
            if (formed <= _worker.Final.Value)
            {
                return false;
            }

            if (_held.Count == 0)
            {
                _timer.Change(s_longest, Timeout.InfiniteTimeSpan);
            }

            _held.Enqueue((formed, request));
            return true;
        }
    }

    /// <summary>Starts those whose batches are final, or all.</summary>
    public void Release(bool all = false)
    {
        lock (_held)
        {
            while (_held.TryPeek(out var first) && (all || first.Formed <= _worker.Final.Value))
            {
                _held.Dequeue();
                _worker.ExecutorOf(first.Request.Asked.Actor).PostStart(first.Request, gateIsOpen: true);
            }
        }
    }

    private bool AreHeld() => Volatile.Read(ref _conflicts) < ConflictsToHold
        ? _worker.SchedulingPolicy.ActHeldAnyway()
        : !_worker.SchedulingPolicy.ActNotHeld();
}
