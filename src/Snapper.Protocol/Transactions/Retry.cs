using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Transactions;

/// <summary>
/// W2: an ACT that was aborted for a conflict is run again with the age of its first attempt, until its deadline:
/// after the end of the ACT whose lock it was refused, or, without one, after a pause. PACTs are not repeated here: an
/// undo numbers them anew (A4).
/// </summary>
public static class Retry
{
    private const int MostDoublings = 4;

    /// <summary>The system runs a transaction again that was aborted for this.</summary>
    public static bool IsRepeated(AbortReason reason) =>
        reason is AbortReason.Conflict or AbortReason.Deadlock or AbortReason.Serializability or AbortReason.Migration
            or AbortReason.Undone;

    /// <summary>The age of the next attempt of an ACT, which gets this number.</summary>
    public static TransactionId AgeOf(Transaction transaction, TransactionId tid)
    {
        if (transaction.Age == TransactionId.None)
        {
            transaction.Age = tid;
        }

        return transaction.Age;
    }

    /// <summary>
    /// The longest pause before the next attempt; the shell draws one up to it, so that two that meet do not meet
    /// again.
    /// </summary>
    /// <param name="attempts">Attempts so far.</param>
    /// <param name="first">The longest pause after the first one.</param>
    public static int LongestPause(int attempts, int first) => first << Math.Min(attempts - 1, MostDoublings);
}

/// <summary>Transactions that were refused a lock of an attempt, until it has given its locks back.</summary>
public struct EndWaiters<TTransaction>
    where TTransaction : Transaction
{
    private static readonly List<TTransaction> s_ended = [];

    private List<TTransaction>? _waiting; // or s_ended: a flag would make each attempt larger

    /// <summary>Keeps a transaction.</summary>
    /// <returns>False: the locks are given back already.</returns>
    public bool TryAdd(TTransaction transaction)
    {
        if (_waiting == s_ended)
        {
            return false;
        }

        (_waiting ??= []).Add(transaction);
        return true;
    }

    /// <summary>
    /// The locks are given back. Those who waited for that, in the order in which they run again: the oldest last, so
    /// that it waits for the others instead of having them abort (W1).
    /// </summary>
    public List<TTransaction>? Take()
    {
        var waiting = _waiting;
        _waiting = s_ended;
        if (waiting is null || waiting == s_ended)
        {
            return null;
        }

        waiting.Sort(static (left, right) => right.Age.CompareTo(left.Age));
        return waiting;
    }
}
