using System.Text.Json;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;

namespace Snapper.Server.Tests.Api;

/// <summary>A worker that knows one actor type, Account, and one batch, 12.</summary>
internal sealed class FakeInspection : IWorkerInspection
{
    private static readonly BatchView OneBatch = new(
        12, 9, 3, 4, "committed", 1_000, 0.5, 0.75)
    {
        WaitingFor = ["Account/alice"],
        GlobalBatch = 11, PreparedMs = 0.625, LastActor = "Account/bob", BeforeLastActor = "Account/carol", LastActorAfterMs = 0.25, HeldBackBy = HeldBackBy.Decision, HeldBackMs = 0.125,
    };

    public List<HealthCheck> HealthChecks { get; } = [new("log", true, "Reached.")];

    public List<string> Asked { get; } = [];

    public int LimitAsked { get; private set; }

    public ClusterStatusView? Cluster { get; init; }

    public IWorkerWatch? Watch { get; init; }

    public WorkerStatus Status() => new(
        "w1", 4711, 4712, null, 3, "daprd", "redis", "always", 12_500, "0.1.0", 90, 10, 2, 60, 30)
    {
        AbortsByReason = new Dictionary<string, long> { ["conflict"] = 7, ["application"] = 3 },
        Batches = 12,
        HighestCommittedBatch = 9120,
        LogPosition = 500,
        DurablePosition = 499,
        Undos = 1,
        ResidentActors = 44,
        OpenBatches = 0,
        RepeatsByReason = new Dictionary<string, long> { ["conflict"] = 4 },
        Redis = new RedisMemoryView(900, 1000, 8000),
        Memory = new HeldMemoryView(600, 1000, 20, 250, false),
        CpuMs = 1_500,
        Cluster = Cluster,
        ResidentBytes = 1 << 20,
        Latency = new LatencyByMode(new LatencyView(60, 1.5, 2, 3, 4, 5), null),
    };

    public IReadOnlyList<HealthCheck> Checks() => HealthChecks;

    public IReadOnlyList<ActorTypeView> ActorTypes() =>
        [new("Account") { Methods = [new("Transfer", true, false, JsonDocument.Parse("{\"type\":\"object\"}").RootElement, null)] }];

    public Task<ActorView?> Actor(ActorKey actor, CancellationToken cancellation)
    {
        Asked.Add(actor.Id);
        if (actor.Id == "away")
        {
            throw new StorageUnavailableException("Redis does not answer.");
        }

        if (actor.Id == "damaged")
        {
            throw new DamagedStateException("The stored state of Account/damaged is damaged: it is not JSON.");
        }

        return Task.FromResult(actor.Type != "Account" ? null : new ActorView(
            actor.Type, actor.Id, actor.Id == "new" ? null : JsonDocument.Parse("{\"balance\":1.50}").RootElement, 8, 12, "w1", true));
    }

    public Task<ActorListView?> Actors(string type, string? after, string prefix, int limit, CancellationToken cancellation)
    {
        LimitAsked = limit;
        Asked.Add($"{after}|{prefix}");
        return prefix == "away" ? throw new StorageUnavailableException("Redis does not answer.")
            : Task.FromResult(type != "Account" ? null : new ActorListView(type, "w1") { Actors = [new("alice", 8, true), new("bob", null, false)], Next = "bob" });
    }

    public Task<ScheduleView?> Schedule(ActorKey actor, CancellationToken cancellation)
    {
        Asked.Add(actor.Id);
        return Task.FromResult(actor.Type != "Account" ? null : new ScheduleView(actor.Type, actor.Id)
        {
            Entries = [new("pact", 13, 12, "executing", 1, 2, 0, 0), new("act", 4503599627370497, 0, "waiting", 0, 0, 12, 0)],
        });
    }

    public Task<IReadOnlyList<BatchView>> Batches(int limit, CancellationToken cancellation)
    {
        LimitAsked = limit;
        return Task.FromResult<IReadOnlyList<BatchView>>([OneBatch]);
    }

    public Task<BatchView?> Batch(long bid, CancellationToken cancellation) => Task.FromResult(bid == 12 ? OneBatch : null);

    public Task<IReadOnlyList<AbortView>> Aborts(int limit, string? reason, bool? repeated, CancellationToken cancellation)
    {
        LimitAsked = limit;
        return Task.FromResult<IReadOnlyList<AbortView>>(
            [new(2_000, "order-1", 14, "act", "Account/alice", "Transfer", "conflict", "older holder", true) { Actors = ["Account/bob"], Blocker = 11, UndoneFor = new("order-0", 9, "pact", "Account/carol", "Transfer", 0) }]);
    }
}
