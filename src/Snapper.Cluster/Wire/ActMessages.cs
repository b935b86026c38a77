using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Cluster.Wire;

/// <summary>To a worker of an ACT: vote when everything before it there is final (H3).</summary>
/// <param name="Tid">The ACT.</param>
/// <param name="Committed">False: it aborted by itself; the vote says that this rests on nothing that can be undone (H7).</param>
/// <param name="IsRecorded">The caller wants to know what it touched.</param>
internal sealed record ActPrepareMessage(TransactionId Tid, bool Committed, bool IsRecorded) : WireMessage
{
    public override WireKind Kind => WireKind.ActPrepare;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Flag(Committed);
        writer.Flag(IsRecorded);
    }

    public static ActPrepareMessage Read(ref WireReader reader) => new(reader.Tid(), reader.Flag(), reader.Flag());
}

/// <summary>To the worker of the root: a vote.</summary>
/// <param name="Tid">The ACT.</param>
/// <param name="Yes">False: its part there is lost.</param>
/// <param name="Unfit">Why a change there cannot be kept; null: it can.</param>
/// <param name="Visited">Workers that it has called from there.</param>
/// <param name="Touched">What it has called there, if that is wanted.</param>
internal sealed record ActVotedMessage(TransactionId Tid, bool Yes, BranchFailure? Unfit, Incarnation[] Visited, DeclaredAccess[] Touched) : WireMessage
{
    public override WireKind Kind => WireKind.ActVoted;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Flag(Yes);
        writer.Flag(Unfit is not null);
        Unfit?.Write(writer);
        writer.Workers(Visited);
        Accesses.Write(writer, Touched);
    }

    public static ActVotedMessage Read(ref WireReader reader) =>
        new(reader.Tid(), reader.Flag(), reader.Flag() ? BranchFailure.Read(ref reader) : null, reader.Workers(), Accesses.Read(ref reader));
}

/// <summary>To a worker of an ACT: the decision.</summary>
internal sealed record ActDecidedMessage(TransactionId Tid, bool Committed) : WireMessage
{
    public override WireKind Kind => WireKind.ActDecided;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Flag(Committed);
    }

    public static ActDecidedMessage Read(ref WireReader reader) => new(reader.Tid(), reader.Flag());
}

/// <summary>To a worker of an ACT: it is aborted, there and wherever it went from there.</summary>
internal sealed record ActAbortMessage(TransactionId Tid) : WireMessage
{
    public override WireKind Kind => WireKind.ActAbort;

    public override void Write(WireWriter writer) => writer.Tid(Tid);

    public static ActAbortMessage Read(ref WireReader reader) => new(reader.Tid());
}

/// <summary>To the worker of the root: the marker of a decided ACT is durable; nobody there will ask for the decision any more.</summary>
internal sealed record ActMarkedMessage(TransactionId Tid) : WireMessage
{
    public override WireKind Kind => WireKind.ActMarked;

    public override void Write(WireWriter writer) => writer.Tid(Tid);

    public static ActMarkedMessage Read(ref WireReader reader) => new(reader.Tid());
}

/// <summary>To the worker of the root: where the sender sees an ACT among the global batches (H6).</summary>
/// <param name="Tid">The ACT.</param>
/// <param name="Floor">gfloor; none: no global batch is ahead of it there.</param>
/// <param name="Ceil">gceil; none: no global batch is behind it there.</param>
internal sealed record ActBoundsMessage(TransactionId Tid, BatchId Floor, BatchId Ceil) : WireMessage
{
    public override WireKind Kind => WireKind.ActBounds;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Bid(Floor);
        writer.Bid(Ceil);
    }

    public static ActBoundsMessage Read(ref WireReader reader) => new(reader.Tid(), reader.Bid(), reader.Bid());
}

/// <summary>To the worker of the root: others have waited for long behind an ACT, perhaps in a ring over several workers (H6).</summary>
internal sealed record ActLongWaitMessage(TransactionId Tid) : WireMessage
{
    public override WireKind Kind => WireKind.ActLongWait;

    public override void Write(WireWriter writer) => writer.Tid(Tid);

    public static ActLongWaitMessage Read(ref WireReader reader) => new(reader.Tid());
}
