using Snapper.Protocol.Batches;

namespace Snapper.Protocol.Scheduling;

/// <summary>A PACT's entry in an actor's schedule: its turn and what it did in it.</summary>
public sealed class PactScheduleEntry(in SubBatchEntry entry, PlacedBatch batch) : Visit(entry.Tid)
{
    private int _finalCalls = -1;
    private bool _ended;

    /// <summary>The sub-batch it belongs to.</summary>
    public PlacedBatch Batch { get; } = batch;

    /// <summary>What it declared of the actor.</summary>
    public Access Access { get; } = entry.Access;

    /// <summary>Most calls it may make here.</summary>
    public int DeclaredCalls { get; } = entry.Calls;

    /// <summary>Holds its turn until it has ended (A1).</summary>
    public bool Marked { get; } = entry.Marked;

    /// <summary>The root's own entry.</summary>
    public bool IsRoot { get; } = entry.Ticket is not null;

    /// <summary>
    /// The request to start, on the root's actor; null once it was started: an actor keeps its entries until it is used
    /// again, and must not keep whole requests alive with them.
    /// </summary>
    public PactTicket? Ticket { get; private set; } = entry.Ticket;

    /// <summary>Its turn has begun.</summary>
    public bool Started { get; set; }

    /// <summary>Its root call was started.</summary>
    public bool IsRootStarted { get; set; }

    /// <summary>It was removed by an undo (A5): it has no effects and no outcome.</summary>
    public bool Removed { get; set; }

    /// <summary>Calls let in or waiting, the declared maximum is over all of them.</summary>
    public int Calls { get; set; }

    /// <summary>A2: <c>Ended</c> is here.</summary>
    public bool Ended => _ended;

    /// <summary>True when the turn can pass (A1, A2).</summary>
    /// <remarks>Reaching the count never ends the root's own entry: its actor reports when the root has returned.</remarks>
    public bool TurnIsOver =>
        Removed
        || (_ended
            ? EndedCalls >= _finalCalls
            : !Marked && !IsRoot && EndedCalls >= DeclaredCalls);

    /// <summary>Hands the request over to be started.</summary>
    public PactTicket? TakeTicket()
    {
        var ticket = Ticket;
        Ticket = null;
        return ticket;
    }

    /// <summary>The PACT has ended with so many calls on this actor (A2).</summary>
    public void End(int finalCalls)
    {
        _ended = true;
        _finalCalls = finalCalls;
    }
}
