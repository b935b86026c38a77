using System.Collections.Concurrent;
using System.Collections.Frozen;
using Snapper.Contracts;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Inspection.Watching;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;

namespace Snapper.Runtime.Execution;

/// <summary>
/// One worker: executors with their actors, the ring of coordinators, the commit order, the log, the door. Built and
/// started by <c>WorkerHost</c>; this class is where its parts find each other and where messages are routed.
/// </summary>
public sealed partial class Worker
{
    private readonly FrozenDictionary<string, ActorType> _types;
    private readonly Executor[] _executors;
    private readonly CancellationTokenSource _stopping = new();
    // Not by the number of cores: their order, where it is asked for, is then the same on every machine.
    private const int Stripes = 31;

    private readonly long _numbersOfALife;
    private long _actCounter;
    private long _actsSeen; // the highest that another worker has given, as far as this one knows
    private long _actsKept; // lower ones are this life's alone
    private volatile bool _weighsParts;
    private long _final;
    private long _undone;

    internal Worker(WorkerParts parts, RecoveredPositions positions)
    {
        Options = parts.Options;
        Time = parts.Time;
        Services = parts.Services;
        Store = parts.Store;
        _parts = parts;
        _over = parts.Background.Promise<bool>();
        Watch = new TransactionWatch(Time, Options.Name, Options.WatchLease, parts.Observer, (actor, action) => ExecutorOf(actor).PostRun(action));
        RingStatistics = new RingStatistics(Options.Coordinators, Time);
        Callers = new CallersAbout(Time.TimestampFrequency);
        PactLatency = new RollingLatency(Time);
        ActLatency = new RollingLatency(Time);
        _types = parts.Types.ToFrozenDictionary(type => type.Name, StringComparer.Ordinal);
        _actCounter = positions.ActCounter;
        _numbersOfALife = positions.NumbersOfALife;
        _actsKept = _actCounter + _numbersOfALife;
        MayHaveOlderOutcomes = positions.MayHaveOlderOutcomes;
        _olderOutcomesUntil = Time.GetTimestamp() + TicksOf(Options.IdempotencyWindow);
        var seed = Options.Seed ?? Random.Shared.Next();
        _executors = new Executor[Options.Executors];
        for (var i = 0; i < _executors.Length; i++)
        {
            _executors[i] = new Executor(this, i, seed + i);
        }

        Peers = parts.Peers?.Invoke(this) ?? NoPeers.Instance;
        MaxResultBytes = Math.Min(Options.MaxResultBytes, Peers.MaxContentBytes);
        Coordinators = new CoordinatorMachine[Options.Coordinators];
        var coordination = new CoordinatorOptions(Options.TransactionsPerBatch, Options.OpenBatches) { SchedulingPolicy = parts.SchedulingPolicy };
        for (var i = 0; i < Coordinators.Length; i++)
        {
            Coordinators[i] = new CoordinatorMachine(i, Coordinators.Length, coordination, Peers.Ownership);
        }

        Commits = new CommitHost(this, Coordinators.Length, Batches);
        SendToCoordinator(0, new Message { Kind = MessageKind.Token, Body = new RingToken(new TransactionId(positions.LastTransaction)) });
    }

    public WorkerOptions Options { get; }

    /// <summary>
    /// Largest result of a method, and largest input of a call to another worker, as JSON, in bytes. Of several workers
    /// any may have to go into a message, wherever actors are now.
    /// </summary>
    public int MaxResultBytes { get; }

    /// <summary>What requests may hold.</summary>
    public ByteBudget Bytes { get; init; } = new(long.MaxValue);

    public TimeProvider Time { get; }

    public IServiceProvider? Services { get; }

    public IStateStore Store { get; }

    public LogWriter Log { get; set; } = null!;

    public Checkpointer Checkpoints { get; set; } = null!;

    public CoordinatorMachine[] Coordinators { get; }

    public IPeers Peers { get; }

    public CommitHost Commits { get; }

    public IRequestManager RequestManager { get; set; } = null!;

    public Background Background => _parts.Background;

    internal IWorkerTrace? Trace => _parts.Trace;

    public SchedulingPolicy SchedulingPolicy => _parts.SchedulingPolicy;

    /// <summary>What somebody may be looking at.</summary>
    public TransactionWatch Watch { get; }

    public RingStatistics RingStatistics { get; }

    /// <summary>Whether several callers have requests.</summary>
    public CallersAbout Callers { get; }

    /// <summary>From a request's arrival to its answer, of committed ones.</summary>
    public RollingLatency PactLatency { get; }

    /// <inheritdoc cref="PactLatency"/>
    public RollingLatency ActLatency { get; }

    public BatchTraces Batches { get; } = new(256);

    public AbortTraces AbortTraces { get; } = new();

    public WorkerCounters Counters { get; } = new();

    /// <summary>
    /// A PACT over several workers has left more here than a record holds (L6): what those of other workers' roots
    /// change is weighed from then on, call by call.
    /// </summary>
    public bool WeighsParts { get => _weighsParts; set => _weighsParts = value; }

