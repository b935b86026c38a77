using System.Globalization;

namespace Snapper.Protocol.Identity;

/// <summary>
/// Number of one attempt of a transaction (tid). PACTs count from 1 in the order of their batches; ACTs are
/// (Lamport counter, worker), so that they are unique and totally ordered by age without a master (protocol W1).
/// </summary>
/// <remarks>Below 2^53 in all, so that JSON readers that use doubles see it exactly. The default value means "none".</remarks>
public readonly record struct TransactionId(long Value) : IComparable<TransactionId>
{
    private const long FirstAct = 1L << 52;

    /// <summary>Most workers that an ACT's number can name.</summary>
    public const int WorkerLimit = 1 << 10;

    /// <summary>No transaction.</summary>
    public static TransactionId None => default;

    /// <summary>True for an ACT's number.</summary>
    public bool IsAct => Value >= FirstAct;

    /// <summary>The number of an ACT.</summary>
    /// <param name="counter">Lamport counter, 0..2^42-1.</param>
    /// <param name="worker">Number of the worker, 0..<see cref="WorkerLimit"/>-1.</param>
    public static TransactionId Act(long counter, int worker)
    {
        if (counter is < 0 or >= 1L << 42 || worker is < 0 or >= WorkerLimit)
        {
            throw new ProtocolViolationException($"ACT number out of range: counter {counter}, worker {worker}.");
        }

        return new TransactionId(FirstAct + (counter * WorkerLimit) + worker);
    }

    /// <summary>The Lamport counter of an ACT's number; 0 for a PACT.</summary>
    public long Counter => IsAct ? (Value - FirstAct) / WorkerLimit : 0;

    /// <summary>True when this attempt is older (smaller) than the other.</summary>
    public bool IsOlderThan(TransactionId other) => Value < other.Value;

    /// <inheritdoc/>
    public int CompareTo(TransactionId other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
