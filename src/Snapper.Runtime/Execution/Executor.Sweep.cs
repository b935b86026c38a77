using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>Actors that nobody used leave memory.</summary>
public sealed partial class Executor
{
    /// <summary>
    /// A scheduling choice: the actor leaves memory now, because nothing under way depends on what its machine remembers and everything that was ever queued is checkpointed; its
    /// next use, which is at hand, loads it anew.
    /// </summary>
    private bool LeavesBeforeUse(ActorCell cell)
    {
        if (Worker.SchedulingPolicy.IsFixed || cell.Machine is not { } machine)
        {
            return false;
        }

        machine.ForgetFinal(Worker.Final);
        return machine.IsReplaceable
            && Worker.Commits.CheckpointedThrough >= Worker.Log.LastSequence
            && Worker.Checkpoints.IsCheckpointed(cell.Key)
            && Worker.SchedulingPolicy.EvictedBeforeUse();
    }

    /// <summary>Once a minute: an actor leaves when nothing of it is under way and its last change is checkpointed (L8).</summary>
    public void SweepIdle()
    {
        var sweeps = Math.Max(1, (int)Worker.Options.IdleActorTimeout.TotalMinutes);
        List<ActorKey>? leaving = null;
        foreach (var (key, cell) in _cells)
        {
            cell.Machine?.ForgetFinal(Worker.Final);
            if (cell.Machine is not { IsReplaceable: true })
            {
                cell.IdleSweeps = 0; // its batch may become final, and its record be queued, without a message to it
                continue;
            }

            if (cell.IdleSweeps++ == 0)
            {
                cell.SequenceWhenIdle = Worker.Log.LastSequence;
                cell.Weighed = default; // what nothing can undo is not sent again
            }

            // Checkpointed is what the checkpointer was told of: all records that may hold a change of this actor.
            if (cell.IdleSweeps > sweeps
                && Worker.Commits.CheckpointedThrough >= cell.SequenceWhenIdle
                && Worker.Checkpoints.IsCheckpointed(key))
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

    /// <summary>One of these actors on which something is under way; null: there is none.</summary>
    public ActorKey? FindInUse(Func<ActorKey, bool> among)
    {
        foreach (var (key, cell) in _cells)
        {
            if (among(key) && cell.Machine is { } machine)
            {
                machine.ForgetFinal(Worker.Final);
                if (!machine.IsReplaceable)
                {
                    return key;
                }
            }
        }

        return null;
    }

    /// <summary>Actors that move leave memory (M7): nothing may be under way on them, and everything of them is checkpointed.</summary>
    /// <param name="moves">Which.</param>
    /// <returns>False: on one of them something is under way still.</returns>
    public bool TryLeave(Func<ActorKey, bool> moves)
    {
        var mayLeave = true;
        var leaving = new List<ActorKey>();
        foreach (var (key, cell) in _cells)
        {
            if (!moves(key))
            {
                continue;
            }

            cell.Machine?.ForgetFinal(Worker.Final);
            if (cell.Machine is not { IsReplaceable: true } machine)
            {
                mayLeave = false;
                continue;
            }

            if (cell.VersionWhenLeaving != machine.Version)
            {
                cell.VersionWhenLeaving = machine.Version;
                cell.SequenceWhenIdle = Worker.Log.LastSequence;
            }

            // As above. A plan may be cancelled by others while this worker carries it out; the master numbers for its actors again, and they change here.
            mayLeave &= Worker.Commits.CheckpointedThrough >= cell.SequenceWhenIdle && Worker.Checkpoints.IsCheckpointed(key);
            leaving.Add(key);
        }

        if (!mayLeave)
        {
            return false;
        }

        foreach (var key in leaving)
        {
            _cells.Remove(key);
        }

        Volatile.Write(ref _residents, _cells.Count);
        return true;
    }
}
