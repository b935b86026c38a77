using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>Somebody recovers a stream in which something was prepared, and asks what became of it (R2).</summary>
/// <param name="Number">The global batch, or the ACT.</param>
/// <param name="Root">Of an ACT: the worker of its root, in the life in which it ran; nobody for a batch.</param>
internal sealed record OutcomeQueryMessage(long Number, Incarnation Root) : WireMessage
{
    public override WireKind Kind => WireKind.AskVerdict;

    public override void Write(WireWriter writer)
    {
        writer.Number(Number);
        writer.Worker(Root);
    }

    public static OutcomeQueryMessage Read(ref WireReader reader) => new(reader.Number(), reader.Worker());
}

/// <summary>What became of it. For good: whoever says that it was aborted has seen to it that it never commits.</summary>
internal sealed record VerdictMessage(long Number, bool Committed) : WireMessage
{
    public override WireKind Kind => WireKind.Verdict;

    public override void Write(WireWriter writer)
    {
        writer.Number(Number);
        writer.Flag(Committed);
    }

    public static VerdictMessage Read(ref WireReader reader) => new(reader.Number(), reader.Flag());
}

/// <summary>To a new master: no batch of an earlier one is open on this worker (R3).</summary>
internal sealed record SettledMessage(long MasterEpoch) : ForMasterMessage(MasterEpoch)
{
    public override WireKind Kind => WireKind.Settled;

    public override void Write(WireWriter writer) => writer.Number(MasterEpoch);

    public static SettledMessage Read(ref WireReader reader) => new(reader.Number());
}

/// <summary>To a new master: what earlier ones had decided for this worker has durable markers in its log, and is asked for no more (L8).</summary>
internal sealed record MarkedMessage(long MasterEpoch) : ForMasterMessage(MasterEpoch)
{
    public override WireKind Kind => WireKind.Marked;

    public override void Write(WireWriter writer) => writer.Number(MasterEpoch);

    public static MarkedMessage Read(ref WireReader reader) => new(reader.Number());
}
