using System.Text;
using Snapper.Cluster;
using Snapper.Cluster.Control;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Simulation.Core;
using Snapper.Simulation.Workers;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// One life of one worker of several: with its membership, mailboxes, take-overs and migrations. Whatever it does beside its executors is an event of the world's queue.
/// </summary>
internal sealed class ClusterProcess : SimulatedProcess
{
    private readonly ClusterWorld _world;
    private readonly StoreLink _road;
    private ClusterSetup? _setup;
    private bool _isOpen;

    public ClusterProcess(ClusterWorld world, int number, int life)
        : base(world, life, world.ClockOf(number))
    {
        _world = world;
        Number = number;
        IsAlone = world.IsAlone;
        IsUpdated = world.IsUpdated(number);
        _road = new StoreLink(world, this);
    }

    /// <summary>Number of the worker.</summary>
    public int Number { get; }

    /// <summary>It runs the newer of two programs.</summary>
    public bool IsUpdated { get; }

    /// <summary>It is not one of several.</summary>
    public override bool IsAlone { get; }

    /// <summary>The server of all when its log was open; a loss by then was one before this life. 0: it is not open yet, or the worker is alone and belongs to none.</summary>
    public long Instance { get; private set; }

    /// <summary>It was told something untrue by the store, and may stop of it.</summary>
    public bool WasMisled { get; set; }

    /// <summary>Until when it may wait for a call to the store that a fault met.</summary>
    public long HinderedUntil { get; set; }

    /// <summary>Until when its mailboxes neither take nor send anything.</summary>
    public long SilentUntil { get; set; }

    public bool IsSilent => SilentUntil > _world.Now;

    /// <summary>Requests are let in.</summary>
    public override bool IsOpen => _isOpen && !Scope.IsDead;

    public IClusterControl? Control => Host?.Control;

    /// <summary>Its worker's number and the epoch of its log; nobody before that is open.</summary>
    public Incarnation Self => Host?.Worker.Cluster?.Self ?? default;

    /// <summary>It is master, as far as it knows.</summary>
    public bool IsMaster => IsOpen && Host!.Worker.Cluster?.Master is { IsOver: false };

    /// <summary>It takes requests, and nothing is under way.</summary>
    public bool IsAtRest => IsOpen && !IsStill && Host is { RequestManager: { InFlight: 0, Looking: 0, Ids.Running: 0, Deadlines: 0 }, Worker: { Unavailability: null, Acts.Count: 0, Commits.ActsInOrder: 0 } worker }
        && worker.Cluster is { Door.Passing: 0, Pacts.Count: 0, Calls.Count: 0, Requests: { Waiting: 0, MasterEpoch: > 0 } } node
        && worker.Commits.Open.Count == 0
        && node.OpenFreezes.Count == 0
        && (node.Master is not { IsOver: false } master || (master.Undecided == 0 && master.Waiting == 0 && master.Frozen.Plans.Count == 0))
        && node.Gate.Hub.Status().All(mailbox => !_world.Lives(mailbox.Peer) || (mailbox.QueuedMessages == 0 && mailbox.Unanswered == TimeSpan.Zero)); // what is on its way may begin something yet

    /// <summary>Plans for which it holds something frozen: as their source, as master, or any of its partitions or these actors (M3).</summary>
    public SortedSet<string> Freezes(IReadOnlyList<ActorKey> actors)
    {
        var plans = new SortedSet<string>(StringComparer.Ordinal);
        if (Host?.Worker.Cluster is not { } node)
        {
            return plans;
        }

        plans.UnionWith(node.OpenFreezes.Keys);
        plans.UnionWith(node.Master is { IsOver: false } master ? master.Frozen.Plans : []);
        plans.UnionWith(actors.Select(actor => node.Ownership.Look(actor).Plan).OfType<string>());
        plans.UnionWith(Enumerable.Range(0, Partition.Count).Select(partition => node.Ownership.Look(new Partition(partition)).Plan).OfType<string>());
        return plans;
    }