    /// <summary>ACT attempts that are not queued, by tid: how the commit machine finds their roots.</summary>
    public ConcurrentDictionary<long, Attempt> Acts { get; } = new(Stripes, Stripes);

    public IReadOnlyList<Executor> Executors => _executors;

    public IReadOnlyCollection<ActorType> Types => _types.Values;

    public CancellationToken Stopping => _stopping.Token;

    /// <summary>Every batch up to this one is final; others may be. Rides on every message to an actor.</summary>
    public BatchId Final
    {
        get => new(Volatile.Read(ref _final));
        set => Volatile.Write(ref _final, value.Value);
    }

    /// <summary>The last undo that is over, before its end is told to an actor.</summary>
    public long Undone
    {
        get => Volatile.Read(ref _undone);
        set => Volatile.Write(ref _undone, value);
    }

    public ActorType? FindType(string name) => _types.GetValueOrDefault(name);

    public ActorType TypeOf(ActorKey key) =>
        FindType(key.Type) ?? throw new ProtocolViolationException($"{key} was let in, but there is no such type.");

    public Executor ExecutorOf(ActorKey key) =>
        _executors.Length == 1 ? _executors[0] : _executors[(int)((key.Hash >> 32) % (ulong)_executors.Length)];

    public TransactionId NextAct() => TransactionId.Act(Interlocked.Increment(ref _actCounter), Options.Number);

    /// <summary>
    /// Numbers of ACTs that begin later are higher: ages are compared over all workers (W1). Not higher than what the log has set apart for this life, with room for its own:
    /// an attempt that leaves no record would share its number with one of the next life (R1).
    /// </summary>
    public void AdvanceActClock(TransactionId act)
    {
        Raise(ref _actsSeen, act.Counter);
        Raise(ref _actCounter, Math.Min(act.Counter, Volatile.Read(ref _actsKept) - (_numbersOfALife / 2)));
    }

    /// <summary>Numbers of ACTs above this mark are to be set apart in the log (R1); 0: there are enough. From any thread.</summary>
    public long ActsToKeep
    {
        get
        {
            var needed = Math.Max(Volatile.Read(ref _actCounter), Volatile.Read(ref _actsSeen)) + (_numbersOfALife / 2);
            return needed < Volatile.Read(ref _actsKept) ? 0 : needed / _numbersOfALife * _numbersOfALife;
        }
    }

    /// <summary>The mark is durable: a next life begins as many numbers above it as are set apart for one.</summary>
    public void KeptActs(long mark) => Raise(ref _actsKept, mark + _numbersOfALife);

    private static void Raise(ref long value, long least)
    {
        for (var known = Volatile.Read(ref value); known < least; known = Volatile.Read(ref value))
        {
            if (Interlocked.CompareExchange(ref value, least, known) == known)
            {
                return;
            }
        }
    }

    public int CoordinatorOf(Request request) =>
        Coordinators.Length == 1 ? 0 : (int)(request.Asked.Actor.Hash % (ulong)Coordinators.Length);

    public long UnixMs() => Time.GetUtcNow().ToUnixTimeMilliseconds();

    public void SendToActor(in Message message) =>
        ExecutorOf(message.Actor!).Post(new WorkItem { Kind = WorkKind.Actor, Message = message });

    public void SendToCoordinator(int index, in Message message)
    {
        if (message.Kind == MessageKind.NewPact)
        {
            var ticket = message.Ticket;
            var request = Request.Of(ticket);
            if (request.Expired)
            {
                RequestManager.Dropped(request, AbortReason.Timeout); // removed by an undo, and its time is over
                return;
            }

            if (Peers.TakesPact(ticket, request))
            {
                return;
            }
        }
        else if (message.Kind == MessageKind.Withdraw && Peers.Withdraw(Request.Of(message.Ticket)))
        {
            return;
        }

        var item = new WorkItem { Kind = WorkKind.Coordinator, Index = index, Message = message };
        var executor = _executors[index % _executors.Length];
        if (message.Kind == MessageKind.LogProgress)
        {
            executor.PostOutside(item); // the next batch is formed behind the ACTs that the last one held back
        }
        else
        {
            executor.Post(item);
        }
    }

    /// <summary>The commit machine lives with the first coordinator.</summary>
    public void SendToCommit(in Message message) =>
        _executors[0].Post(new WorkItem { Kind = WorkKind.Commit, Message = message });

    /// <summary>Runs an action where the commit machine lives.</summary>
    public void PostToCommits(Action action) => _executors[0].PostRun(action);

