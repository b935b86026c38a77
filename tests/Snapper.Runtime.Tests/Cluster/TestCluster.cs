using System.Collections.Concurrent;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.Cluster;
using Snapper.Cluster.Balancing;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Several workers in one process, on memory logs, with roads between them that lose nothing by themselves.
/// </summary>
internal sealed class TestCluster : ILoadTarget, IAsyncDisposable
{
    private readonly HashSet<int> _killed = [];
    private readonly MemoryCluster _shared;
    private readonly WorkerOptions _options;
    private readonly WorkerHost?[] _hosts = new WorkerHost?[16];
    private readonly MailboxHub?[] _hubs = new MailboxHub?[16];
    private readonly ConcurrentDictionary<(int From, int To), bool> _cuts = new();
    private readonly FaultyStore?[] _stores = new FaultyStore?[16];
    private int _next;

    private readonly Func<int, IReadOnlyList<ActorTypeDescriptor>> _types;

    private TestCluster(WorkerOptions options, TimeSpan lease, Func<int, IReadOnlyList<ActorTypeDescriptor>>? types, MemoryCluster? shared)
    {
        _options = options;
        _types = types ?? (static _ => []);
        Options = new ClusterOptions { Lease = lease };
        _shared = shared ?? new MemoryCluster(TimeProvider.System, Options);
    }

    public ClusterOptions Options { get; }

    /// <summary>What all share.</summary>
    public MemoryCluster Shared => _shared;

    /// <summary>After which a worker that cannot be reached is evicted.</summary>
    public TimeSpan Patience { get; private init; } = TimeSpan.FromSeconds(3);

    /// <summary>Bounds of the channels.</summary>
    public MailboxOptions Mailboxes { get; private init; } = new();

    /// <summary>The policy that proposes moves.</summary>
    public BalancingOptions Balancing { get; private init; } = new();

    public List<(int Worker, Exception Failure)> Failures { get; } = [];

    public int Workers { get; set; }

    /// <summary>Clocks of a worker, by its number.</summary>
    public Func<int, TimeProvider> Times { get; private init; } = static _ => TimeProvider.System;

    /// <summary>What the workers have logged.</summary>
    public LogLines Logged { get; } = new();

    /// <summary>Workers whose copied outcomes are damaged, by number.</summary>
    public ConcurrentDictionary<int, bool> DamagedArchives { get; } = new();

    /// <summary>
    /// What the state store of a worker answers to checkpoints, by its number, in place of doing them.
    /// </summary>
    public ConcurrentDictionary<int, AppendResult> FoldAnswers { get; } = new();

    /// <summary>
    /// What a worker has looked for in the outcomes of others is told to it when this completes, by its number.
    /// </summary>
    public ConcurrentDictionary<int, Task> HeldLookups { get; } = new();

    /// <summary>Logs of the workers, by number, as they were opened last.</summary>
    public Support.HeldLog?[] Logs { get; } = new Support.HeldLog?[16];

    /// <param name="workers">How many.</param>
    /// <param name="options">Executors, coordinators and marking.</param>
    /// <param name="lease">Of each.</param>
    /// <param name="patience">With workers that cannot be reached.</param>
    /// <param name="balancing">The policy.</param>
    /// <param name="mailboxes">Bounds of the channels.</param>
    /// <param name="types">Actor types of a worker beside those that all have, by its number.</param>
    /// <param name="shared">What they share; it may hold something already.</param>
    /// <param name="times">Clocks of a worker, by its number.</param>
    public static async Task<TestCluster> Start(
        int workers, WorkerOptions? options = null, TimeSpan? lease = null, Func<int, IReadOnlyList<ActorTypeDescriptor>>? types = null,
        TimeSpan? patience = null, BalancingOptions? balancing = null, MemoryCluster? shared = null, Func<int, TimeProvider>? times = null,
        MailboxOptions? mailboxes = null)
    {
        var cluster = new TestCluster(options ?? new WorkerOptions(), lease ?? TimeSpan.FromSeconds(2), types, shared)
        {
            Times = times ?? (static _ => TimeProvider.System), Workers = workers, Patience = patience ?? TimeSpan.FromSeconds(3), Balancing = balancing ?? new(), Mailboxes = mailboxes ?? new(),
        };
        await Task.WhenAll(Enumerable.Range(1, workers).Select(cluster.Open)).WaitAsync(TimeSpan.FromSeconds(20));
        return cluster;
    }

