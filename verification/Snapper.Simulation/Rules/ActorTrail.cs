using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Simulation.Rules;

/// <summary>How a transaction has touched an actor.</summary>
internal enum TouchKind : byte
{
    /// <summary>Its code was let in.</summary>
    LetIn,

    /// <summary>It was given the state.</summary>
    Read,

    /// <summary>It replaced the state.</summary>
    Write,
}

/// <summary>One touch. Batch 0: of an ACT. State: what was written.</summary>
internal readonly record struct Touch(long Tid, long Bid, TouchKind Kind, object? State);

/// <summary>A PACT's turn on an actor, as its batch declares it and as it was seen.</summary>
internal sealed class Turn(in SubBatchEntry entry, BatchId bid)
{
    public long Tid { get; } = entry.Tid.Value;

    public long Bid { get; } = bid.Value;

    public int Declared { get; } = entry.Calls;

    /// <summary>Nobody else's turn comes before the outcome is known (A1); nor before the root's own (A2).</summary>
    public bool IsHeld { get; } = entry.Marked || entry.Ticket is not null;

    public int CallsBegun { get; set; }

    public int CallsEnded { get; set; }

    /// <summary>The number of calls that its root has told; -1: it has not ended.</summary>
    public int CallsInAll { get; set; } = -1;

    /// <summary>Removed, or aborted: what it began counts for nothing.</summary>
    public bool IsDead { get; set; }

    /// <summary>A2: the next one may have its turn.</summary>
    public bool IsOver => IsDead || (CallsBegun == CallsEnded && (CallsInAll >= 0 ? CallsEnded >= CallsInAll : !IsHeld && CallsEnded >= Declared));
}

/// <summary>
/// Everything that happened on one actor, in order, and what follows from it: which state it must have now. Nothing of it comes from the actor's own
/// before-images, cursors or counters.
/// </summary>
internal sealed class ActorTrail(ActorKey actor)
{
    private int _firstOpen;

    public ActorKey Actor { get; } = actor;

    /// <summary>Touches of transactions that are neither final nor taken back, oldest first.</summary>
    public List<Touch> Touches { get; } = [];

    /// <summary>Turns of batches that are not final, in their order.</summary>
    public List<Turn> Turns { get; } = [];

    /// <summary>ACTs that were let in and have not ended here.</summary>
    public HashSet<long> Acts { get; } = [];

    /// <summary>Who was removed or has ended here: no call of theirs may come in (A8, W3).</summary>
    public HashSet<long> Gone { get; } = [];

    /// <summary>Ends of PACTs that came before their batch.</summary>
    public Dictionary<long, (bool Committed, int Calls)> EarlyEnds { get; } = [];

    /// <summary>What each batch was last said to have changed.</summary>
    public Dictionary<long, Protocol.Batches.Change?> Completions { get; } = [];

    /// <summary>The state behind everything final, as an object, and its version (L7).</summary>
    public object? FinalState { get; set; }

    public long FinalVersion { get; set; }

    /// <summary>The PACT that was let in last.</summary>
    public long LastTid { get; set; }

    /// <summary>An undo has begun here and is not over.</summary>
    public bool IsFrozen { get; set; }

    /// <summary>The turn that stood open when the undo came; 0: none.</summary>
    public long TurnAtUndo { get; set; }

    /// <summary>The state as it must be: what was written last and not taken back.</summary>
    public object? State
    {
        get
        {
            for (var i = Touches.Count - 1; i >= 0; i--)
            {
                if (Touches[i].Kind == TouchKind.Write)
                {
                    return Touches[i].State;
                }
            }

            return FinalState;
        }
    }

    public void Note(long tid, long bid, TouchKind kind, object? state = null)
    {
        if (Touches.Count > 0 && Touches[^1] is var last && last.Tid == tid && last.Kind == kind)
        {
            Touches.RemoveAt(Touches.Count - 1);
        }

        Touches.Add(new Touch(tid, bid, kind, state));
    }

    public void Add(Turn turn)
    {
        var at = Turns.Count;
        while (at > 0 && Turns[at - 1].Tid > turn.Tid)
        {
            at--;
        }

        Turns.Insert(at, turn);
        _firstOpen = Math.Min(_firstOpen, at);
    }

    public Turn? TurnOf(long tid)
    {
        for (var i = Turns.Count - 1; i >= 0 && Turns[i].Tid >= tid; i--)
        {
            if (Turns[i].Tid == tid)
            {
                return Turns[i];
            }
        }

        return null;
    }

    /// <summary>The first turn that is not over, if it is before a number; null: none.</summary>
    public Turn? OpenBefore(long tid)
    {
        while (_firstOpen < Turns.Count && Turns[_firstOpen].Tid < tid)
        {
            if (!Turns[_firstOpen].IsOver)
            {
                return Turns[_firstOpen];
            }

            _firstOpen++;
        }

        return null;
    }

    /// <summary>Forgets the touches of a transaction; most have none left, and cost nothing then.</summary>
    public void Remove(long tid)
    {
        for (var i = Touches.Count - 1; i >= 0; i--)
        {
            if (Touches[i].Tid == tid)
            {
                Touches.RemoveAt(i);
            }
        }
    }

    /// <summary>The batch is final: it cannot be undone any more.</summary>
    public void Forget(long bid)
    {
        Touches.RemoveAll(touch => touch.Bid == bid);
        Turns.RemoveAll(turn => turn.Bid == bid);
        Completions.Remove(bid);
        _firstOpen = 0;
    }
}
