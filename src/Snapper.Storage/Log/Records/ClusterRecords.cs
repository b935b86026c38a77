using Snapper.Protocol.Identity;

namespace Snapper.Storage.Log.Records;

/// <summary>A worker's part of a global batch, complete and prepared; conditional until its <see cref="Decided"/> (R). Durable before it is acknowledged to the master.</summary>
public sealed class Prepared : LogRecord
{
    /// <summary>The global batch (gbid).</summary>
    public required BatchId Global { get; init; }

    /// <summary>This worker's number of it.</summary>
    public required BatchId Batch { get; init; }

    /// <summary>This worker's number of its last transaction; numbering goes on above it after a restart (R1).</summary>
    public required TransactionId LastTransaction { get; init; }

    /// <summary>Changes of this worker's actors; their versions are 0 until the marker gives them (L7).</summary>
    public required IReadOnlyList<ActorChange> Changes { get; init; }

    /// <summary>Outcomes of the transactions whose roots are here, true if the batch is committed.</summary>
    public required IReadOnlyList<OutcomeRecord> Outcomes { get; init; }
}

/// <summary>The marker of a <see cref="Prepared"/>: what became of it. Nobody waits for it; it lets checkpointing and trimming go on.</summary>
public sealed class Decided : LogRecord
{
    /// <summary>The global batch.</summary>
    public required BatchId Global { get; init; }

    /// <summary>False: the batch was lost (A9); its changes and outcomes never were.</summary>
    public required bool Committed { get; init; }

    /// <summary>
    /// Versions of the changes of its <see cref="Prepared"/>, in the same order; empty when it was lost. 0: it has
    /// none yet, and a later marker gives it (R4).
    /// </summary>
    public required IReadOnlyList<long> Versions { get; init; }
}

/// <summary>The master's decision to commit a global batch, in the global stream. Durable before anybody hears of it; an abort is presumed (R1).</summary>
public sealed class Decision : LogRecord
{
    /// <summary>The global batch.</summary>
    public required BatchId Global { get; init; }
}

/// <summary>A worker's part of an ACT whose root is elsewhere, also of one that only read (H2); conditional until its <see cref="ActEnded"/>. Durable before the vote.</summary>
public sealed class ActPrepared : LogRecord
{
    /// <summary>The ACT.</summary>
    public required TransactionId Transaction { get; init; }

    /// <summary>The worker of its root, whose stream decides.</summary>
    public required Incarnation Root { get; init; }

    /// <summary>Changes of this worker's actors, their versions 0; none if it only read: no actor of the stream opens before it is resolved all the same (H2).</summary>
    public required IReadOnlyList<ActorChange> Changes { get; init; }
}

/// <summary>The marker of an <see cref="ActPrepared"/>.</summary>
public sealed class ActEnded : LogRecord
{
    /// <summary>The ACT.</summary>
    public required TransactionId Transaction { get; init; }

    /// <summary>False: it was aborted.</summary>
    public required bool Committed { get; init; }

    /// <summary>
    /// Versions of the changes of its <see cref="ActPrepared"/>, in the same order; empty when it was aborted. 0: it
    /// has none yet, and a later marker gives it (R4).
    /// </summary>
    public required IReadOnlyList<long> Versions { get; init; }
}

/// <summary>An actor that came from another worker (M5). It counts once the plan is done (M6), and is ignored otherwise.</summary>
public sealed class MovedIn : LogRecord
{
    /// <summary>The plan (M2).</summary>
    public required string Plan { get; init; }

    /// <summary>The actor.</summary>
    public required ActorKey Actor { get; init; }

    /// <summary>Its version; 0: it was never written.</summary>
    public required long Version { get; init; }

    /// <summary>Its state; empty when it was never written.</summary>
    public required IReadOnlyList<StateField> Fields { get; init; }

    /// <summary>Recent outcomes of requests whose root it is (I2).</summary>
    public required IReadOnlyList<OutcomeRecord> Outcomes { get; init; }
}