    public WorkerHost this[int worker] => _hosts[worker] ?? throw new InvalidOperationException($"w{worker} does not run.");

    /// <summary>The worker that owns an actor, as any of them knows it.</summary>
    public WorkerHost OwnerOf(string type, string id)
    {
        var any = _hosts.First(host => host is { Failure: null })!;
        return this[any.Worker.Cluster!.Directory.Resolve(new ActorKey(type, id)).Worker];
    }

    /// <summary>The number of the master.</summary>
    public int Master => _hosts.First(host => host is { Failure: null })!.Worker.Cluster!.Requests.Master.Worker;

    /// <summary>What a worker shares with the others, as it sees it.</summary>
    public FaultyStore StoreOf(int worker) => _stores[worker] ?? throw new InvalidOperationException($"w{worker} does not run.");

    /// <summary>Ends a worker as a crash would.</summary>
    public async Task Kill(int worker)
    {
        _hubs[worker] = null;
        lock (Failures)
        {
            _killed.Add(worker);
        }

        await this[worker].Kill();
    }

    /// <summary>
    /// What one worker sends to another is lost from now on, its answers to the other's packets included.
    /// </summary>
    public void Cut(int from, int to) => _cuts[(from, to)] = true;

    /// <summary>
    /// The packets of one worker to another are lost from now on; its answers to the other's packets are not.
    /// </summary>
    public void CutCalls(int from, int to) => _cuts[(from, to)] = false;

    /// <summary>Messages in packets that were sent, repetitions included: who, to whom, and their kind.</summary>
    public ConcurrentQueue<(int From, int To, WireKind Kind)> Sent { get; } = new();

    private void Note(int from, int to, ReadOnlyMemory<byte> packet)
    {
        if (ChannelPacket.TryRead(packet, out var read, out _))
        {
            foreach (var message in read)
            {
                Sent.Enqueue((from, to, (WireKind)message.Span[0]));
            }
        }
    }

    /// <summary>All roads are good again.</summary>
    public void Heal() => _cuts.Clear();

    /// <summary>The workers as the store knows them.</summary>
    public Task<IReadOnlyList<Member>> Members() => _shared.Open(new Incarnation(1, 1), new StateStoreOptions()).Members.Read(CancellationToken.None);

    /// <summary>What failed without having been killed; one that was may have been fenced just before.</summary>
    public IReadOnlyList<(int Worker, Exception Failure)> Unexpected
    {
        get
        {
            lock (Failures)
            {
                return Failures.Where(failure => !failure.Failure.Message.Contains("was killed", StringComparison.Ordinal)
                    && !(failure.Failure is LogLostFailure && _killed.Contains(failure.Worker))).ToList();
            }
        }
    }

    /// <summary>A life of a worker that is registered, and of which there is nothing else.</summary>
    public async Task<Incarnation> Register(int worker)
    {
        var opened = await new MemoryTransactionLog(_shared.Log(worker)).Open(CancellationToken.None);
        var life = new Incarnation(worker, opened.Epoch);
        var address = new MemberAddress($"w{worker}", "", 1, "test");
        var members = _shared.Open(life, new StateStoreOptions()).Members;
        var registered = await members.Register(address, CancellationToken.None);
        Assert.True(registered.IsDone, registered.Detail);
        return life;
    }

    /// <summary>An id of an actor that a worker owns.</summary>
    public string IdAt(int worker, string type, string prefix = "a")
    {
        for (var i = 0; ; i++)
        {
            if (OwnerOf(type, prefix + i) == this[worker])
            {
                return prefix + i;
            }
        }
    }

