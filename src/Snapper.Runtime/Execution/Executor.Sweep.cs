using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>Actors that nobody used leave memory.</summary>
internal sealed partial class Executor
{
    /// <summary>Once a minute: an actor leaves when nothing of it is under way and its last change is folded (L8).</summary>
    public void SweepIdle()
    {
        var sweeps = Math.Max(1, (int)Worker.Options.IdleActorTimeout.TotalMinutes);
        List<ActorKey>? leaving = null;
        foreach (var (key, cell) in _cells)
        {
            cell.Machine?.ForgetFinal(Worker.Final);
            if (cell.Machine is not { IsIdle: true })
            {
                cell.IdleSweeps = 0;
                continue;
            }

            // What is final is queued, not durable: the checkpointer learns of it only when it is, and calls the actor folded
            // until then. So its last change must have been reported, too.
            if (++cell.IdleSweeps == 1)
            {
                cell.IdleMark = Worker.Log.LastSequence;
            }

            if (cell.IdleSweeps > sweeps && Worker.Commits.ReportedSequence >= cell.IdleMark && Worker.Checkpoints.IsFolded(key))
            {
                (leaving ??= []).Add(key);
            }
        }

        if (leaving is null)
        {
            return;
        }

        foreach (var key in leaving)
        {
            _cells.Remove(key);
        }

        Volatile.Write(ref _residents, _cells.Count);
    }
}
