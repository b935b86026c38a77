using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>Actors that are not used leave memory.</summary>
public sealed partial class Executor
{
    /// <summary>Actors that are looked at behind an item while they have more bytes than they should.</summary>
    private const int LooksPerItem = 16;

    /// <summary>Items until the next look where none was found that may leave.</summary>
    private const int ItemsOfARest = 1024;

    private long _restUntil;
    private long _inVain; // looks since the last one that found an actor that may leave
    private long _evictions;

    /// <summary>Actors that left to make room, so far; from any thread.</summary>
    public long Evictions => Volatile.Read(ref _evictions);

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

    /// <summary>Once a minute: an actor leaves that nothing has used for the idle time.</summary>
    public void SweepIdle()
    {
        var sweeps = Math.Max(1, (int)Worker.Options.IdleActorTimeout.TotalMinutes);
        List<ActorCell>? leaving = null;
        foreach (var cell in _residents.All)
        {
            if (MayLeave(cell, sweeps))
            {
                (leaving ??= []).Add(cell);
            }
        }

        foreach (var cell in leaving ?? [])
        {
            _residents.Remove(cell);
        }

        // An executor that has nothing to do makes room as well: twice round the ring.
        for (var rounds = 2 * _residents.Count / LooksPerItem; rounds > 0 && _residents.IsOver; rounds--)
        {
            MakeRoom();
        }
    }

    /// <summary>
    /// The actors have more bytes than they should: of the next ones in the ring those leave that nothing has used
    /// since they were last looked at. Between two items, a few each time, so that no transaction waits for it.
    /// </summary>
    private void MakeRoom()
    {
        if (_progress < _restUntil)
        {
            return;
        }

        for (var looks = 0; looks < LooksPerItem && _residents.IsOver && _residents.Advance() is { } cell; looks++)
        {
            if (MayLeave(cell, looks: 1))
            {
                _residents.Remove(cell);
                _evictions++;
                _inVain = 0;
            }
            else if (++_inVain > 2 * _residents.Count)
            {
                // All are in use, or not checkpointed yet.
                _restUntil = _progress + ItemsOfARest;
                _inVain = 0;
                return;
            }
        }
    }

    /// <summary>
    /// One look at an actor. It may leave when nothing of it is under way, nothing has used it for some looks, and its
    /// last change is checkpointed (L8).
    /// </summary>
    private bool MayLeave(ActorCell cell, int looks)
    {
        cell.Machine?.ForgetFinal(Worker.Final);
        if (cell.Machine is not { IsReplaceable: true })
        {
            cell.IdleSweeps = 0; // its batch may become final, and its record be queued, without a message to it
            return false;
        }

        if (!cell.IsLoaded)
        {
            return true; // it was declared and not called, and that is over
        }

        if (cell.IdleSweeps++ == 0)
        {
            cell.SequenceWhenIdle = Worker.Log.LastSequence;
            cell.Weighed = default; // what nothing can undo is not sent again
        }

        // Checkpointed is what the checkpointer was told of: all records that may hold a change of this actor.
        return cell.IdleSweeps > looks
            && Worker.Commits.CheckpointedThrough >= cell.SequenceWhenIdle
            && Worker.Checkpoints.IsCheckpointed(cell.Key);
    }

    /// <summary>One of these actors on which something is under way; null: there is none.</summary>
    public ActorKey? FindInUse(Func<ActorKey, bool> among)
    {
        foreach (var cell in _residents.All)
        {
            if (among(cell.Key) && cell.Schedule is { } machine)
            {
                machine.ForgetFinal(Worker.Final);
                if (!machine.IsReplaceable)
                {
                    return cell.Key;
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
        var leaving = new List<ActorCell>();
        foreach (var cell in _residents.All)
        {
            if (!moves(cell.Key))
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
            mayLeave &= Worker.Commits.CheckpointedThrough >= cell.SequenceWhenIdle
                && Worker.Checkpoints.IsCheckpointed(cell.Key);
            leaving.Add(cell);
        }

        if (!mayLeave)
        {
            return false;
        }

        foreach (var cell in leaving)
        {
            _residents.Remove(cell);
        }

        return true;
    }
}
