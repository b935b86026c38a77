namespace Snapper.Protocol.Batches;

/// <summary>
/// Transactions of a batch that share declared actors, directly or through others of them (D1): the unit that
/// completes, becomes final and is taken back. No two components of a batch share an actor. Only the commit machine
/// changes it.
/// </summary>
/// <param name="batch">The batch that it belongs to.</param>
/// <param name="firstMember">Index of its first transaction in the batch.</param>
public sealed class Component(Batch batch, int firstMember)
{
    /// <summary>The batch that it belongs to.</summary>
    public Batch Batch { get; } = batch;

    /// <summary>Index of its first transaction; the others follow by <see cref="Batch.NextMember"/>.</summary>
    public int FirstMember { get; } = firstMember;

    /// <summary>Index of its first actor; the others follow by <see cref="Batch.NextSlot"/>.</summary>
    public int FirstSlot { get; internal set; }

    /// <summary>Actors whose completion is missing.</summary>
    public int Incomplete { get; internal set; }

    /// <summary>Transactions without result.</summary>
    public int Undecided { get; internal set; }

    /// <summary>Its changes have their place in the log's order, or nothing of it is left (A7).</summary>
    public bool IsFinal { get; internal set; }

    /// <summary>Everything is here: it is final when everything before it on its own actors is (D2).</summary>
    public bool IsComplete => Incomplete == 0;

    /// <summary>An undo has taken all its transactions out (A7).</summary>
    public bool IsEmpty
    {
        get
        {
            for (var member = FirstMember; member >= 0; member = Batch.NextMember(member))
            {
                if (Batch.StateOf(member) != MemberState.Removed)
                {
                    return false;
                }
            }

            return true;
        }
    }
}
