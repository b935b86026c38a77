namespace Snapper.Protocol.Migration;

/// <summary>Where the source of a plan stands (M3 to M7). The order of the values is that of the steps.</summary>
public enum MigrationStep : byte
{
    /// <summary>Not begun.</summary>
    Planned,

    /// <summary>What was changed until now is checkpointed while the actors still run.</summary>
    CheckpointingBefore,

    /// <summary>What has changed meanwhile is checkpointed, so that little is left for the freeze (M5).</summary>
    CheckpointingAgain,

    /// <summary>
    /// The keys are frozen here; numbers that were given and visits that were let in before come first.
    /// </summary>
    Freezing,

    /// <summary>The master still numbers for the keys (M3).</summary>
    FreezingAtMaster,

    /// <summary>Parts that the master numbered before its answer come to this worker's order.</summary>
    PassingParts,

    /// <summary>Parts of global batches that may touch a key have no place in this worker's order.</summary>
    AwaitingPlaces,

    /// <summary>Batches that may touch a key are not final, or an ACT is in on one (M4).</summary>
    Draining,

    /// <summary>What became final sends its last messages to the actors.</summary>
    PassingEnds,

    /// <summary>The actors are looked at, so that what they must wait for is known.</summary>
    Looking,

    /// <summary>Everything that is queued becomes durable (M5).</summary>
    Flushing,

    /// <summary>The checkpointer has not seen all that is durable.</summary>
    AwaitingCheckpointer,

    /// <summary>The last changes are checkpointed.</summary>
    CheckpointingLast,

    /// <summary>The actors leave memory (M7).</summary>
    Leaving,

    /// <summary>The store decides (M6).</summary>
    Committing,

    /// <summary>The store cancels the plan; until it has, the keys stay frozen (M4).</summary>
    Cancelling,

    /// <summary>The keys that have not moved are this worker's as before.</summary>
    Unfreezing,

    /// <summary>It is checked that nothing is under way on what has moved (M7).</summary>
    Checking,

    /// <summary>The keys are the target's.</summary>
    Done,

    /// <summary>The keys stay the source's.</summary>
    Cancelled,
}
