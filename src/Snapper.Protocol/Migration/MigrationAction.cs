namespace Snapper.Protocol.Migration;

/// <summary>What the source of a plan does next; each value names the input of the machine that answers it.</summary>
public enum MigrationAction : byte
{
    /// <summary>Nothing. The machine looks again at <see cref="MigrationMachine.OnProgress"/>.</summary>
    None,

    /// <summary>
    /// Checkpoint the actors of the plan while they run, slowly: <see cref="MigrationMachine.OnCheckpointed"/>.
    /// </summary>
    Checkpoint,

    /// <summary>Checkpoint them at full speed: <see cref="MigrationMachine.OnCheckpointed"/>.</summary>
    CheckpointUrgently,

    /// <summary>
    /// Wait until every executor has handled what is in its queue now: <see cref="MigrationMachine.OnQueuesPassed"/>.
    /// </summary>
    PassQueues,

    /// <summary>
    /// Send the freeze to the master, behind the requests that this worker has passed on to it:
    /// <see cref="MigrationMachine.OnMasterFroze"/>. A later master gets all open freezes when this worker follows it.
    /// </summary>
    AskMaster,

    /// <summary>
    /// Remove the actors from memory, all or none: <see cref="MigrationMachine.OnLeft"/>.
    /// </summary>
    LeaveMemory,

    /// <summary>Flush everything that is in the log's queue: <see cref="MigrationMachine.OnFlushed"/>.</summary>
    Flush,

    /// <summary>Wait a little before the next attempt: <see cref="MigrationMachine.OnPaused"/>.</summary>
    Pause,

    /// <summary>
    /// Commit the plan in the store: <see cref="MigrationMachine.OnCommitted"/>,
    /// <see cref="MigrationMachine.OnRefused"/>, or <see cref="MigrationMachine.OnUnknown"/>.
    /// </summary>
    Commit,

    /// <summary>
    /// Cancel the plan in the store, for <see cref="MigrationMachine.Reason"/>:
    /// <see cref="MigrationMachine.OnCancelled"/>.
    /// </summary>
    Cancel,

    /// <summary>
    /// Apply <see cref="MigrationMachine.Moved"/>, unfreeze the plan's keys here, tell the others and then the master
    /// (M7): <see cref="MigrationMachine.OnUnfrozen"/>.
    /// </summary>
    Unfreeze,

    /// <summary>
    /// Stop the worker if something is under way on an actor that has moved (M7):
    /// <see cref="MigrationMachine.OnNothingLeft"/>.
    /// </summary>
    RequireNothingLeft,

    /// <summary>The plan is done or cancelled.</summary>
    End,
}
