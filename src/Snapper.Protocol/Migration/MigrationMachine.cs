using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Migration;

/// <summary>
/// Moves the actors of one plan away from this worker (thesis 4.3; M3 to M7): freeze, drain, checkpoint, and let the
/// plan's commit decide. Everything that the source has of an actor is in the shared states before the commit, so that
/// the target only reads. Each method is one input and returns what the shell does next. The shell has one action under
/// way at a time; it drops the answer to an action when it has begun another one since.
/// </summary>
/// <remarks>
/// A run that the store's absence has interrupted keeps its freeze. The next run of the plan is a new machine, which
/// begins at the first step; each step may be repeated.
/// </remarks>
/// <param name="plan">Id of the plan.</param>
/// <param name="keys">What moves.</param>
/// <param name="ownership">What this worker owns.</param>
/// <param name="source">The worker.</param>
public sealed class MigrationMachine(
    string plan, IReadOnlyList<DirectoryKey> keys, Ownership ownership, IMigrationSource source)
{
    // What an executor does first may be a message to another one, which has handled it when the second round is over.
    private const int Rounds = 2;

    private int _passed;
    private BatchId _lastPart;
    private BatchId _lastBatch;
    private TransactionId _visitor;
    private long _lastRecord;

    /// <summary>Where it stands.</summary>
    public MigrationStep Step { get; private set; }

    /// <summary>Why the plan is cancelled; empty: it is not.</summary>
    public string Reason { get; private set; } = "";

    /// <summary>The directory's entries of the plan's keys that have another owner now.</summary>
    public IReadOnlyList<DirectoryEntry> Moved { get; private set; } = [];

    /// <summary>
    /// M4 bounds the time from the freeze to the commit. <see cref="OnBound"/> ends the run in these steps alone.
    /// </summary>
    public bool IsBounded => Step is >= MigrationStep.Freezing and < MigrationStep.Committing;

    /// <summary>The run begins.</summary>
    public MigrationAction Begin() => Enter(MigrationStep.CheckpointingBefore, MigrationAction.Checkpoint);

    /// <summary>A checkpoint of the plan's actors has ended.</summary>
    /// <param name="isComplete">False: the store failed, and something is not checkpointed.</param>
    public MigrationAction OnCheckpointed(bool isComplete) => Step switch
    {
        // How far these two come changes only how long the last one takes.
        MigrationStep.CheckpointingBefore =>
            Enter(MigrationStep.CheckpointingAgain, MigrationAction.CheckpointUrgently),
        MigrationStep.CheckpointingAgain => Freeze(),

        // States that are not checkpointed would be missed when the actors leave; outcomes of ids would not (I2).
        MigrationStep.CheckpointingLast when !isComplete => MigrationAction.Pause,
        MigrationStep.CheckpointingLast => Enter(MigrationStep.Leaving, MigrationAction.LeaveMemory),
        _ => throw Unexpected(nameof(OnCheckpointed)),
    };

    /// <summary>Every executor has handled what was in its queue.</summary>
    public MigrationAction OnQueuesPassed()
    {
        if (++_passed < Rounds)
        {
            return MigrationAction.PassQueues;
        }

        switch (Step)
        {
            case MigrationStep.Freezing:
                return Enter(MigrationStep.FreezingAtMaster, MigrationAction.AskMaster);
            case MigrationStep.PassingParts:
                _lastPart = source.HighestKnownPart;
                Step = MigrationStep.AwaitingPlaces;
                return OnProgress();
            case MigrationStep.PassingEnds:
                return Enter(MigrationStep.Looking, MigrationAction.LeaveMemory);
            default:
                throw Unexpected(nameof(OnQueuesPassed));
        }
    }

    /// <summary>
    /// The master numbers nothing more for the plan; its answer came behind all parts that it numbered before (M3).
    /// </summary>
    public MigrationAction OnMasterFroze()
    {
        // A later master answers too, when it has got this worker's open freezes.
        return Step == MigrationStep.FreezingAtMaster ? Pass(MigrationStep.PassingParts) : MigrationAction.None;
    }

    /// <summary>
    /// The commit machine has made a step, or a part has got its place. Cheap while the machine waits for nothing.
    /// </summary>
    public MigrationAction OnProgress()
    {
        if (Step == MigrationStep.AwaitingPlaces && HavePlaces())
        {
            // What is open when the last part has its place is what must become final.
            _lastBatch = source.HighestOpen;
            Step = MigrationStep.Draining;
        }

        if (Step == MigrationStep.Draining && !source.HasOpenUpTo(_lastBatch) && !IsVisited())
        {
            return Pass(MigrationStep.PassingEnds);
        }

        if (Step == MigrationStep.AwaitingCheckpointer && source.CheckpointedThrough >= _lastRecord)
        {
            return Enter(MigrationStep.CheckpointingLast, MigrationAction.CheckpointUrgently);
        }

        return MigrationAction.None;
    }

    /// <summary>The shell has tried to remove the actors from memory.</summary>
    /// <param name="haveLeft">
    /// False: something is under way on one of them, or is not checkpointed; none has left.
    /// </param>
    public MigrationAction OnLeft(bool haveLeft)
    {
        switch (Step)
        {
            case MigrationStep.Looking:
                // Behind the look: what the actors must wait for is in front of this record.
                _lastRecord = source.LastSequence;
                return Enter(MigrationStep.Flushing, MigrationAction.Flush);
            case MigrationStep.Leaving when haveLeft:
                return Enter(MigrationStep.Committing, MigrationAction.Commit);
            case MigrationStep.Leaving:
                // Another worker may have cancelled the plan: the master numbers for the actors again, and they change.
                return MigrationAction.Pause;
            default:
                throw Unexpected(nameof(OnLeft));
        }
    }

    /// <summary>Everything that was queued at the request is durable.</summary>
    public MigrationAction OnFlushed()
    {
        Require(MigrationStep.Flushing, nameof(OnFlushed));
        Step = MigrationStep.AwaitingCheckpointer;
        return OnProgress();
    }

    /// <summary>A pause is over.</summary>
    public MigrationAction OnPaused() => Step switch
    {
        MigrationStep.CheckpointingLast => MigrationAction.CheckpointUrgently,
        MigrationStep.Leaving => Enter(MigrationStep.Looking, MigrationAction.LeaveMemory),
        MigrationStep.Committing => MigrationAction.Commit,
        _ => throw Unexpected(nameof(OnPaused)),
    };

    /// <summary>
    /// The time from the freeze to the commit is over (M4): the plan is cancelled before anything is unfrozen.
    /// </summary>
    /// <param name="reason">Why, for operators.</param>
    public MigrationAction OnBound(string reason)
    {
        if (!IsBounded)
        {
            return MigrationAction.None;
        }

        return Cancel(reason);
    }

    /// <summary>The plan is committed: the keys are the target's (M6).</summary>
    /// <param name="moved">Their entries.</param>
    public MigrationAction OnCommitted(IReadOnlyList<DirectoryEntry> moved)
    {
        Require(MigrationStep.Committing, nameof(OnCommitted));
        return Unfreeze(moved);
    }

    /// <summary>The store has refused the plan's commit: it was cancelled, or a worker's epoch has changed.</summary>
    public MigrationAction OnRefused(string reason)
    {
        Require(MigrationStep.Committing, nameof(OnRefused));
        return Cancel(reason);
    }

    /// <summary>The answer to the plan's commit is lost; a repetition has the same effect.</summary>
    public MigrationAction OnUnknown()
    {
        Require(MigrationStep.Committing, nameof(OnUnknown));
        return MigrationAction.Pause;
    }

    /// <summary>The store has cancelled the plan, or has forgotten it.</summary>
    /// <param name="moved">
    /// Empty unless the store has forgotten the plan, which may have been committed (M6): the entries of its keys as
    /// the directory has them.
    /// </param>
    public MigrationAction OnCancelled(IReadOnlyList<DirectoryEntry> moved)
    {
        Require(MigrationStep.Cancelling, nameof(OnCancelled));
        return Unfreeze(moved);
    }

    /// <summary>The keys are unfrozen here, and the others and the master have been told.</summary>
    public MigrationAction OnUnfrozen()
    {
        Require(MigrationStep.Unfreezing, nameof(OnUnfrozen));
        return Reason.Length == 0
            ? Enter(MigrationStep.Checking, MigrationAction.RequireNothingLeft)
            : Enter(MigrationStep.Cancelled, MigrationAction.End);
    }

    /// <summary>Nothing is under way on what has moved.</summary>
    public MigrationAction OnNothingLeft()
    {
        Require(MigrationStep.Checking, nameof(OnNothingLeft));
        return Enter(MigrationStep.Done, MigrationAction.End);
    }

    private MigrationAction Freeze()
    {
        foreach (var key in keys)
        {
            if (!ownership.Freeze(key, plan))
            {
                return Cancel($"{key} is not owned by this worker, or is being moved by another plan.");
            }
        }

        return Pass(MigrationStep.Freezing);
    }

    private bool HavePlaces()
    {
        var lowest = source.LowestUnplacedPart;
        return lowest == BatchId.None || lowest > _lastPart;
    }

    private bool IsVisited()
    {
        if (source.TakesActsBack)
        {
            return true;
        }

        if (_visitor == TransactionId.None || !source.IsUnderWay(_visitor))
        {
            _visitor = source.FindVisitor(plan); // a search through all ACTs: again only when this one has ended
        }

        return _visitor != TransactionId.None;
    }

    private MigrationAction Cancel(string reason)
    {
        Reason = reason;
        return Enter(MigrationStep.Cancelling, MigrationAction.Cancel);
    }

    private MigrationAction Unfreeze(IReadOnlyList<DirectoryEntry> moved)
    {
        Moved = moved;
        return Enter(MigrationStep.Unfreezing, MigrationAction.Unfreeze);
    }

    private MigrationAction Pass(MigrationStep step)
    {
        _passed = 0;
        return Enter(step, MigrationAction.PassQueues);
    }

    private MigrationAction Enter(MigrationStep step, MigrationAction action)
    {
        Step = step;
        return action;
    }

    private void Require(MigrationStep step, string input)
    {
        if (Step != step)
        {
            throw Unexpected(input);
        }
    }

    private ProtocolViolationException Unexpected(string input) => new($"Plan {plan}: {input} at step {Step}.");
}
