using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Cluster.Wire;

/// <summary>A request that came to the sender, and whose root the receiver owns as far as the sender knows.</summary>
/// <param name="Handle">Names it at the sender.</param>
/// <param name="Hops">How often it was passed on before.</param>
/// <param name="Request">The request, with what is left of its timeout.</param>
internal sealed record SubmitMessage(long Handle, int Hops, TransactionRequest Request) : WireMessage
{
    // In the place of the mode: the root's method has declared the access set that follows; or could not, and why
    // follows.
    private const byte Declared = 2;
    private const byte Undeclared = 3;

    public override WireKind Kind => WireKind.Submit;

    /// <summary>The same, when it has waited at its sender: so much less is left of its timeout, zero at least.</summary>
    public SubmitMessage Later(TimeSpan waited) =>
        this with { Request = Request with { Timeout = TimeSpan.FromTicks(Math.Max(0, Request.Timeout.Ticks - waited.Ticks)) } };

    public override void Write(WireWriter writer)
    {
        writer.Number(Handle);
        writer.Number(Hops);
        writer.Actor(Request.Actor);
        writer.Text(Request.Method);
        writer.Bytes(Request.Input.Span);
        WriteMode(writer);
        writer.Byte((byte)Request.AccessMode);
        writer.Flag(Request.Access is not null);
        if (Request.Access is { } access)
        {
            Accesses.Write(writer, access);
        }

        writer.OptionalText(Request.Id);
        writer.Number(Request.Timeout.Ticks);
        writer.OptionalText(Request.Caller);
        writer.OptionalText(Request.CountedFor);
        writer.OptionalText(Request.TraceParent);
        writer.OptionalText(Request.TraceState);
    }

    // A worker of an older version refuses a message with these, which no older one sends.
    private void WriteMode(WireWriter writer)
    {
        if (Request.AccessSource != AccessSource.Method)
        {
            writer.Byte((byte)Request.Mode);
        }
        else if (Request.Undeclared is not { } why)
        {
            writer.Byte(Declared);
        }
        else
        {
            writer.Byte(Undeclared);
            Rejections.Write(writer, why);
        }
    }

    public static SubmitMessage Read(ref WireReader reader)
    {
        var handle = reader.Number();
        var hops = reader.Int();
        var actor = reader.Actor();
        var method = reader.Name();
        var input = reader.Bytes();
        var how = reader.Byte();
        var undeclared = how == Undeclared ? Rejections.Read(ref reader) : null;
        return new SubmitMessage(handle, hops, new TransactionRequest
        {
            Actor = actor,
            Method = method,
            Input = input,
            Mode = how switch
            {
                Declared => TransactionMode.Pact,
                Undeclared => TransactionMode.Act,
                _ => Enums.Read(how, TransactionMode.Act),
            },
            AccessSource = how is Declared or Undeclared ? AccessSource.Method : AccessSource.Request,
            Undeclared = undeclared,
            AccessMode = Enums.Read(reader.Byte(), AccessMode.Audit),
            Access = reader.Flag()
                ? OnceEach.Checked(Accesses.Read(ref reader), static declared => declared.Actor)
                : null,
            Id = reader.OptionalText(),
            Timeout = reader.Time(),
            Caller = reader.OptionalText(),
            CountedFor = reader.OptionalText(),
            TraceParent = reader.OptionalText(),
            TraceState = reader.OptionalText(),
        });
    }
}

/// <summary>What became of a request that was passed on, or of one that was asked for.</summary>
/// <param name="Handle">Names it at the receiver.</param>
/// <param name="Envelope">The answer; null: nothing is known of it (of one that was asked for).</param>
internal sealed record SubmittedMessage(long Handle, TransactionEnvelope? Envelope) : WireMessage
{
    public override WireKind Kind => WireKind.Submitted;

    public override void Write(WireWriter writer)
    {
        writer.Number(Handle);
        writer.Flag(Envelope is not null);
        if (Envelope is not { } envelope)
        {
            return;
        }

        writer.Text(envelope.Id);
        writer.Byte((byte)envelope.Outcome);
        writer.Byte((byte)envelope.Mode);
        writer.Number(envelope.Transaction);
        writer.Number(envelope.Batch);
        writer.Number(envelope.Attempts);
        writer.OptionalText(envelope.Worker);
        writer.Bytes(envelope.Result.Span);
        writer.Flag(envelope.IsResultDropped);
        writer.Flag(envelope.Abort is not null);
        if (envelope.Abort is { } abort)
        {
            writer.Byte((byte)abort.Reason);
            writer.Text(AbortCode.Join(abort.Message, abort.Code));
            writer.Flag(abort.Retryable);
            writer.Flag(abort.Actor is not null);
            if (abort.Actor is not null)
            {
                writer.Actor(abort.Actor);
            }
        }

        writer.Flag(envelope.Rejection is not null);
        if (envelope.Rejection is { } rejection)
        {
            Rejections.Write(writer, rejection);
        }

        writer.Flag(envelope.Touched is not null);
        if (envelope.Touched is { } touched)
        {
            Accesses.Write(writer, touched);
        }
    }

