using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;

namespace Snapper.Fuzzing.Cluster;

/// <summary>Any message that one worker can send to another, of each kind; not only those that one sends.</summary>
internal sealed class RandomMessages(Random random)
{
    /// <summary>All kinds.</summary>
    public static IReadOnlyList<WireKind> Kinds { get; } = Enum.GetValues<WireKind>();

    /// <summary>Who sends.</summary>
    public static Incarnation Sender { get; } = new(2, 7);

    public WireMessage Message() => Message(Kinds[random.Next(Kinds.Count)]);

    public WireMessage Message(WireKind kind) => kind switch
    {
        WireKind.Call => new CallMessage(
            Tid(), Tid(), Worker(), Actor(), Text(), new BranchFacts(Text(), Number() % DateTime.MaxValue.Ticks, Maybe(Text), Maybe(Text), Maybe(Text)), Number(), Many(() => new CallRef(Small(), Number())), Small(),
            Actor(), Text(), Bytes()),
        WireKind.Result => new ResultMessage(Number(), Maybe(Failure), Bytes(), Many(Small), Many(Worker)),
        WireKind.BranchFailed => new BranchFailedMessage(Tid(), Failure()),
        WireKind.BranchEnded => new BranchEndedMessage(Tid(), Actor(), Flag(), Small()),
        WireKind.ActPrepare => new ActPrepareMessage(Tid(), Flag(), Flag()),
        WireKind.ActVoted => new ActVotedMessage(Tid(), Flag(), Maybe(Failure), Many(Worker), Many(Declared)),
        WireKind.ActDecided => new ActDecidedMessage(Tid(), Flag()),
        WireKind.ActAbort => new ActAbortMessage(Tid()),
        WireKind.ActMarked => new ActMarkedMessage(Tid()),
        WireKind.ActLongWait => new ActLongWaitMessage(Tid()),
        WireKind.ActBounds => new ActBoundsMessage(Tid(), Bid(), Bid()),
        WireKind.NewPact => new NewPactMessage(Number(), Pact() with { Caller = Maybe(Text) }),
        WireKind.Withdraw => new ToMasterMessage(Number(), new GlobalMessage(GlobalMessageKind.Withdraw, Sender, Value: Number())),
        WireKind.ToMaster => new ToMasterMessage(Number(), new GlobalMessage(
            One(GlobalMessageKind.PartPrepared, GlobalMessageKind.PartMarked, GlobalMessageKind.Failed, GlobalMessageKind.UndoReport, GlobalMessageKind.Undone,
                GlobalMessageKind.InDoubt, GlobalMessageKind.StreamResolved), Sender, Bid(), Number(), Small(), About: Worker())),
        WireKind.Settled => new SettledMessage(Number()),
        WireKind.Marked => new MarkedMessage(Number()),
        WireKind.AskVerdict => new OutcomeQueryMessage(Number(), Flag() ? default : Worker()),
        WireKind.Verdict => new VerdictMessage(Number(), Flag()),
        WireKind.Part => new PartMessage(Number(), new GlobalPart(Bid(), Bid(), [Member(), .. Many(Member)])),
        WireKind.FromMaster => new FromMasterMessage(Number(), new GlobalOutput(
            One(GlobalOutputKind.SendDecided, GlobalOutputKind.SendUndo, GlobalOutputKind.SendUndoGo, GlobalOutputKind.SendBack, GlobalOutputKind.SendDropped),
            default, Bid(), Number(), Small(), Flag(), Maybe(Actor))),
        WireKind.Freeze => new FreezeMessage(Number(), Text(), Many(Key)),
        WireKind.Frozen => new FrozenMessage(Number(), Text()),
        WireKind.Moved => new MovedMessage(Many(() => new DirectoryEntry(Key(), Flag() ? default : Worker(), Number()))),
        WireKind.Submit => new SubmitMessage(Number(), Small(), Request()),
        WireKind.Submitted => new SubmittedMessage(Number(), Maybe(Envelope)),
        WireKind.FindOutcome => new FindOutcomeMessage(Number(), Text()),
        WireKind.Load => new LoadMessage(Many(() => (Small(), Number())), Many(() => (Partition(), Number())), Many(() => (Actor(), Actor(), Number()))),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "This kind has no generator yet."),
    };

    private TransactionRequest Request() => One(0, 1, 2) switch
    {
        0 => Request(AccessSource.Request),
        1 => Request(AccessSource.Method) with { Mode = TransactionMode.Pact },
        _ => Request(AccessSource.Method) with { Mode = TransactionMode.Act, Undeclared = Rejection() },
    };

    private TransactionRequest Request(AccessSource source) => new()
    {
        AccessSource = source,
        Actor = Actor(),
        Method = Text(),
        Input = Bytes(),
        Mode = One(TransactionMode.Pact, TransactionMode.Act),
        AccessMode = One(AccessMode.Strict, AccessMode.Record, AccessMode.Audit),
        Access = Maybe(() => Many(Declared).DistinctBy(static declared => declared.Actor).ToArray()),
        Id = Maybe(Text),
        Timeout = TimeSpan.FromTicks(random.NextInt64(3_000_000_000)),
        Caller = Maybe(Text),
        TraceParent = Maybe(Text),
        TraceState = Maybe(Text),
    };

    private TransactionEnvelope Envelope() => new()
    {
        Id = Text(),
        Outcome = One(Outcome.Committed, Outcome.Aborted, Outcome.InDoubt, Outcome.Running, Outcome.Rejected),
        Mode = One(TransactionMode.Pact, TransactionMode.Act),
        Transaction = Number(),
        Batch = Number(),
        Attempts = Small(),
        Worker = Maybe(Text),
        Result = Bytes(),
        Abort = Maybe(() =>
            new AbortDetails(One(Enum.GetValues<AbortReason>()), Text(), Flag(), Maybe(Actor)) { Code = Maybe(Code) }),
        Rejection = Maybe(Rejection),
        Touched = Maybe(() => Many(Declared)),
    };

    private AbortCode Code() =>
        new(One("a", "insufficient_funds_2"), Flag() ? null : """{"needed":10,"of":["\u0000"]}""");

    private Rejection Rejection() => new(
        (RejectionKind)random.Next((int)RejectionKind.Unavailable + 1),
        Text(),
        Flag() ? null : TimeSpan.FromTicks(1 + random.NextInt64(1_000_000_000)));

    private GlobalMember Member()
    {
        var pact = Pact();
        return new GlobalMember(Tid(), pact, Enumerable.Range(0, pact.Declared.Length).Select(_ => Worker()).ToArray());
    }

    private GlobalPact Pact()
    {
        var actors = Enumerable.Range(0, 1 + random.Next(4)).Select(i => new ActorKey("T" + Text(), $"i{i}" + Text())).ToArray();
        return new GlobalPact(
            Worker(), Number(), actors[random.Next(actors.Length)], actors.Select(actor => new ActorAccess(actor, Access.Whole, Small())).ToArray(), Flag());
    }

    private BranchFailure Failure() => new(One(Enum.GetValues<AbortReason>()[1..]), Text(), Maybe(Actor), Number());

    private DeclaredAccess Declared() => new(Actor(), Small());

    private DirectoryKey Key() => Flag() ? DirectoryKey.Of(Partition()) : DirectoryKey.Of(Actor(), Partition());

    private Partition Partition() => new(random.Next(Protocol.Identity.Partition.Count));

    private Incarnation Worker() => new(random.Next(1, TransactionId.WorkerLimit), Number());

    private TransactionId Tid() => new(Number());

    private BatchId Bid() => new(Number());

    private ActorKey Actor() => new("T" + Text(), "i" + Text());

    private long Number() => random.Next(4) switch { 0 => random.Next(3), 1 => long.MaxValue, 2 => random.Next(), _ => random.NextInt64() };

    private int Small() => random.Next(3) switch { 0 => random.Next(3), 1 => int.MaxValue, _ => random.Next() };

    private string Text() => random.Next(4) switch { 0 => "", 1 => "🏦/ä'\"", 2 => new string('x', random.Next(300)), _ => random.Next().ToString(System.Globalization.CultureInfo.InvariantCulture) };

    private byte[] Bytes()
    {
        var bytes = new byte[random.Next(3) * random.Next(100)];
        random.NextBytes(bytes);
        return bytes;
    }

    private bool Flag() => random.Next(2) == 0;

    private T One<T>(params T[] of) => of[random.Next(of.Length)];

    private T? Maybe<T>(Func<T> make)
        where T : class => Flag() ? null : make();

    private T[] Many<T>(Func<T> make) => Enumerable.Range(0, random.Next(4)).Select(_ => make()).ToArray();
}
