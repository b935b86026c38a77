using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Wire;

/// <summary>A message from another worker, read.</summary>
internal abstract record WireMessage
{
    /// <summary>What it says.</summary>
    public abstract WireKind Kind { get; }

    /// <summary>Writes everything behind the kind.</summary>
    public abstract void Write(WireWriter writer);
}

/// <summary>A method call on an actor of the receiver.</summary>
/// <param name="Tid">The transaction: a PACT's global number, or an ACT's.</param>
/// <param name="Age">Age for wait-die.</param>
/// <param name="Root">The worker of the root.</param>
/// <param name="RootActor">The root actor; its type sets the turn bound.</param>
/// <param name="RootMethod">Its method.</param>
/// <param name="Facts">What contexts may know of the transaction.</param>
/// <param name="Id">Names the call at the sender.</param>
/// <param name="Chain">The calls above it that crossed workers, outermost first: a call back into one of them is let in.</param>
/// <param name="Depth">Calls above it, itself included.</param>
/// <param name="Target">The actor.</param>
/// <param name="Method">Its method.</param>
/// <param name="Input">The input as JSON.</param>
internal sealed record CallMessage(
    TransactionId Tid, TransactionId Age, Incarnation Root, ActorKey RootActor, string RootMethod, BranchFacts Facts, long Id, CallRef[] Chain, int Depth,
    ActorKey Target, string Method, byte[] Input) : WireMessage
{
    public override WireKind Kind => WireKind.Call;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Tid(Age);
        writer.Worker(Root);
        writer.Actor(RootActor);
        writer.Text(RootMethod);
        Facts.Write(writer);
        writer.Number(Id);
        writer.List(Chain, static (writer, call) =>
        {
            writer.Number(call.Worker);
            writer.Number(call.Id);
        });
        writer.Number(Depth);
        writer.Actor(Target);
        writer.Text(Method);
        writer.Bytes(Input);
    }

    public static CallMessage Read(ref WireReader reader)
    {
        var tid = reader.Tid();
        var age = reader.Tid();
        var root = reader.Worker();
        var rootActor = reader.Actor();
        var rootMethod = reader.Name();
        var facts = BranchFacts.Read(ref reader);
        var id = reader.Number();
        var chain = reader.List(2, static (ref WireReader reader) => new CallRef(reader.Int(), reader.Number()));
        return new CallMessage(
            tid, age, root, rootActor, rootMethod, facts, id, chain, reader.Int(), reader.Actor(), reader.Name(), reader.Bytes());
    }
}

/// <summary>What contexts may know of a transaction whose root is elsewhere.</summary>
/// <param name="RequestId">Id of the request.</param>
/// <param name="StartedAtTicks">When the attempt began, UTC ticks: <c>Context.UtcNow</c> on all workers.</param>
/// <param name="Caller">Who asked; null: unknown.</param>
/// <param name="TraceParent">W3C trace context; null: none.</param>
/// <param name="TraceState">What goes along with it; null: nothing.</param>
internal sealed record BranchFacts(string RequestId, long StartedAtTicks, string? Caller, string? TraceParent, string? TraceState = null)
{
    public void Write(WireWriter writer)
    {
        writer.Text(RequestId);
        writer.Number(StartedAtTicks);
        writer.OptionalText(Caller);
        writer.OptionalText(TraceParent);
        writer.OptionalText(TraceState);
    }

    public static BranchFacts Read(ref WireReader reader) => new(
        reader.Text(), reader.Moment(), reader.OptionalText(), reader.OptionalText(), reader.OptionalText());
}

/// <summary>A call has ended, with all calls under it.</summary>
/// <param name="Id">Names the call at the receiver.</param>
/// <param name="Failure">Null: it succeeded.</param>
/// <param name="Result">The result as JSON; empty when the method returns nothing.</param>
/// <param name="Calls">Calls made by it and under it, by index of the declaration (PACT); empty for an ACT.</param>
/// <param name="Visited">Workers that those calls have visited (ACT).</param>
internal sealed record ResultMessage(long Id, BranchFailure? Failure, byte[] Result, int[] Calls, Incarnation[] Visited) : WireMessage
{
    public override WireKind Kind => WireKind.Result;

    public override void Write(WireWriter writer)
    {
        writer.Number(Id);
        writer.Flag(Failure is not null);
        Failure?.Write(writer);
        writer.Bytes(Result);
        writer.List(Calls, static (writer, calls) => writer.Number(calls));
        writer.Workers(Visited);
    }

    public static ResultMessage Read(ref WireReader reader) => new(
        reader.Number(), reader.Flag() ? BranchFailure.Read(ref reader) : null, reader.Bytes(),
        reader.List(1, static (ref WireReader reader) => reader.Int()), reader.Workers());
}

/// <summary>Why a transaction must end.</summary>
internal sealed record BranchFailure(AbortReason Reason, string Message, ActorKey? Actor, long Blocker)
{
    public void Write(WireWriter writer)
    {
        writer.Byte((byte)Reason);
        writer.Text(Message);
        writer.Flag(Actor is not null);
        if (Actor is not null)
        {
            writer.Actor(Actor);
        }

        writer.Number(Blocker);
    }

    public static BranchFailure Read(ref WireReader reader)
    {
        var reason = (AbortReason)reader.Byte();
        return reason is > AbortReason.None and <= AbortReason.Undone
            ? new BranchFailure(reason, reader.Text(), reader.Flag() ? reader.Actor() : null, reader.Number())
            : throw new WireFormatException($"an abort reason {(byte)reason}");
    }
}

/// <summary>To the worker of the root: its branch has failed, or must go.</summary>
internal sealed record BranchFailedMessage(TransactionId Tid, BranchFailure Failure) : WireMessage
{
    public override WireKind Kind => WireKind.BranchFailed;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        Failure.Write(writer);
    }

    public static BranchFailedMessage Read(ref WireReader reader) => new(reader.Tid(), BranchFailure.Read(ref reader));
}

/// <summary>A PACT has ended on one of the receiver's actors (A2).</summary>
internal sealed record BranchEndedMessage(TransactionId Tid, ActorKey Actor, bool Committed, int Calls) : WireMessage
{
    public override WireKind Kind => WireKind.BranchEnded;

    public override void Write(WireWriter writer)
    {
        writer.Tid(Tid);
        writer.Actor(Actor);
        writer.Flag(Committed);
        writer.Number(Calls);
    }

    public static BranchEndedMessage Read(ref WireReader reader) => new(reader.Tid(), reader.Actor(), reader.Flag(), reader.Int());
}
