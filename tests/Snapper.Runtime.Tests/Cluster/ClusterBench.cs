using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Mastering;
using Snapper.Cluster.Membership;
using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// One real worker, w1, that owns everything, pumped by the test on its own thread and by its own clock. The other workers are mailboxes through which the test speaks and hears.
/// Nothing looks at the members or takes the master's lease by itself: the test says what has happened.
/// </summary>
internal sealed class ClusterBench : IDisposable
{
    /// <summary>Of every worker that is registered.</summary>
    public static readonly TimeSpan Lease = TimeSpan.FromSeconds(2);

    /// <summary>Fewer entries than the directory has: it is read in pages.</summary>
    public const int DirectoryPage = 1500;

    private readonly Queue<Action> _later = new();
    private readonly Dictionary<int, BenchPeer> _peers = [];
    private MailboxHub? _hub;
    private long _placed = 1_000_000;

    private readonly int _executors;

    /// <param name="executors">Executors of w1. The first one is always pumped until it has nothing left, so that what another one passes on to it comes late.</param>
    public ClusterBench(int executors = 1)
    {
        _executors = executors;
        Time.Advance(TimeSpan.FromHours(1));
        Shared = new MemoryCluster(Time, new ClusterOptions { Lease = Lease });
        Open();
    }

    public ManualTime Time { get; } = new();

    public MemoryCluster Shared { get; }

    /// <summary>What w1 says to operators.</summary>
    public LogLines Logged { get; } = new();

    /// <summary>The log of w1.</summary>
    public HeldLog Log { get; private set; } = null!;

    /// <summary>States of actors, as w1 loads them.</summary>
    public HeldLoads States { get; private set; } = null!;

    /// <summary>What w1 shares with the others, as w1 sees it.</summary>
    public FaultyStore Store { get; private set; } = null!;

    public WorkerHost Host { get; private set; } = null!;

    public DirectoryFollower Directory { get; private set; } = null!;

    public Worker Worker => Host.Worker;

    public ClusterNode Node => Worker.Cluster!;

    public Incarnation Self => Node.Self;

    public static ActorKey Box(string id) => new("Box", id);

    /// <summary>A new life of w1 on the same log.</summary>
    public void Restart()
    {
        Kill();
        Open();
    }

    /// <summary>A new life of another worker; it is registered, and known to w1.</summary>
    public BenchPeer Peer(int worker)
    {
        var opened = Finish(new MemoryTransactionLog(Shared.Log(worker)).Open(CancellationToken.None), "opening a log");
        var peer = new BenchPeer(this, new Incarnation(worker, opened.Epoch));
        _peers[worker] = peer;
        Finish(peer.Store.Members.Register(new MemberAddress($"w{worker}", "", 1, "test"), CancellationToken.None), "registering");
        Node.Gate.Hub.Learn(peer.Life);
        Run();
        return peer;
    }

    /// <summary>An actor is elsewhere, as far as w1 has heard.</summary>
    public void Place(ActorKey actor, Incarnation owner) => Place(DirectoryKey.Of(actor, Partition.Of(actor)), owner);

    /// <summary>The same for whatever the directory places.</summary>
    public void Place(DirectoryKey key, Incarnation owner) => On(() =>
    {
        Node.Ownership.Freeze(key, "placed"); // what is here moves as by a plan
        Node.Apply([new DirectoryEntry(key, owner, ++_placed)]);
    });

    /// <summary>Does something where what comes from other workers is handled, and all that follows from it.</summary>
    public void On(Action action)
    {
        Node.First.PostRun(action);
        Run();
    }

    /// <summary>w1 is master from now on.</summary>
    public MasterElection Lead()
    {
        var seat = new MasterElection(Store, Time);
        Assert.True(Finish(seat.TryTake(CancellationToken.None), "taking the master's lease"));
        var epoch = seat.Held!.Mastership.MasterEpoch;
        On(() =>
        {
            Node.BeginMaster(new MasterHost(Node, Worker, seat.Held, [Self], [], new()));
            Node.Succession.Follow(Self, epoch);
        });
        Until(() => Node.Requests.MasterEpoch == epoch, "w1 follows itself");
        return seat;
    }

    /// <summary>Another is master.</summary>
    public void Follow(BenchPeer master, long epoch) => On(() => Node.Succession.Follow(master.Life, epoch));

    public Task<TransactionEnvelope> Submit(string box, Step[] steps, params string[] access)
    {
        var request = new TransactionRequest
        {
            Actor = Box(box),
            Method = "Run",
            Input = JsonSerializer.SerializeToUtf8Bytes(new Script(steps)),
            Mode = access.Length == 0 ? TransactionMode.Act : TransactionMode.Pact,
            Access = access.Length == 0 ? null : [.. access.Select(id => new DeclaredAccess(Box(id), 1))],
            Timeout = TimeSpan.FromSeconds(30),
        };
        Task<TransactionEnvelope>? submitted = null;
        Alone(() => submitted = Host.Door.Submit(request, CancellationToken.None));
        Run();
        return submitted!;
    }

    /// <summary>The committed value of a box of w1.</summary>
    public int Value(string box) => Rig.Seen(Finish(Submit(box, [Step.Get()]), $"reading {box}"))[0];

    /// <summary>
    /// ACTs whose commit a next life of w1 would find in its log, once everything that may be trimmed was.
    /// </summary>
    public List<TransactionId> Decided()
    {
        Finish(Submit("checkpointed", [Step.Add()]), "something to checkpoint"); // without that, nothing is trimmed
        Finish(Worker.Checkpoints.CheckpointNow(), "checkpointing");
        return DecidedInLog();
    }

