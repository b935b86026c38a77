using Snapper.Cluster.Balancing;
using Snapper.Cluster.Branches;
using Snapper.Cluster.Mastering;
using Snapper.Cluster.Membership;
using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Cluster;

/// <summary>
/// A worker among others: what it owns, and its sides of transactions that touch other workers. What comes from other workers is handled one message at a time on the first
/// executor, beside the commit machine; sending is possible from everywhere.
/// </summary>
internal sealed partial class ClusterNode : IMemberNode, IOwnership, IDisposable
{
    private readonly Worker _worker;
    private readonly ITimer _tick;
    private readonly Queue<(Incarnation From, ForMasterMessage Message)> _forMaster = new();
    private int _ticking;
    private long _gains;
    private bool _othersLivedBefore;
    private const long NotRead = long.MinValue;
    private long _archivesAsOf = NotRead;

    public ClusterNode(Worker worker, ClusterParts parts)
    {
        _worker = worker;
        Gate = parts.Gate;
        Doubts = parts.Doubts;
        Directory = new DirectoryTable(parts.PartitionOf);
        Ownership = new Ownership(Self, parts.PartitionOf);
        Calls = new RemoteCalls(this, worker);
        Pacts = new PactBranches(this, worker);
        Acts = new ActBranches(this, worker, new Tombstones(worker.Time));
        Decisions = new ActDecisions(this, worker);
        Waits = new DistributedDeadlockTimeout(this, worker);
        Gone = new DeadIncarnations(Directory, OnResolved);
        Requests = new GlobalRequests(this, worker);
        Door = new ForwardingTransactionService(worker, this, parts.IdPrefix);
        Succession = new MasterSuccession(this, worker);
        _tick = worker.Time.CreateTimer(_ => OnTick(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public Incarnation Self => Gate.Self;

    public PeerMessenger Gate { get; }

    public InDoubtResolver Doubts { get; }

    public DirectoryTable Directory { get; }

    public Ownership Ownership { get; }

    public RemoteCalls Calls { get; }

    public PactBranches Pacts { get; }

    public DeadIncarnations Gone { get; }

    public ActBranches Acts { get; }

    public ActDecisions Decisions { get; }

    /// <summary>Ends ACTs of several workers behind which others wait for long.</summary>
    public DistributedDeadlockTimeout Waits { get; }

    public GlobalRequests Requests { get; }

    /// <summary>Takes requests for whatever actor.</summary>
    public ForwardingTransactionService Door { get; }

    public MasterSuccession Succession { get; }

    public MasterHost? Master { get; private set; }

    public Executor First => _worker.Executors[0];

    bool IOwnership.MayNumber(ActorKey actor) => Ownership.Look(actor).State == OwnershipState.Open;

    bool IOwnership.MayBegin(PactTicket ticket) => !MayHaveRunElsewhere(Request.Of(ticket));

    bool IOwnership.Owns(ActorKey actor) => Ownership.Look(actor).State != OwnershipState.NotOwned;

    public void RequireNotIn(Attempt attempt, ActorKey actor, OwnershipState state)
    {
        if (state == OwnershipState.NotOwned && attempt.IsAlive && attempt.Participates(actor) && Ownership.Look(actor).State == OwnershipState.NotOwned)
        {
            _worker.Fail(new ProtocolViolationException($"ACT {attempt.Tid} is in on {actor}, which this worker does not own any more (M4, M7)."));
        }
    }

    public bool Send(Incarnation to, WireMessage message)
    {
        if (to == Self)
        {
            Receive(Self, message);
            return true;
        }

        return Gate.Send(to, message);
    }

    /// <summary>A worker takes less than it is sent: nothing new is begun that needs it, or that it would have to be answered.</summary>
    public bool TakesTooLittle(Incarnation peer) =>
        peer != Self && (Gate.Hub.IsFull(peer.Worker) || _worker.SchedulingPolicy.ChannelTakenForFull());

    public void Receive(Incarnation from, WireMessage message, bool wakes = true) =>
        First.Post(WorkItem.Remote(from, message), wakes);

    public void Handle(Incarnation from, WireMessage message)
    {
        switch (message)
        {
            case CallMessage call when TakesTooLittle(from):
                Calls.TurnAway(from, call);
                break;
            case CallMessage call when call.Tid.IsAct:
                Acts.OnCall(from, call);
                break;
            case CallMessage call:
                Pacts.OnCall(from, call);
                break;
            case ResultMessage result:
                Calls.OnResult(from, result);
                break;
            case BranchFailedMessage failed when failed.Tid.IsAct:
                Acts.OnBranchFailed(failed);
                break;
            case BranchFailedMessage failed:
                Pacts.OnBranchFailed(failed);
                break;
            case BranchEndedMessage ended:
                Pacts.OnEnded(from, ended);
                break;
            case ActPrepareMessage prepare:
                Acts.OnPrepare(from, prepare);
                break;
            case ActVotedMessage voted:
                Acts.OnVoted(voted);
                break;
            case ActDecidedMessage decided:
                Acts.OnDecided(from, decided);
                break;
            case ActLongWaitMessage wait:
                Waits.OnLongWait(wait);
                break;
            case ActBoundsMessage bounds:
                Acts.OnBounds(bounds);
                break;
            case ActAbortMessage abort:
                Acts.OnAbort(abort.Tid);
                break;
            case ActMarkedMessage marked:
                Decisions.OnMarked(from, marked.Tid);
                break;
            case FrozenMessage frozen:
                Succession.OnFrozen(frozen);
                break;
            case MovedMessage moved:
                Apply(moved.Changed);
                break;
            case ForMasterMessage told:
                ToMaster(from, told);
                break;
            case PartMessage part:
                Succession.OnPart(part);
                break;
            case FromMasterMessage said:
                Succession.OnSaid(said);
                break;
            case OutcomeQueryMessage { Root.IsNone: true } asked:
                Master?.OnAsked(from, new BatchId(asked.Number));
                break;
            case OutcomeQueryMessage asked when asked.Root == Self:
                Decisions.OnAsked(from, new TransactionId(asked.Number));
                break;
            case OutcomeQueryMessage:
                break; // of a worker whose stream nobody here has read; whoever asks looks again
            case SubmitMessage submitted:
                Door.OnSubmit(from, submitted);
                break;
            case SubmittedMessage submitted:
                Door.OnSubmitted(submitted);
                break;
            case FindOutcomeMessage asked:
                Door.OnFind(from, asked);
                break;
            case LoadMessage load:
                Balancer?.OnLoad(from, load);
                break;
            case VerdictMessage verdict:
                Gate.OnVerdict(verdict);
                break;
            default:
                throw new ProtocolViolationException($"{Self}: nothing is done with a {message.Kind} of {from}.");
        }
    }

    public void BeginMaster(MasterHost master)
    {
        Master = master;
        for (var left = _forMaster.Count; left > 0; left--)
        {
            var (from, message) = _forMaster.Dequeue();
            ToMaster(from, message);
        }
    }

    /// <summary>Others may read in the store who is master before it has begun to be, and say each thing once (R3): what is for it waits.</summary>
    private void ToMaster(Incarnation from, ForMasterMessage message)
    {
        if (Master is { } master && master.Epoch >= message.MasterEpoch)
        {
            master.OnMessage(from, message);
        }
        else
        {
            _forMaster.Enqueue((from, message));
        }
    }

    public void ForgetEarlierMasters(long epoch)
    {
        for (var left = _forMaster.Count; left > 0; left--)
        {
            var kept = _forMaster.Dequeue();
            if (kept.Message.MasterEpoch >= epoch)
            {
                _forMaster.Enqueue(kept);
            }
        }
    }

    public void OnUp(Incarnation peer) => First.PostRun(() => Decisions.OnUp(peer));

    public void OnGone(Incarnation peer) => First.PostRun(() =>
    {
        Acts.OnGone(peer);
        Gone.Add(peer);
        Pacts.OnGone(peer);
        Master?.OnGone(peer);
        Door.OnGone(peer);
    });

    public SortedDictionary<string, IReadOnlyList<DirectoryKey>> OpenFreezes { get; } = new(StringComparer.Ordinal);

    public Action<FrozenMessage>? MasterFroze { get; set; }

    public (Incarnation Worker, long Epoch) LatestMaster => Succession.Latest;

    public bool Apply(IReadOnlyList<DirectoryEntry> changed)
    {
        foreach (var entry in changed)
        {
            if (Directory.Apply(entry))
            {
                Own(entry);
            }
        }

        return true;
    }

    public void Own(DirectoryEntry entry, bool mayBeOld = false)
    {
        if (!mayBeOld && entry.Owner != Self && Ownership.IsOpen(entry.Key))
        {
            // M6: by a plan it moves while it is frozen here, and else nobody but a rescuer, which has fenced this life, gives it to another.
            _worker.Fail(new LogLostFailure(AppendStatus.Fenced, $"{Self} was fenced: the directory gives {entry.Key} to {entry.Owner}, and this worker has moved it nowhere."));
        }

        if (entry.Owner == Self)
        {
            NoteGained(entry); // ahead of the ownership that doors look at: who sees that looks for older outcomes
        }

        if (Ownership.Apply(entry))
        {
            Ownership.OpenNow(entry.Key); // R4, M6: an entry is given only when all that its last owner logged is checkpointed
        }
    }

    /// <summary>Ids may have outcomes that others have copied out of their logs (I2), unless the actors never had another owner.</summary>
    public void NoteGained(DirectoryEntry entry)
    {
        // The first owners have the first versions. Before them one worker alone may have owned everything.
        var hadOwner = entry.Version > Partition.Count || OthersLivedBefore;
        if (hadOwner)
        {
            Archives = AllArchives;
            _worker.NoteGained();
            Volatile.Write(ref _gains, _gains + 1); // behind the others: who reads it looks in all of them
        }
    }

    public void TellMoved(IReadOnlyList<DirectoryEntry> changed, Incarnation master)
    {
        for (var worker = 1; worker <= ClusterOptions.LastWorker; worker++)
        {
            if (Gate.Hub.Known(worker) is { IsNone: false } known && known != master)
            {
                Send(known, new MovedMessage(changed));
            }
        }

        Send(master, new MovedMessage(changed));
    }

    public IReadOnlyList<IStateStore> AllArchives { get; set; } = [];

    public IReadOnlyList<IStateStore> Archives { get; set; } = [];

    public long Gains => Volatile.Read(ref _gains);

    public long? ArchivesAsOf
    {
        get => Volatile.Read(ref _archivesAsOf) is var gains and not NotRead ? gains : null;
        set => Volatile.Write(ref _archivesAsOf, value ?? NotRead);
    }

    /// <summary>
    /// The root of a request that has not begun may have gone and come back since its id was looked for, and another worker have run it meanwhile (I2).
    /// Looked at behind the ownership, which shows what was gained only when that is counted.
    /// </summary>
    public bool MayHaveRunElsewhere(Request request) =>
        request.HasCallerKey && request.Gains != Gains;

    public bool OthersLivedBefore { get => Volatile.Read(ref _othersLivedBefore); set => Volatile.Write(ref _othersLivedBefore, value); }

    public Balancer? Balancer { get; set; }

    public Func<IReadOnlyList<Incarnation>> Members { get; set; } = static () => [];

    public Func<CancellationToken, Task> ReadDirectory { get; set; } = static _ => Task.CompletedTask;

    public Task<T> Ask<T>(Func<T> look)
    {
        var done = _worker.Background.Promise<T>();
        First.PostRun(() => done.TrySet(look()));
        return done.Task.WaitAsync(_worker.Stopping);
    }

    public void KeepTicking()
    {
        if (Interlocked.Exchange(ref _ticking, 1) == 0)
        {
            _tick.Change(_worker.Options.LongWait, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        _tick.Dispose();
        Gate.Dispose();
    }

    bool IBranchNode.TakesUndoAnswer(in Message message) => Succession.Takes(message);

    private void OnResolved(Incarnation life, bool isLast)
    {
        Decisions.OnResolved(life, isLast);
        Master?.OnResolved(life);
    }

    private void OnTick()
    {
        Volatile.Write(ref _ticking, 0);
        if (!_worker.IsOver)
        {
            First.PostRun(Tick);
        }
    }

    private void Tick()
    {
        if (Waits.Look() | Pacts.Count > 0)
        {
            First.PostCheckTurns();
            KeepTicking();
        }
    }
}

/// <summary>What a worker needs to be one among others.</summary>
/// <param name="Gate">Its door to them.</param>
/// <param name="Doubts">Finds out what became of what was prepared.</param>
/// <param name="PartitionOf">Partition of an actor; null: by its own hash.</param>
/// <param name="IdPrefix">With which ids begin that it makes for requests.</param>
internal sealed record ClusterParts(PeerMessenger Gate, InDoubtResolver Doubts, Func<ActorKey, Partition>? PartitionOf, string IdPrefix);