    public static SubmittedMessage Read(ref WireReader reader)
    {
        var handle = reader.Number();
        return !reader.Flag() ? new SubmittedMessage(handle, null) : new SubmittedMessage(handle, new TransactionEnvelope
        {
            Id = reader.Text(),
            Outcome = Enums.Read(reader.Byte(), Outcome.Rejected),
            Mode = Enums.Read(reader.Byte(), TransactionMode.Act),
            Transaction = reader.Number(),
            Batch = reader.Number(),
            Attempts = reader.Int(),
            Worker = reader.OptionalText(),
            Result = reader.Bytes(),
            IsResultDropped = reader.Flag(),
            Abort = reader.Flag() ? ReadAbort(ref reader) : null,
            Rejection = reader.Flag() ? Rejections.Read(ref reader) : null,
            Touched = reader.Flag() ? Accesses.Read(ref reader) : null,
        });
    }

    private static AbortDetails ReadAbort(ref WireReader reader)
    {
        var reason = Enums.Read(reader.Byte(), AbortReason.Undone);
        var (message, code) = AbortCode.Split(reader.Text());
        return new AbortDetails(reason, message, reader.Flag(), reader.Flag() ? reader.Actor() : null) { Code = code };
    }
}

/// <summary>Refusals on the road.</summary>
internal static class Rejections
{
    public static void Write(WireWriter writer, Rejection rejection)
    {
        writer.Byte((byte)rejection.Kind);
        writer.Text(rejection.Detail);
        writer.Number(rejection.RetryAfter?.Ticks ?? 0);
    }

    public static Rejection Read(ref WireReader reader)
    {
        var kind = Enums.Read(reader.Byte(), RejectionKind.Unavailable);
        var detail = reader.Text();
        return new Rejection(kind, detail, reader.Number() is > 0 and var after ? TimeSpan.FromTicks(after) : null);
    }
}

/// <summary>What is known of a request's id? Answered by a <see cref="SubmittedMessage"/>.</summary>
internal sealed record FindOutcomeMessage(long Handle, string Id) : WireMessage
{
    public override WireKind Kind => WireKind.FindOutcome;

    public override void Write(WireWriter writer)
    {
        writer.Number(Handle);
        writer.Text(Id);
    }

    public static FindOutcomeMessage Read(ref WireReader reader) => new(reader.Number(), reader.Text());
}

/// <summary>Access sets on the road.</summary>
internal static class Accesses
{
    public static void Write(WireWriter writer, DeclaredAccess[] access) => writer.List(access, static (writer, one) =>
    {
        writer.Actor(one.Actor);
        writer.Number(one.Calls);
    });

    public static DeclaredAccess[] Read(ref WireReader reader) =>
        reader.List(5, static (ref WireReader reader) => new DeclaredAccess(reader.Actor(), reader.Int()));
}

/// <summary>
/// Lists of declared actors on the road. No door lets an actor stand in one twice: it would get the transaction twice,
/// and hear twice how it was decided, which ends a worker.
/// </summary>
internal static class OnceEach
{
    private const int ScannedMax = 16;

    /// <summary>The list, when each actor stands in it once.</summary>
    /// <param name="declared">The list.</param>
    /// <param name="actorOf">The actor of an element. Static, so that no message makes one.</param>
    /// <exception cref="WireFormatException">One stands in it twice.</exception>
    public static T[] Checked<T>(T[] declared, Func<T, ActorKey> actorOf)
    {
        var seen = declared.Length > ScannedMax ? new HashSet<ActorKey>(declared.Length) : null;
        for (var i = 0; i < declared.Length; i++)
        {
            var actor = actorOf(declared[i]);
            var isKnown = seen is not null && !seen.Add(actor);
            for (var before = 0; seen is null && before < i; before++)
            {
                isKnown |= actorOf(declared[before]).Equals(actor);
            }

            if (isKnown)
            {
                throw new WireFormatException($"{actor} is declared twice");
            }
        }

        return declared;
    }
}

/// <summary>Enumerations on the road: numbers that this program does not know are refused.</summary>
internal static class Enums
{
    public static T Read<T>(byte value, T last)
        where T : struct, Enum
    {
        var most = (byte)(object)last;
        return value <= most ? (T)(object)value : throw new WireFormatException($"a {typeof(T).Name} {value}");
    }
}
