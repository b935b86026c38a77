using System.Globalization;

namespace Snapper.Protocol.Identity;

/// <summary>
/// Number of one attempt of a transaction (tid). PACTs count from 1 in the order of their worker's batches; PACTs over several workers have a global number beside
/// (gtid): (master epoch, counter), above all local ones (R1). ACTs are (Lamport counter, worker), so that they are unique and totally ordered by age without a
/// master (W1), and above both.
/// </summary>
/// <remarks>Below 2^53 in all, so that JSON readers that use doubles see it exactly. The default value means "none".</remarks>
public readonly record struct TransactionId(long Value) : IComparable<TransactionId>
{
    private const long FirstAct = 1L << 52;
    private const long FirstGlobal = 1L << 51;
    private const int GlobalCounterBits = 31;

    /// <summary>Global numbers of one master epoch.</summary>
    public const long GlobalCounterLimit = 1L << GlobalCounterBits;

    /// <summary>Master epochs that a global number can name.</summary>
    public const long MasterEpochLimit = 1L << 20;

    /// <summary>Most workers that an ACT's number can name.</summary>
    public const int WorkerLimit = 1 << 10;

    /// <summary>No transaction.</summary>
    public static TransactionId None => default;

    /// <summary>True for an ACT's number.</summary>
    public bool IsAct => Value >= FirstAct;

    /// <summary>True for the global number of a PACT.</summary>
    public bool IsGlobal => Value is >= FirstGlobal and < FirstAct;

    /// <summary>The master epoch of a global number; 0 for others.</summary>
    public long MasterEpoch => IsGlobal ? (Value - FirstGlobal) >> GlobalCounterBits : 0;

    /// <summary>A global number (R1).</summary>
    /// <param name="masterEpoch">Epoch of the master that gives it, 1..<see cref="MasterEpochLimit"/>-1.</param>
    /// <param name="counter">Counter of that master, 0..<see cref="GlobalCounterLimit"/>-1.</param>
    public static TransactionId Global(long masterEpoch, long counter)
    {
        if (masterEpoch is < 1 or >= MasterEpochLimit || counter is < 0 or >= GlobalCounterLimit)
        {
            throw new ProtocolViolationException($"Global number out of range: master epoch {masterEpoch}, counter {counter}.");
        }

        return new TransactionId(FirstGlobal + (masterEpoch << GlobalCounterBits) + counter);
    }

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

    /// <summary>The worker that gave an ACT's number; 0 for a PACT.</summary>
    public int Worker => IsAct ? (int)((Value - FirstAct) % WorkerLimit) : 0;

    /// <summary>True when this attempt is older (smaller) than the other.</summary>
    public bool IsOlderThan(TransactionId other) => Value < other.Value;

    /// <inheritdoc/>
    public int CompareTo(TransactionId other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
