using Snapper.Protocol.Identity;

namespace Snapper.Storage.Log.Records;

/// <summary>One record of a worker's log. Its sequence number is given by <see cref="Writing.LogWriter"/>.</summary>
public abstract class LogRecord
{
    private protected LogRecord()
    {
    }
}

/// <summary>A local batch: either the record is there or the batch never happened. Final (L1, L2).</summary>
public sealed class LocalBatchCommitted : LogRecord
{
    /// <summary>The batch.</summary>
    public required BatchId Batch { get; init; }

    /// <summary>Number of the batch's last transaction; numbering goes on above it after a restart (R1).</summary>
    public required TransactionId LastTransaction { get; init; }

    /// <summary>Changes of every actor that the batch changed; may be empty.</summary>
    public required IReadOnlyList<ActorChange> Changes { get; init; }

    /// <summary>Outcomes of its transactions, in tid order; transactions that need none are left out.</summary>
    public required IReadOnlyList<OutcomeRecord> Outcomes { get; init; }
}

/// <summary>An ACT whose root is here, alone or with other workers. Final (L1, H3); for those workers it is the decision (R).</summary>
public sealed class ActCommitted : LogRecord
{
    /// <summary>The last attempt's number.</summary>
    public required TransactionId Transaction { get; init; }

    /// <summary>Changes of this worker's actors; may be empty (an outcome alone).</summary>
    public required IReadOnlyList<ActorChange> Changes { get; init; }

    /// <summary>Numbers of the other workers that take part; they ask this stream when they are in doubt. Empty: this worker alone.</summary>
    public IReadOnlyList<int> Participants { get; init; } = [];

    /// <summary>Its outcome; null when none needs to be kept.</summary>
    public required OutcomeRecord? Outcome { get; init; }
}

/// <summary>A change of one actor: its version after it (contiguous per actor, L7) and the fields that it sets or deletes.</summary>
/// <param name="Actor">The actor.</param>
/// <param name="Version">Number of committed changes including this one, 1 or more.</param>
/// <param name="Fields">At least one. A plain actor has the one field <c>state</c>.</param>
public sealed record ActorChange(ActorKey Actor, long Version, IReadOnlyList<StateField> Fields);

/// <summary>A field of an actor's hash. <paramref name="Value"/> null: deleted.</summary>
/// <remarks>
/// Write <c>(ReadOnlyMemory&lt;byte&gt;?)null</c> in conditional expressions: the compiler takes a bare <c>null</c> beside a
/// <see cref="ReadOnlyMemory{T}"/> for an empty array, which sets the field to nothing instead of deleting it.
/// </remarks>
public readonly record struct StateField(string Name, ReadOnlyMemory<byte>? Value)
{
    /// <summary>The field of a plain actor's whole state, JSON.</summary>
    public const string WholeState = "state";
}
