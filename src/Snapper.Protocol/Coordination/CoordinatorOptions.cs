namespace Snapper.Protocol.Coordination;

/// <summary>When a batch closes.</summary>
/// <param name="TransactionsPerBatch">Most transactions of a batch, 1 or more.</param>
/// <param name="OpenBatches">
/// Batches that hold back the next one at which none is formed, 1 or more. One does until half of it is durable, or one
/// of its transactions turns out to wait for something else. 2 lets one execute while the log writes the one before it;
/// more makes batches smaller without making anything faster.
/// </param>
public sealed record CoordinatorOptions(int TransactionsPerBatch = 512, int OpenBatches = 2)
{
    /// <summary>
    /// Most actors that the transactions of a batch declare, if it has more than one: what came from outside waits on
    /// the executors until a batch was handed out to its actors.
    /// </summary>
    public int AccessesPerBatch { get; init; } = Math.Min(1024, 2 * TransactionsPerBatch);

    /// <summary>Decides where the protocol leaves a choice.</summary>
    internal SchedulingPolicy SchedulingPolicy { get; init; }
}