    public override string Standing
    {
        get
        {
            if (Host is not { Worker: var worker, RequestManager: var requests })
            {
                return $"w{Number} (life {Life}) is {(Scope.IsDead ? "dead" : "not recovered")}";
            }

            if (worker.Cluster is not { } node)
            {
                return $"w{Number} (life {Life}) is alone: {requests.InFlight} in flight";
            }

            var text = new StringBuilder();
            text.Append($"{node.Self} (life {Life}) is {worker.Unavailability ?? "available"}{(Scope.IsPaused ? ", paused" : "")}{(Scope.IsDead ? ", dead" : "")}: {requests.InFlight} in flight, {requests.Ids.Running} ids running, ")
                .Append($"{node.Door.Passing} passed on, {worker.Acts.Count} ACTs, {worker.Commits.ActsInOrder} in order, {node.Pacts.Count} global PACTs, {node.Calls.Count} calls, {node.Requests.Waiting} wait for ")
                .Append($"{node.Requests.Master} in master epoch {node.Requests.MasterEpoch}, {requests.Deadlines} deadlines, final {worker.Final}, master: {node.Master?.Describe() ?? "no"}, directory {node.Directory.Version}");
            foreach (var batch in worker.Commits.Open)
            {
                text.Append($"\n    batch {batch.Bid} part {batch.Part?.Bid} {batch.PartState} open components {batch.OpenComponents}, actors without completion {batch.Incomplete}");
            }

            foreach (var act in worker.Acts.Values)
            {
                text.Append($"\n    act {act.Tid} of {act.Origin?.Root} alive {act.IsAlive} prepared {act.IsPrepared} root ended {act.RootEnded} doom {act.AbortCause} visited {string.Join(' ', act.TakeVisited())} at {string.Join(' ', act.TakeParticipants())}");
            }

            foreach (var mailbox in node.Gate.Hub.Status())
            {
                if (mailbox.QueuedMessages > 0 || mailbox.Unanswered > TimeSpan.Zero)
                {
                    text.Append($"\n    to {mailbox.Peer}: {mailbox.QueuedMessages} messages, unanswered for {mailbox.Unanswered.TotalSeconds:0.###} s");
                }
            }

            return text.ToString();
        }
    }

    /// <summary>Ends it as <c>kill -9</c> would.</summary>
    public override void Crash()
    {
        base.Crash();
        _isOpen = false;
    }

    protected override WorkerSetup Setup()
    {
        var kept = _world.Shared.Log(Number);
        _setup = IsAlone ? null : ClusterSetup();
        return new WorkerSetup
        {
            Options = _world.Times.Worker(Number, Life),
            ActorTypes = _world.TypesOf(this),
            Services = _world.Own?.Services,
            Log = new UnreliableLog(_road, new MemoryTransactionLog(kept), LogSteps.Own, Number, () => _world.SharedStore.FullUntil[Number] > _world.Now),
            Store = new UnreliableStates(_road, new MemoryStateStore(kept, Time, _world.Times.Store), LogSteps.Own, Number),
            Checkpointing = Checkpointing,
            Writing = Writing,
            Time = Time,
            SchedulingPolicy = new(_world.Rare),
            Failed = OnFailed,
            Trace = _world.Trace?.Of(this),
            Background = new Background(Later),
            Cluster = _setup,
        };
    }

    private ClusterSetup ClusterSetup() => new()
    {
        OpenStore = self =>
        {
            Instance = _world.Shared.Instance;
            return new UnreliableCluster(_road, _world.Shared.Open(self, _world.Times.Store));
        },
        ArchiveOf = other => new UnreliableStates(_road, new MemoryStateStore(_world.Shared.Log(other), Time, _world.Times.Store), LogSteps.Own, other),
        Transport = _world.Network.Of(this),
        Opened = hub => _world.Listens(this, hub),
        Address = new MemberAddress($"w{Number}", "", Life, "simulated"),
        Options = _world.Times.Cluster,
        FirstWorkers = _world.Cluster.Workers,
        Patience = TimeSpan.FromMilliseconds(_world.Cluster.PatienceMs),
        Mailboxes = _world.Times.OfMailboxes(Life),
        PartitionOf = _world.PartitionOf,
    };

    /// <summary>Where the pool would go on: a moment later, in whatever order.</summary>
    private void Later(Action action) => _world.After(_world.Chance.Between(0, 2000L), Scope, action);

    protected override void RecoveryFailed(Exception exception) => _world.StartFailed(this, exception);

    protected override void Recovered(WorkerHost host)
    {
        _world.Recovered(this);
        if (IsAlone)
        {
            Open();
        }
        else if (host.Failure is null)
        {
            host.Join(Starting).Then(OnJoined);
        }
    }

    private void OnJoined(Task joined)
    {
        if (Scope.IsDead || Host!.Failure is not null)
        {
            return; // it has said so
        }

        if (!joined.IsCompletedSuccessfully)
        {
            _world.StartFailed(this, joined.Exception?.GetBaseException() ?? new OperationCanceledException("Joining was given up."));
            return;
        }

        Open();
    }

    private void Open()
    {
        Host!.Open();
        _isOpen = true;
        SweepLater();
    }

    private void OnFailed(Exception exception)
    {
        if (!Scope.IsDead)
        {
            _isOpen = false;
            _world.WorkerFailed(this, exception);
        }
    }
}