    public void SendToRoot(in Message message)
    {
        if (message.Body is PactTicket ticket)
        {
            Peers.OnRemoved(ticket);
            if (ticket.IsRemote)
            {
                return;
            }

            var request = Request.Of(ticket);
            if (request.Attempt is { } attempt && attempt.Tid == message.Tid)
            {
                attempt.RootExecutor.Post(WorkItem.Root(attempt, message));
            }
            else if (!Peers.IsAlone)
            {
                ExecutorOf(request.Asked.Actor).PostRemoved(request, message);
            }

            return; // not begun yet: its number is taken from it, so it will not begin
        }

        if (Acts.TryGetValue(message.Tid.Value, out var act))
        {
            act.RootExecutor.Post(WorkItem.Root(act, message));
        }
        else if (message.Kind == MessageKind.Removed)
        {
            SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = message.Tid });
        }
    }

    /// <summary>A call's result goes to the executor of its caller.</summary>
    public static void PostResult(CallFrame frame) =>
        frame.CallerFrame!.Cell!.Executor.Post(WorkItem.Result(frame));

    public void PostDeadline(Request request, AbortReason reason) =>
        ExecutorOf(request.Asked.Actor).Post(WorkItem.Deadline(request, reason));

    /// <summary>Starts the requests that died of an attempt's locks; after the messages that give them back were sent.</summary>
    public void StartAwaiting(Attempt ended)
    {
        if (ended.TakeAwaitingEnd() is not { } awaiting)
        {
            return;
        }

        foreach (var request in awaiting)
        {
            ExecutorOf(request.Asked.Actor).PostStart(request, gateIsOpen: false);
        }
    }

    /// <summary>Starts an ACT again after a pause.</summary>
    public void After(TimeSpan pause, Executor executor, Request request) =>
        After(pause, executor, WorkItem.Start(request));

    /// <summary>Does something on an executor after a pause.</summary>
    public void After(TimeSpan pause, Executor executor, Action action) =>
        After(pause, executor, WorkItem.Run(action));

    private void After(TimeSpan pause, Executor executor, WorkItem item)
    {
        ITimer? timer = null;
        timer = Time.CreateTimer(
            _ =>
            {
                executor.PostOutside(item);
                timer?.Dispose();
            },
            null,
            pause,
            Timeout.InfiniteTimeSpan);
    }

    public TimeSpan TurnBoundOf(Request request)
    {
        var own = FindType(request.Asked.Actor.Type)?.Descriptor.TurnBoundMs ?? 0; // of a root elsewhere: perhaps not known here
        return own > 0 ? TimeSpan.FromMilliseconds(own) : Options.TurnBound;
    }

    public string StateTooLarge(ActorKey actor, int bytes) =>
        $"The state of {actor} would have {bytes} bytes as JSON; the limit is {Options.MaxStateBytes}.";

    /// <summary>A request is about to be answered.</summary>
    public void NoteEnded(Request request, Door.Outcome outcome, AbortReason reason)
    {
        Counters.Ended(request.IsPact, reason);
        if (request.ReceivedAt != 0)
        {
            var now = Time.GetTimestamp();
            var duration = Time.GetElapsedTime(request.ReceivedAt, now);
            if (reason == AbortReason.None)
            {
                Counters.Lasted(request.IsPact, duration);
                (request.IsPact ? PactLatency : ActLatency).Record((long)duration.TotalMicroseconds, now);
            }

            _parts.Observer?.Ended(request.IsPact, reason == AbortReason.None ? null : AbortReasons.Name(reason), duration);
        }

        request.Attempt?.Trace?.Answered(outcome, reason);
    }

    public void NoteAbort(Attempt attempt, AbortInfo why, bool repeated)
    {
        if (repeated)
        {
            Counters.Repeated(why.Reason);
            attempt.Trace?.Repeated(why.Reason);
        }

        var request = attempt.Request;
        var (actors, more) = AbortTraces.Clipped(attempt.Touched());
        AbortTraces.Add(why.Reason, new AbortView(
            Time.GetUtcNow().ToUnixTimeMilliseconds(), request.Id, attempt.Tid.Value, request.IsPact ? "pact" : "act", request.Asked.Actor.ToString(), request.Method.Name,
            AbortReasons.Name(why.Reason), AbortTraces.Clipped(why.Message), repeated)
        {
            Code = why.Code?.Code,
            Actors = actors,
            MoreActors = more,
            Blocker = why.Blocker,
            Floor = why.Floor,
            Ceil = why.Ceil,
            BlockedBy = why.Blocker != 0 && Acts.TryGetValue(why.Blocker, out var blocker) ? PartyOf(blocker.Request, blocker.Tid.Value, blocker.Age.Value) : null,
            UndoneFor = why.Reason == AbortReason.Undone && Commits.UndoneFor is { } cause && cause.Transaction != attempt.Tid.Value ? cause : null,
        });
    }

    /// <summary>A transaction as others see it that it had to do with.</summary>
    public static PartyView PartyOf(Request request, long tid, long age) =>
        new(request.Id, tid, request.IsPact ? "pact" : "act", request.Asked.Actor.ToString(), request.Asked.Method, age);

    /// <summary>Called each <see cref="WorkerOptions.TurnTick"/> while requests are under way (W4).</summary>
    public void Tick()
    {
        foreach (var executor in _executors)
        {
            executor.PostCheckTurns();
        }

        Ticked?.Invoke();
    }

    /// <summary>Called each tick while requests are under way; the pumps' watchdog hangs on it (W5).</summary>
    public Action? Ticked { get; set; }
}