    /// <summary>At the living workers in turn: each takes any request.</summary>
    public Task<TransactionEnvelope> Submit(string type, string id, string method, object? input, DeclaredAccess[]? access, string? key = null, int timeoutMs = 30_000)
    {
        for (var tries = 0; tries < 100; tries++)
        {
            if (_hosts[1 + (int)((uint)Interlocked.Increment(ref _next) % Workers)] is { Failure: null } host)
            {
                return SubmitTo(host, type, id, method, input, access, key, timeoutMs);
            }
        }

        throw new InvalidOperationException("No worker lives.");
    }

    public static Task<TransactionEnvelope> SubmitTo(
        WorkerHost host, string type, string id, string method, object? input, DeclaredAccess[]? access, string? key = null, int timeoutMs = 30_000,
        AccessMode accessMode = AccessMode.Strict) => host.Door.Submit(
        new TransactionRequest
        {
            Actor = new ActorKey(type, id),
            Method = method,
            Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
            Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
            Access = access,
            AccessMode = accessMode,
            Id = key,
            Timeout = TimeSpan.FromMilliseconds(timeoutMs),
        },
        CancellationToken.None);

    public async Task<decimal> Total(string id)
    {
        var envelope = await Submit("Account", id, "Balance", null, null);
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        using var json = JsonDocument.Parse(envelope.Result);
        return json.RootElement.GetProperty("total").GetDecimal();
    }

