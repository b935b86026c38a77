using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Migration;

/// <summary>
/// What a migration asks of the worker that it moves actors from. All of it is as of the commit machine's executor,
/// which alone steps a <see cref="MigrationMachine"/>.
/// </summary>
public interface IMigrationSource
{
    /// <summary>The highest global batch of which a part has come; any number inside it.</summary>
    BatchId HighestKnownPart { get; }

    /// <summary>The lowest global batch whose part has come and has no place; none: all have one.</summary>
    BatchId LowestUnplacedPart { get; }

    /// <summary>The highest batch that is not final; none: all are.</summary>
    BatchId HighestOpen { get; }

    /// <summary>A batch up to this one has a part on an actor that moves, and that is not final (D2).</summary>
    /// <param name="last">The last batch that is looked at.</param>
    bool HasOpenUpTo(BatchId last);

    /// <summary>
    /// An undo is taking ACTs back (A5): its next round may load an actor again that they had called.
    /// </summary>
    bool TakesActsBack { get; }

    /// <summary>Number of the newest record that was queued.</summary>
    long LastSequence { get; }

    /// <summary>Number of the newest record that the checkpointer has seen.</summary>
    long CheckpointedThrough { get; }

    /// <summary>
    /// An ACT that has called an actor which is frozen for the plan, and has not ended; none: there is none.
    /// </summary>
    /// <param name="plan">Id of the plan.</param>
    TransactionId FindVisitor(string plan);

    /// <summary>The ACT has not ended.</summary>
    bool IsUnderWay(TransactionId tid);
}
