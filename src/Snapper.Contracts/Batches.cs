namespace Snapper.Contracts;

/// <summary><c>GET /v1/batches</c>.</summary>
public sealed record BatchesView
{
    /// <summary>The newest first.</summary>
    public IReadOnlyList<BatchView> Batches { get => field ?? []; init; }
}

/// <summary>A batch, with its phase times in milliseconds since it was formed; null: not yet.</summary>
/// <param name="Batch">Its number.</param>
/// <param name="PreviousBatch">Number of the one before it; 0: none.</param>
/// <param name="Transactions">How many it holds.</param>
/// <param name="Actors">How many it touches.</param>
/// <param name="State"><c>executing</c>, <c>complete</c>, <c>queued</c>, <c>committed</c> or <c>aborted</c>.</param>
/// <param name="FormedAtMs">When it was formed, Unix milliseconds.</param>
/// <param name="CompletedMs">All its actors had acknowledged.</param>
/// <param name="QueuedMs">It was final: its record was queued in the log.</param>
/// <param name="CommittedMs">It was durable.</param>
public sealed record BatchView(
    long Batch = 0, long PreviousBatch = 0, int Transactions = 0, int Actors = 0, string State = "",
    long FormedAtMs = 0,
    double? CompletedMs = null, double? QueuedMs = null, double? CommittedMs = null)
{
    /// <summary>Actors that have not acknowledged, as <c>type/id</c>.</summary>
    public IReadOnlyList<string> WaitingFor { get => field ?? []; init; }

    /// <summary>
    /// How many components it is divided into: transactions that share actors, directly or through others, which
    /// commit together; 0: it is not announced yet.
    /// </summary>
    public int Components { get; init; }

    /// <summary>Those of them that are not final, at most 100, in the order of their first transactions.</summary>
    public IReadOnlyList<ComponentView> OpenComponents { get => field ?? []; init; }

    /// <summary>Number of the batch over several workers that this is a part of; null: it is this worker's
    /// alone.</summary>
    public long? GlobalBatch { get; init; }

    /// <summary>Its part is prepared and durable, so that it waits for the decision; null: not yet, or it is no
    /// part.</summary>
    public double? PreparedMs { get; init; }

    /// <summary>
    /// The actor whose acknowledgement came last, as <c>type/id</c>; null: some are missing still. What an undo takes
    /// back, and what comes again after it, does not count.
    /// </summary>
    public string? LastActor { get; init; }

    /// <summary>The actor whose acknowledgement came before that; null: some are missing still, or it is the only
    /// actor.</summary>
    public string? BeforeLastActor { get; init; }

    /// <summary>How long after that one the last one came, in milliseconds; null as above.</summary>
    public double? LastActorAfterMs { get; init; }

    /// <summary>What it waited for longest, a name of <see cref="Contracts.HeldBackBy"/>; null: it is not
    /// over.</summary>
    public string? HeldBackBy { get; init; }

    /// <summary>How long that was, in milliseconds; null: it is not over.</summary>
    public double? HeldBackMs { get; init; }
}

/// <summary>A component of a batch that is not final.</summary>
/// <param name="FirstTransaction">Number of its first transaction.</param>
/// <param name="Transactions">How many it holds.</param>
/// <param name="Actors">How many it touches.</param>
public sealed record ComponentView(long FirstTransaction = 0, int Transactions = 0, int Actors = 0)
{
    /// <summary>Actors that have not acknowledged, as <c>type/id</c>.</summary>
    public IReadOnlyList<string> WaitingFor { get => field ?? []; init; }

    /// <summary>Numbers of the batches before it on its actors that are not final.</summary>
    public IReadOnlyList<long> Behind { get => field ?? []; init; }
}

/// <summary>What a batch waited for longest between forming and commit. Newer workers may have further names.</summary>
public static class HeldBackBy
{
    /// <summary>
    /// One actor: half of the time until all had acknowledged, or more, passed between the one before it and this last
    /// one; or it is the only one. Never said of a part of a global batch.
    /// </summary>
    public const string Actor = "actor";

    /// <summary>
    /// Its actors, all about together. Of a part of a global batch it is said also when one came late, or is the only
    /// one: a part cannot tell whether that one was slow or waited for calls to or from other workers.
    /// </summary>
    public const string Actors = "actors";

    /// <summary>
    /// What is before it on its actors, which becomes final first, or an undo that reached it: all from the first time
    /// that all its actors had acknowledged until its turn.
    /// </summary>
    public const string Batches = "batches";

    /// <summary>The decision about it and the global ones before it: for the parts of other workers, and the master's
    /// log.</summary>
    public const string Decision = "decision";

    /// <summary>The log of this worker.</summary>
    public const string Log = "log";
}
