using Snapper.Protocol;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Branches;
using Snapper.Runtime.Cluster.Mastering;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;

namespace Snapper.Runtime.Cluster;

/// <summary>
/// A worker among others: where its messages come in and go out, what it owns, and its sides of transactions that touch other workers. What comes from other workers is
/// handled one message at a time on the first executor, beside the commit machine; sending is possible from everywhere.
/// </summary>
internal sealed class ClusterNode : IMailboxOwner, IOwnership, IDisposable
{
    private readonly Worker _worker;
    private readonly ITimer _tick;
    private int _ticking;

    public ClusterNode(Worker worker, ClusterParts parts)
    {
        _worker = worker;
        Self = parts.Self;
        Directory = new DirectoryTable(parts.PartitionOf);
        Ownership = new Ownership(parts.Self, parts.PartitionOf);
        Calls = new RemoteCalls(this, worker);
        Pacts = new PactBranches(this, worker);
        Acts = new ActBranches(this, worker);
        Requests = new GlobalRequests(this, worker);
        _tick = worker.Time.CreateTimer(_ => OnTick(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Hub = new MailboxHub(parts.Self, parts.Transport, this, parts.Mailboxes, worker.Time);
    }

    /// <summary>This worker in this life.</summary>
    public Incarnation Self { get; }

    public MailboxHub Hub { get; }

    /// <summary>Who owns what, as far as this worker knows.</summary>
    public DirectoryTable Directory { get; }

    /// <summary>What this worker owns.</summary>
    public Ownership Ownership { get; }

    /// <summary>Calls to and from other workers.</summary>
    public RemoteCalls Calls { get; }

    /// <summary>Parts of global batches, and their transactions here.</summary>
    public PactBranches Pacts { get; }

    /// <summary>ACTs that other workers take part in.</summary>
    public ActBranches Acts { get; }

    /// <summary>PACTs over several workers whose roots are here.</summary>
    public GlobalRequests Requests { get; }

    /// <summary>The master, while this worker is it. Used by the first executor alone.</summary>
    public MasterHost? Master { get; set; }

    /// <summary>Where messages from other workers are handled.</summary>
    public Executor First => _worker.Executors[0];

    bool IMailboxOwner.IsBusy => false;

    bool IOwnership.MayNumber(ActorKey actor) => Ownership.Look(actor).State == OwnershipState.Open;

    /// <summary>Sends a message to one life of a worker, this one included. From any thread; messages of one thread to one worker arrive in their order.</summary>
    /// <returns>False: that life is over, and so is whatever the message was about.</returns>
    public bool Send(Incarnation to, WireMessage message)
    {
        if (to == Self)
        {
            Receive(Self, message);
            return true;
        }

        if (to.IsNone || to.Worker == Self.Worker)
        {
            return false;
        }

        var writer = WireWriter.Begin(message.Kind);
        message.Write(writer);
        var result = Hub.Send(to, writer.Written);
        if (result == EnqueueResult.Full)
        {
            // The channel would have a hole, and nobody could say what the other side believes.
            _worker.Fail(new IOException($"More is queued for {to} than its channel may hold: it has not taken anything for long."));
        }

        return result == EnqueueResult.Queued;
    }

    /// <summary>Handles a message on the first executor; in order.</summary>
    public void Receive(Incarnation from, WireMessage message)
    {
        var item = new WorkItem { Kind = WorkKind.Remote, Index = from.Worker, Extra = message };
        item.Message.Value = from.Epoch;
        First.Post(item);
    }

    /// <summary>On the first executor.</summary>
    public void Handle(Incarnation from, WireMessage message)
    {
        switch (message)
        {
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
                Acts.OnDecided(decided);
                break;
            case ActAbortMessage abort:
                Acts.OnAbort(abort.Tid);
                break;
            case ActMarkedMessage marked:
                Acts.OnMarked(from, marked.Tid);
                break;
            case NewPactMessage or ToMasterMessage:
                Master?.OnMessage(from, message);
                break;
            case PartMessage part when part.MasterEpoch == Requests.MasterEpoch: // R3
                Pacts.OnPart(part.Part);
                break;
            case FromMasterMessage said when said.MasterEpoch == Requests.MasterEpoch:
                Requests.OnMasterSays(said.Output);
                break;
            case PartMessage or FromMasterMessage:
                break; // of an earlier master
            default:
                throw new ProtocolViolationException($"{Self}: nothing is done with a {message.Kind} of {from}.");
        }
    }

    void IMailboxOwner.OnMessage(Incarnation from, ReadOnlyMemory<byte> message)
    {
        try
        {
            Receive(from, WireCodec.Read(message.Span, from));
        }
        catch (WireFormatException exception)
        {
            _worker.Fail(new ProtocolViolationException($"A message of {from} cannot be read: {exception.Message}"));
        }
    }

    void IMailboxOwner.OnHeader(Incarnation from, ReadOnlyMemory<byte> header)
    {
    }

    void IMailboxOwner.OnPeerUp(Incarnation peer)
    {
    }

    void IMailboxOwner.OnPeerGone(Incarnation peer) => First.PostRun(() => OnGone(peer));

    void IMailboxOwner.OnOwnLifeIsOver(Incarnation later) =>
        _worker.Fail(new LogLostFailure($"{later} lives: this is {Self}, whose log has another owner."));

    void IMailboxOwner.OnViolation(Exception violation) => _worker.Fail(violation);

    int IMailboxOwner.WriteHeader(int worker, Span<byte> header) => 0;

    /// <summary>Looks at what waits for whom now and then, while something does (W4, H6).</summary>
    public void KeepTicking()
    {
        if (Interlocked.Exchange(ref _ticking, 1) == 0)
        {
            _tick.Change(ActBranches.LongestWait, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        _tick.Dispose();
        Hub.Dispose();
    }

    private void OnGone(Incarnation peer)
    {
        Acts.OnGone(peer);
        Pacts.OnGone(peer);
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
        if (Acts.BreakWaits() | Pacts.Count > 0)
        {
            First.CheckTurns();
            KeepTicking();
        }
    }
}

/// <summary>What a worker needs to be one among others.</summary>
/// <param name="Self">The worker in this life.</param>
/// <param name="Transport">The road to the others.</param>
/// <param name="Mailboxes">Bounds of the channels.</param>
/// <param name="PartitionOf">Partition of an actor; null: by its own hash.</param>
internal sealed record ClusterParts(Incarnation Self, IMailboxTransport Transport, MailboxOptions Mailboxes, Func<ActorKey, Partition>? PartitionOf);