    public async Task Open(int worker)
    {
        var storage = _shared.Log(worker);
        var options = new WorkerOptions
        {
            Name = $"w{worker}",
            Number = worker,
            Executors = _options.Executors,
            Coordinators = _options.Coordinators,
            OpenBatches = _options.OpenBatches,
            MaxInFlight = _options.MaxInFlight,
            MaxRequestIds = _options.MaxRequestIds,
            MaxResultBytes = _options.MaxResultBytes,
            MaxStateBytes = _options.MaxStateBytes,
            MaxTransactionBytes = _options.MaxTransactionBytes,
            MarkMethodsThatFail = _options.MarkMethodsThatFail,
            TenantsApart = _options.TenantsApart,
            TurnBound = _options.TurnBound,
            DrainTimeout = TimeSpan.FromSeconds(2),
        };
        _hosts[worker] = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = options,
                Time = Times(worker),
                ActorTypes = [.. SnapperAppsSmallBankActors.All, .. SnapperAppsListAppendActors.All, .. _types(worker)],
                Log = Logs[worker] = new Support.HeldLog(new MemoryTransactionLog(storage)),
                Store = new WatchedStore(this, new MemoryStateStore(storage, Times(worker), new StateStoreOptions()), worker, worker),
                Logger = Logged,
                Failed = exception =>
                {
                    lock (Failures)
                    {
                        Failures.Add((worker, exception));
                    }
                },
                Cluster = new ClusterSetup
                {
                    OpenStore = self => _stores[worker] = new FaultyStore(_shared.Open(self, new StateStoreOptions())),
                    ArchiveOf = other => new WatchedStore(this, new MemoryStateStore(_shared.Log(other), Times(worker), new StateStoreOptions()), worker, other),
                    Transport = new Road(this, worker),
                    Patience = Patience,
                    Balancing = Balancing,
                    Mailboxes = Mailboxes,
                    Opened = hub => _hubs[worker] = hub,
                    Address = new MemberAddress($"w{worker}", "", Environment.ProcessId, "test"),
                    Options = Options,
                    FirstWorkers = Workers,
                    DirectoryPage = ClusterBench.DirectoryPage,
                },
            },
            CancellationToken.None);
    }

    /// <summary>Moves an actor, and waits for what becomes of the plan.</summary>
    public Task<PlanState> Move(string plan, int from, int to, ActorKey actor) => Move(plan, from, to, DirectoryKey.Of(actor, Partition.Of(actor)));

    /// <summary>The same for whatever the directory places.</summary>
    public async Task<PlanState> Move(string plan, int from, int to, DirectoryKey key)
    {
        var source = this[from].Worker.Cluster!;
        var store = _shared.Open(source.Self, new StateStoreOptions());
        var made = await store.Plans.Create(
            new MigrationPlan(plan, [key], source.Self, this[to].Worker.Cluster!.Self, "test"), CancellationToken.None);
        if (!made.IsDone)
        {
            return PlanState.Cancelled; // it has moved meanwhile, or its owner has changed
        }

        var until = DateTime.UtcNow.AddSeconds(15);
        while (true)
        {
            var record = await store.Plans.Find(plan, CancellationToken.None);
            if (record!.State != PlanState.Planned)
            {
                return record.State;
            }

            Assert.True(DateTime.UtcNow < until, $"Plan {plan} has not ended after 15 s.");
            await Task.Delay(5);
        }
    }

    /// <summary>What is under way where, for whoever looks for what hangs.</summary>
    public async Task<string> Describe()
    {
        var text = new System.Text.StringBuilder();
        foreach (var host in _hosts)
        {
            if (host is not { Failure: null })
            {
                continue;
            }

            var worker = host.Worker;
            var node = worker.Cluster!;
            text.AppendLine(await node.Ask(() =>
            {
                var lines = new List<string>
                {
                    $"{node.Self}: in flight {worker.RequestManager.InFlight}, passed {node.Door.Passing}, master epoch {node.Requests.MasterEpoch}, waiting for numbers {node.Requests.Waiting}, "
                    + $"pacts {node.Pacts.Count}, calls {node.Calls.Count}, master: {node.Master?.Describe()}, final {worker.Final}",
                };
                foreach (var batch in worker.Commits.Open)
                {
                    lines.Add($"  batch {batch.Bid} part {batch.Part?.Bid} {batch.PartState} open components {batch.OpenComponents}, actors without completion {batch.Incomplete}");
                }

                foreach (var act in worker.Acts.Values)
                {
                    lines.Add($"  act {act.Tid} of {act.Origin?.Root} alive {act.IsAlive} prepared {act.IsPrepared} root ended {act.RootEnded} doom {act.AbortCause} visited {string.Join(' ', act.TakeVisited())} at {string.Join(' ', act.TakeParticipants())}");
                }

                return string.Join(Environment.NewLine, lines);
            }));
        }

        return text.ToString();
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var host in _hosts)
        {
            if (host is not null)
            {
                await host.DisposeAsync();
            }
        }
    }

    private sealed class WatchedStore(TestCluster cluster, MemoryStateStore inner, int reader, int owner) : IStateStore, IActorListing, IOutcomeArchive
    {
        public Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation) => inner.Load(actor, cancellation);

        public Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation) =>
            cluster.FoldAnswers.TryGetValue(owner, out var answer) ? Task.FromResult(answer) : inner.Checkpoint(epoch, checkpoints, cancellation);

        public Task<IReadOnlyList<StoredActor>> List(ActorListQuery query, CancellationToken cancellation) => inner.List(query, cancellation);

        public Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation) => inner.SaveOutcomes(epoch, outcomes, cancellation);

        public Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation) => inner.DropOutcomes(epoch, cancellation);

        public async Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation)
        {
            var found = await Whole().FindOutcome(requestId, cancellation);
            await (owner != reader && cluster.HeldLookups.TryGetValue(reader, out var held) ? held : Task.CompletedTask);
            return found;
        }

        public async Task<ArchiveStanding> Look(CancellationToken cancellation) => await Whole().Look(cancellation);

        public async Task Clear(ArchiveStanding seen, CancellationToken cancellation) => await Whole().Clear(seen, cancellation);

        public ValueTask DisposeAsync() => inner.DisposeAsync();

        private MemoryStateStore Whole() => cluster.DamagedArchives.ContainsKey(owner) ? throw new CorruptLogException("Key planned is damaged.") : inner;
    }

    private sealed class Road(TestCluster cluster, int from) : IMailboxTransport
    {
        public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            await Task.Yield();
            if (cluster._cuts.ContainsKey((from, worker)))
            {
                await Task.Delay(Timeout.Infinite, cancellation);
            }

            cluster.Note(from, worker, packet);
            var answer = cluster._hubs[worker] is { } hub ? await hub.Receive(packet.ToArray()) : MailboxHub.NotReady;
            if (cluster._cuts.TryGetValue((worker, from), out var answersToo) && answersToo)
            {
                await Task.Delay(Timeout.Infinite, cancellation);
            }

            return answer;
        }
    }
}