    /// <summary>The same, of all that its log holds now.</summary>
    public List<TransactionId> DecidedInLog() => Finish(ReadDecided(), "reading the log");

    /// <summary>Everything that can be done without time passing.</summary>
    public void Run() => Alone(RunAll);

    public void Advance(int milliseconds)
    {
        Run();
        for (var i = 0; i < milliseconds; i++)
        {
            Alone(() => Time.Advance(TimeSpan.FromMilliseconds(1)));
            Run();
        }
    }

    /// <summary>
    /// Does something, and all that follows from it, on this thread: the test runner's context would carry what waits
    /// for it to another one.
    /// </summary>
    public static void Alone(Action action)
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            action();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }

    /// <summary>Lets time pass until something is so.</summary>
    public void Until(Func<bool> condition, string what, int milliseconds = 10_000)
    {
        Run();
        for (var i = 0; !condition(); i++)
        {
            Assert.True(i < milliseconds, $"waited {milliseconds} ms of the bench's time until {what}; {Host?.Failure?.ToString() ?? "w1 has not failed"}");
            Advance(1);
        }
    }

    public T Finish<T>(Task<T> task, string what, int milliseconds = 30_000)
    {
        Finish((Task)task, what, milliseconds);
        return task.Result;
    }

    public void Finish(Task task, string what, int milliseconds = 30_000)
    {
        Run();
        for (var i = 0; !task.IsCompleted; i++)
        {
            Assert.True(i < milliseconds, $"waited {milliseconds} ms of the bench's time for {what}; {Host?.Failure?.ToString() ?? "w1 has not failed"}");
            Advance(1);
        }

        task.GetAwaiter().GetResult();
    }

    public void Dispose()
    {
        Kill();
        foreach (var peer in _peers.Values)
        {
            peer.Dispose();
        }
    }

    private void Open()
    {
        Log = new HeldLog(new MemoryTransactionLog(Shared.Log(1)));
        Host = Finish(
            WorkerHost.Prepare(
                new WorkerSetup
                {
                    Options = new WorkerOptions { Name = "w1", Number = 1, Executors = _executors, Coordinators = 1, Seed = 1, AnswersInline = true },
                    ActorTypes = SnapperRuntimeTestsActors.All,
                    Log = Log,
                    Store = States = new HeldLoads(new MemoryStateStore(Shared.Log(1), Time, new StateStoreOptions())),
                    Checkpointing = new CheckpointerOptions { Interval = TimeSpan.FromHours(1) },
                    Time = Time,
                    Logger = Logged,
                    Background = new Background(_later.Enqueue),
                    Cluster = new ClusterSetup
                    {
                        OpenStore = self => Store = new FaultyStore(Shared.Open(self, new StateStoreOptions())),
                        Transport = new Road(worker => _peers.GetValueOrDefault(worker)?.Hub),
                        Opened = hub => _hub = hub,
                        ArchiveOf = other => new MemoryStateStore(Shared.Log(other), Time, new StateStoreOptions()),
                        Address = new MemberAddress("w1", "", 1, "test"),
                        Options = new ClusterOptions { Lease = Lease },
                        Mailboxes = MailboxRig.Options(),
                    },
                },
                CancellationToken.None),
            "recovery");
        Host.Open();
        Directory = new DirectoryFollower(Worker, Node, Store, DirectoryPage);
        Node.ReadDirectory = Directory.Read;
        var owners = new Incarnation[Partition.Count];
        Array.Fill(owners, Self);
        Finish(Store.Directory.AssignAll(owners, CancellationToken.None), "giving everything to w1");
        Finish(Directory.Read(CancellationToken.None), "reading the directory");
        Finish(Directory.Reclaim(CancellationToken.None), "taking its own again");
    }

    private async Task<List<TransactionId>> ReadDecided()
    {
        var found = new List<TransactionId>();
        var decoder = new GroupDecoder();
        await foreach (var group in new MemoryTransactionLog(Shared.Log(1)).Read(1, CancellationToken.None))
        {
            decoder.Start(group);
            while (decoder.MoveNext())
            {
                if (decoder.Current is ActCommitted { Participants.Count: > 0 } act)
                {
                    found.Add(act.Transaction);
                }
            }
        }

        return found;
    }

    private void RunAll()
    {
        while (true)
        {
            if (_later.TryDequeue(out var action))
            {
                action();
            }
            else if (Host?.Worker is { Failure: null } worker && worker.Executors.FirstOrDefault(static executor => executor.HasWork) is { } ready)
            {
                ready.Enter();
                try
                {
                    ready.RunOne();
                }
                finally
                {
                    Executor.Leave();
                }
            }
            else
            {
                return;
            }
        }
    }

    private void Kill()
    {
        Task? ended = null;
        Alone(() => ended = Host.Kill());
        Finish(ended!, "the end of w1");
        _later.Clear();
        _hub = null;
    }

    internal Task<ReadOnlyMemory<byte>> ToBench(ReadOnlyMemory<byte> packet) => Task.FromResult(_hub?.Deliver(packet.ToArray()) ?? MailboxHub.NotReady);

    private sealed class Road(Func<int, MailboxHub?> find) : IMailboxTransport
    {
        public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation) =>
            Task.FromResult(find(worker)?.Deliver(packet.ToArray()) ?? MailboxHub.NotReady);
    }
}
