using Snapper.Protocol.Batches;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>What only one master reads.</summary>
/// <param name="MasterEpoch">The master that it is for; another one ignores it.</param>
internal abstract record ForMasterMessage(long MasterEpoch) : WireMessage;

/// <summary>A PACT over several workers asks the master for a number.</summary>
/// <param name="MasterEpoch">The master that it is for; another one ignores it: the request is sent again to each new master.</param>
/// <param name="Pact">The PACT.</param>
internal sealed record NewPactMessage(long MasterEpoch, GlobalPact Pact) : ForMasterMessage(MasterEpoch)
{
    public override WireKind Kind => WireKind.NewPact;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        Pacts.Write(writer, Pact);
        writer.OptionalText(Pact.Caller);
    }

    public static NewPactMessage Read(ref WireReader reader) =>
        new(reader.Number(), Pacts.Read(ref reader) with { Caller = reader.OptionalText() });
}

/// <summary>A short message to the master.</summary>
/// <param name="MasterEpoch">The master that it is for; another one ignores it.</param>
/// <param name="Message">The message.</param>
internal sealed record ToMasterMessage(long MasterEpoch, GlobalMessage Message) : ForMasterMessage(MasterEpoch)
{
    public override WireKind Kind => WireKind.ToMaster;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        writer.Byte((byte)Message.Kind);
        writer.Bid(Message.Bid);
        writer.Number(Message.Value);
        writer.Number(Message.Count);
        writer.Worker(Message.About);
    }

    /// <param name="reader">The message.</param>
    /// <param name="from">Who sent it: it speaks for itself alone.</param>
    public static ToMasterMessage Read(ref WireReader reader, Incarnation from)
    {
        var epoch = reader.Number();
        var kind = (GlobalMessageKind)reader.Byte();
        return kind is GlobalMessageKind.Withdraw or GlobalMessageKind.PartPrepared or GlobalMessageKind.PartMarked or GlobalMessageKind.Failed
                or GlobalMessageKind.UndoReport or GlobalMessageKind.Undone or GlobalMessageKind.InDoubt or GlobalMessageKind.StreamResolved
            ? new ToMasterMessage(epoch, new GlobalMessage(kind, from, reader.Bid(), reader.Number(), reader.Int(), null, reader.Worker()))
            : throw new WireFormatException($"a message {(byte)kind} to the master");
    }
}

/// <summary>A worker's part of a global batch.</summary>
/// <param name="MasterEpoch">Epoch of the master that sends it; older ones are refused (R3).</param>
/// <param name="Part">The part.</param>
internal sealed record PartMessage(long MasterEpoch, GlobalPart Part) : WireMessage
{
    public override WireKind Kind => WireKind.Part;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        writer.Bid(Part.Bid);
        writer.Bid(Part.Previous);
        writer.List(Part.Members, static (writer, member) =>
        {
            writer.Tid(member.Tid);
            Pacts.Write(writer, member.Pact);
            foreach (var owner in member.Owners)
            {
                writer.Worker(owner);
            }
        });
    }

    public static PartMessage Read(ref WireReader reader)
    {
        var epoch = reader.Number();
        var bid = reader.Bid();
        var previous = reader.Bid();
        var members = reader.List(12, static (ref WireReader reader) =>
        {
            var tid = reader.Tid();
            var pact = Pacts.Read(ref reader);
            var owners = new Incarnation[pact.Declared.Length];
            for (var o = 0; o < owners.Length; o++)
            {
                owners[o] = reader.Worker();
            }

            return new GlobalMember(tid, pact, owners);
        });
        return members.Length > 0 ? new PartMessage(epoch, new GlobalPart(bid, previous, members)) : throw new WireFormatException("a global batch without transactions");
    }
}

/// <summary>A short message of the master.</summary>
/// <param name="MasterEpoch">As in <see cref="PartMessage"/>.</param>
/// <param name="Output">What it says; <c>Body</c> is the actor of a request that goes back.</param>
internal sealed record FromMasterMessage(long MasterEpoch, GlobalOutput Output) : WireMessage
{
    public override WireKind Kind => WireKind.FromMaster;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        writer.Byte((byte)Output.Kind);
        writer.Bid(Output.Bid);
        writer.Number(Output.Value);
        writer.Number(Output.Count);
        writer.Flag(Output.Flag);
        writer.Flag(Output.Body is ActorKey);
        if (Output.Body is ActorKey actor)
        {
            writer.Actor(actor);
        }
    }

    public static FromMasterMessage Read(ref WireReader reader)
    {
        var epoch = reader.Number();
        var kind = (GlobalOutputKind)reader.Byte();
        if (kind is GlobalOutputKind.SendPart or GlobalOutputKind.Append or > GlobalOutputKind.Append)
        {
            throw new WireFormatException($"a message {(byte)kind} of the master");
        }

        return new FromMasterMessage(
            epoch, new GlobalOutput(kind, default, reader.Bid(), reader.Number(), reader.Int(), reader.Flag(), reader.Flag() ? reader.Actor() : null));
    }
}

/// <summary>PACTs on the road.</summary>
internal static class Pacts
{
    public static void Write(WireWriter writer, GlobalPact pact)
    {
        writer.Worker(pact.Root);
        writer.Number(pact.Handle);
        writer.Flag(pact.Marked);
        writer.Number(pact.Declared.Length);
        var root = 0;
        for (var i = 0; i < pact.Declared.Length; i++)
        {
            writer.Actor(pact.Declared[i].Actor);
            writer.Number(pact.Declared[i].Calls);
            if (pact.Declared[i].Actor.Equals(pact.RootActor))
            {
                root = i;
            }
        }

        writer.Number(root);
    }

    public static GlobalPact Read(ref WireReader reader)
    {
        var owner = reader.Worker();
        var handle = reader.Number();
        var marked = reader.Flag();
        var declared = reader.List(
            5, static (ref WireReader reader) => new ActorAccess(reader.Actor(), Access.Whole, reader.Int()));
        var root = reader.Int();
        OnceEach.Checked(declared, static access => access.Actor);
        return root < declared.Length
            ? new GlobalPact(owner, handle, declared[root].Actor, declared, marked)
            : throw new WireFormatException($"a root {root} among {declared.Length} actors");
    }
}
