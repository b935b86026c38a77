using Snapper.Fuzzing.Engine;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log.Records;

namespace Snapper.Fuzzing.Storage;

/// <summary>Any record that can be encoded; not only those that a worker writes.</summary>
internal sealed class RandomRecords(Random random)
{
    public LogRecord Record() => random.Next(8) switch
    {
        0 => new LocalBatchCommitted { Batch = new BatchId(Number()), LastTransaction = new TransactionId(Number()), Changes = Changes(), Outcomes = List(Outcome) },
        1 => new ActCommitted { Transaction = new TransactionId(Number()), Changes = Changes(), Outcome = random.Percent(50) ? null : Outcome(), Participants = List(Worker) },
        2 => new Prepared { Global = new BatchId(Number()), Batch = new BatchId(Number()), LastTransaction = new TransactionId(Number()), Changes = Changes(), Outcomes = List(Outcome) },
        3 => new Decided { Global = new BatchId(Number()), Committed = random.Percent(50), Versions = List(Number) },
        4 => new Decision { Global = new BatchId(Number()) },
        5 => new ActPrepared { Transaction = new TransactionId(Number()), Root = new Incarnation(Worker(), Number()), Changes = Changes() },
        6 => new ActEnded { Transaction = new TransactionId(Number()), Committed = random.Percent(50), Versions = List(Number) },
        _ => new MovedIn { Plan = Text(), Actor = Actor(), Version = Number(), Fields = List(Field), Outcomes = List(Outcome) },
    };

    private int Worker() => random.Next(1, 1024);

    public OutcomeRecord Outcome() => new()
    {
        RequestId = Text(),
        IsCallerKey = random.Percent(50),
        RequestHash = new UInt128((ulong)random.NextInt64(), (ulong)random.NextInt64()),
        IsAct = random.Percent(50),
        Transaction = new TransactionId(Number()),
        Batch = new BatchId(Number()),
        Attempts = random.Next(),
        AtUnixMs = Number(),
        Abort = (AbortReason)random.Next(Enum.GetValues<AbortReason>().Length),
        Payload = Bytes(),
        IsResultDropped = random.Percent(20),
        AbortActor = random.Percent(50) ? null : Actor(),
    };

    private List<ActorChange> Changes() => List(() => new ActorChange(Actor(), Number(), List(Field)));

    private StateField Field() => new(random.Percent(50) ? StateField.WholeState : Text(), random.Percent(25) ? (ReadOnlyMemory<byte>?)null : Bytes());

    private ActorKey Actor() => new("T" + Text(), "i" + Text());

    private List<T> List<T>(Func<T> make)
    {
        var list = new List<T>();
        for (var count = random.Percent(2) ? random.Next(300) : random.Next(4); count > 0; count--)
        {
            list.Add(make());
        }

        return list;
    }

    private byte[] Bytes()
    {
        var bytes = new byte[random.Percent(5) ? random.Next(4_000) : random.Next(40)];
        random.NextBytes(bytes);
        return bytes;
    }

    private string Text()
    {
        var text = "";
        for (var count = random.Next(6); count > 0; count--)
        {
            text += random.One("🦊", "é", "\0", "/", "state", "version", "k:", "x", "Account");
        }

        return text;
    }

    private long Number() => random.Next(5) switch
    {
        0 => 0,
        1 => random.Next(300),
        2 => long.MaxValue - random.Next(3),
        3 => long.MinValue + random.Next(3),
        _ => random.NextInt64(),
    };
}
