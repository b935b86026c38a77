using System.Text.Json;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Cluster;
using Snapper.TransactionLog.Cluster.InMemory;
using Snapper.TransactionLog.InMemory;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Several workers in one process, on memory logs, with roads between them that lose nothing by themselves.</summary>
internal sealed class TestCluster : ILoadTarget, IAsyncDisposable
{
    private readonly MemoryCluster _shared;
    private readonly WorkerOptions _options;
    private readonly WorkerHost?[] _hosts = new WorkerHost?[16];
    private readonly MailboxHub?[] _hubs = new MailboxHub?[16];
    private readonly Road _road;
    private int _next;

    private TestCluster(WorkerOptions options, TimeSpan lease)
    {
        _options = options;
        Options = new ClusterOptions { Lease = lease };
        _shared = new MemoryCluster(TimeProvider.System, Options);
        _road = new Road(this);
    }

    public ClusterOptions Options { get; }

    public List<(int Worker, Exception Failure)> Failures { get; } = [];

    public int Workers { get; private set; }

    public static async Task<TestCluster> Start(int workers, WorkerOptions? options = null, TimeSpan? lease = null)
    {
        var cluster = new TestCluster(options ?? new WorkerOptions(), lease ?? TimeSpan.FromSeconds(2)) { Workers = workers };
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

    /// <summary>Ends a worker as a crash would.</summary>
    public async Task Kill(int worker)
    {
        _hubs[worker] = null;
        await this[worker].Kill();
    }

    /// <summary>What failed without having been killed.</summary>
    public IReadOnlyList<(int Worker, Exception Failure)> Unexpected
    {
        get
        {
            lock (Failures)
            {
                return Failures.Where(failure => !failure.Failure.Message.Contains("was killed", StringComparison.Ordinal)).ToList();
            }
        }
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
        WorkerHost host, string type, string id, string method, object? input, DeclaredAccess[]? access, string? key = null, int timeoutMs = 30_000) => host.Door.Submit(
        new TransactionRequest
        {
            Actor = new ActorKey(type, id),
            Method = method,
            Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
            Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
            Access = access,
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
            MarkMethodsThatFail = _options.MarkMethodsThatFail,
            DrainTimeout = TimeSpan.FromSeconds(2),
        };
        _hosts[worker] = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = options,
                ActorTypes = [.. SnapperAppsSmallBankActors.All, .. SnapperAppsListAppendActors.All],
                Log = new MemoryTransactionLog(storage),
                Store = new MemoryStateStore(storage, TimeProvider.System, new StateStoreOptions()),
                Failed = exception =>
                {
                    lock (Failures)
                    {
                        Failures.Add((worker, exception));
                    }
                },
                Cluster = new ClusterSetup
                {
                    OpenStore = self => _shared.Open(self, new StateStoreOptions()),
                    ArchiveOf = other => new MemoryStateStore(_shared.Log(other), TimeProvider.System, new StateStoreOptions()),
                    Transport = _road,
                    Opened = hub => _hubs[worker] = hub,
                    Address = new MemberAddress($"w{worker}", "", Environment.ProcessId, "test"),
                    Options = Options,
                    FirstWorkers = Workers,
                },
            },
            CancellationToken.None);
    }

    /// <summary>Moves an actor, and waits for what becomes of the plan.</summary>
    public async Task<PlanState> Move(string plan, int from, int to, ActorKey actor)
    {
        var source = this[from].Worker.Cluster!;
        var store = _shared.Open(source.Self, new StateStoreOptions());
        var made = await store.Plans.Create(
            new MigrationPlan(plan, [DirectoryKey.Of(actor, Partition.Of(actor))], source.Self, this[to].Worker.Cluster!.Self, "test"), CancellationToken.None);
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
                    $"{node.Self}: in flight {worker.Relay.InFlight}, passed {node.Door.Passing}, master epoch {node.Requests.MasterEpoch}, waiting for numbers {node.Requests.Waiting}, "
                    + $"pacts {node.Pacts.Count}, calls {node.Calls.Count}, master: {node.Master?.Describe()}, final {worker.Final}",
                };
                foreach (var batch in worker.Commits.Open)
                {
                    lines.Add($"  batch {batch.Bid} part {batch.Part?.Bid} {batch.PartState} complete {batch.IsComplete} undecided {batch.Undecided}");
                }

                foreach (var act in worker.Acts.Values)
                {
                    lines.Add($"  act {act.Tid} of {act.Origin?.Root} alive {act.IsAlive} prepared {act.IsPrepared} root ended {act.RootEnded} doom {act.Doom} visited {string.Join(' ', act.TakeVisited())} at {string.Join(' ', act.TakeParticipants())}");
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

    private sealed class Road(TestCluster cluster) : IMailboxTransport
    {
        public async Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation)
        {
            await Task.Yield();
            return cluster._hubs[worker]?.Deliver(packet.ToArray()) ?? MailboxHub.NotReady;
        }
    }
}
