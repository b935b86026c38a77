using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection.Watching;

namespace Snapper.Runtime.Execution;

/// <summary>One request from arrival to answer: what was asked, the ticket of a PACT, the result, and who waits for it.</summary>
public sealed class Request : Transaction, IWatchedRequest
{
    private const int Open = 0;
    private const int Answered = 1;
    private const int Settled = 2;
    private const int ToldInDoubt = 3;

    private readonly TaskCompletionSource<TransactionEnvelope> _answer;
    private readonly UInt128 _key; // a generated id is seldom looked for
    private int _answered;
    private int _closed;
    private int _waiting = 1; // whoever has sent it

    /// <summary>A request. With <paramref name="answersInline"/> whoever awaits the answer goes on inside the executor: for a simulator, which has one thread.</summary>
    public Request(
        TransactionRequest asked, RootMethod method, object? input, string id, UInt128 requestHash, ActorAccess[]? declared, bool answersInline)
    {
        _answer = new(answersInline ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously);
        Asked = asked;
        Method = method;
        Input = input;
        Id = id;
        _key = asked.Id is null ? default : Door.RequestHash.OfId(id);
        RequestHash = requestHash;
        Declared = declared;
    }

    public static Request Of(PactTicket ticket) => (Request)ticket.Request;

    public static Request Of(ActOutcome act) => (Request)act.Request;

    /// <summary>Stands for the request of a transaction whose root is on another worker; never answered.</summary>
    public static Request StandIn(ActorKey root, ActorAccess[]? declared) =>
        new(new TransactionRequest { Actor = root, Method = string.Empty }, null!, null, string.Empty, default, declared, answersInline: true);

    /// <summary>What a call from another worker tells of the request that a <see cref="StandIn"/> stands for.</summary>
    public void Learn(TransactionRequest asked, RootMethod? method)
    {
        Asked = asked;
        Method = method!;
        Id = asked.Id!;
    }

    public TransactionRequest Asked { get; private set; }

    /// <summary>The root's method. Of a stand-in null before its first call, and when it is unknown here.</summary>
    public RootMethod Method { get; private set; }

    public object? Input { get; }

    /// <summary>The caller's key, or a generated id.</summary>
    public string Id { get; private set; }

    /// <summary>Under which the master knows a PACT that asks for a number; 0: it does not.</summary>
    public long Handle { get; set; }

    /// <summary>Its time was over, or its caller left, while no master knew it: none gets to know it any more. Guarded by whoever asks the master.</summary>
    public bool IsWithdrawn { get; set; }

    /// <summary>The master has it, or has numbered it: this worker does not drop it any more. Guarded by whoever asks the master.</summary>
    public bool IsAtMaster { get; set; }

    public bool HasCallerKey => Asked.Id is not null;

    /// <summary>Where its id is counted when it is kept; null: with those of no known caller.</summary>
    public IdAccount? IdAccount { get; set; }

    /// <summary>What this worker had gained before the id was looked for: what came later may have brought its outcome (I2).</summary>
    public long Gains { get; set; }

    /// <summary>What the index knows <see cref="Id"/> by.</summary>
    public UInt128 Key => HasCallerKey ? _key : Door.RequestHash.OfId(Id);

    public UInt128 RequestHash { get; }

    /// <summary>
    /// The hash of the request, also with a generated id: it is hashed when it is sent again under that id, as its
    /// caller may after "in doubt".
    /// </summary>
    public UInt128 Hash() => HasCallerKey ? RequestHash : Door.RequestHash.Of(Asked);

    /// <summary>A PACT's access set as the machines want it; null for an ACT.</summary>
    public ActorAccess[]? Declared { get; }

    public bool IsPact => Declared is not null;

    public Attempt? Attempt { get; set; }

    /// <summary>When it came, as a timestamp of the worker's clock; 0: elsewhere.</summary>
    public long ReceivedAt { get; init; }

    /// <summary>The deadline as a timestamp of the worker's clock; once it has passed, when to look again.</summary>
    public long Deadline { get; set; }

    /// <summary>Slot of the deadline wheel.</summary>
    public LinkedListNode<Request>? Timer { get; set; }

    /// <summary>Committed: the result as JSON. Set by the root's executor before its end is told to anyone.</summary>
    public byte[]? Result { get; set; }

    /// <summary>Sequence number of the record that holds its outcome; 0: none does.</summary>
    public long Sequence { get; set; }

    public Task<TransactionEnvelope> Answer => _answer.Task;

    public bool IsAnswered => Volatile.Read(ref _answered) != Open;

    /// <summary>Its outcome is known, or the worker has given it up.</summary>
    public bool IsClosed => Volatile.Read(ref _closed) != 0;

    /// <summary>Somebody else waits for its answer, too.</summary>
    /// <returns>False: nobody does any more, and it is about to be cancelled.</returns>
    public bool TryWait()
    {
        for (var waiting = Volatile.Read(ref _waiting); waiting > 0;)
        {
            var seen = Interlocked.CompareExchange(ref _waiting, waiting + 1, waiting);
            if (seen == waiting)
            {
                return true;
            }

            waiting = seen;
        }

        return false;
    }

    /// <summary>Somebody who has waited for its answer waits no more.</summary>
    /// <returns>True: nobody does any more.</returns>
    public bool StopWaiting() => Interlocked.Decrement(ref _waiting) == 0;

    /// <summary>Takes the right to say the last word on it.</summary>
    public bool TryClose() => Interlocked.Exchange(ref _closed, 1) == 0;

    /// <summary>Gives the answer to whoever waits. The first one counts.</summary>
    public bool TryAnswer(TransactionEnvelope envelope)
    {
        if (Interlocked.Exchange(ref _answered, Answered) is Answered or ToldInDoubt)
        {
            return false;
        }

        _answer.SetResult(envelope);
        return true;
    }

    /// <summary>As <see cref="TryAnswer"/>, with an answer that is not the last word: not when that one is on its way.</summary>
    public bool TryAnswerInDoubt(TransactionEnvelope envelope)
    {
        if (Interlocked.CompareExchange(ref _answered, ToldInDoubt, Open) != Open)
        {
            return false;
        }

        _answer.SetResult(envelope);
        return true;
    }

    /// <summary>Its outcome is durable and its answer follows at once: nobody is told any more that it is in doubt.</summary>
    /// <returns>True: that was told already, and its id will be asked for.</returns>
    public bool Settle() =>
        Interlocked.CompareExchange(ref _answered, Settled, Open) is Answered or ToldInDoubt;

    /// <summary>Its caller was answered that it is in doubt, and its outcome is not known yet.</summary>
    public bool IsToldInDoubt => Volatile.Read(ref _answered) == ToldInDoubt;

    /// <summary>The envelope of its present state.</summary>
    public TransactionEnvelope Envelope(Outcome outcome)
    {
        var attempt = Attempt;
        return new TransactionEnvelope
        {
            Id = Id,
            Outcome = outcome,
            Mode = IsPact ? TransactionMode.Pact : TransactionMode.Act,
            Transaction = attempt?.Tid.Value ?? 0,
            Batch = attempt?.Bid.Value ?? 0,
            Attempts = Attempts,
            Result = outcome == Outcome.Committed ? Result : default(ReadOnlyMemory<byte>),
            Abort = outcome == Outcome.Aborted && Abort is { } abort
                ? new AbortDetails(abort.Reason, abort.Message, AbortReasons.IsRetryable(abort.Reason), abort.Actor)
                {
                    Code = abort.Code,
                }
                : null,
            Touched = Asked.AccessMode != AccessMode.Strict && attempt is not null ? attempt.Touched() : null,
        };
    }
}
