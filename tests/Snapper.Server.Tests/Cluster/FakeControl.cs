using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Server.Tests.Cluster;

/// <summary>Workers as one of them sees them, by a table; what is asked to move has moved at once, or is refused.</summary>
internal sealed class FakeControl(string name, params ClusterMember[] workers) : IClusterControl
{
    public List<ClusterMember> Known { get; } = [.. workers];

    public List<MigrationAsk> Asked { get; } = [];

    public List<MigrationStatus> Made { get; } = [];

    /// <summary>What to do with what is asked for; the default is to do it.</summary>
    public Action<MigrationAsk>? OnMigrate { get; set; }

    /// <summary>Answers who the workers are; null: from the table.</summary>
    public Func<Task<IReadOnlyList<ClusterMember>>>? OnWorkers { get; init; }

    public string Name => name;

    public static ClusterMember Worker(string name, long entries, string state = "live", long epoch = 1) =>
        new(name, epoch, state, false, 4000, entries, "", 1, "test", null, 0, 0);

    public static MigrationStatus Migration(string id, string state = "done") =>
        new(id, state, 1, "") { Parts = [new MigrationPart(id + ".1", "w1", "w2", 1, state)] };

    public Task<IReadOnlyList<ClusterMember>> Workers(CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        return OnWorkers?.Invoke() ?? Task.FromResult<IReadOnlyList<ClusterMember>>([.. Known]);
    }

    public Task<MigrationStatus> Migrate(MigrationAsk ask, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        Asked.Add(ask);
        OnMigrate?.Invoke(ask);
        var moved = Known.Single(worker => worker.Worker == Name);
        var migration = Migration(ask.Id!);
        Made.Add(migration);
        if (OnMigrate is null) Entries(Name, ask.Rebalance ? 10 : 0);
        return Task.FromResult(migration with { Keys = (int)moved.Entries });
    }

    public void Entries(string worker, long entries)
    {
        var at = Known.FindIndex(known => known.Worker == worker);
        Known[at] = Known[at] with { Entries = entries };
    }

    public Task<MigrationStatus?> Migration(string id, CancellationToken cancellation) => Task.FromResult(Made.Find(made => made.Id == id));

    public Task<IReadOnlyList<MigrationStatus>> Migrations(int limit, CancellationToken cancellation) => Task.FromResult<IReadOnlyList<MigrationStatus>>([.. Made]);

    /// <summary>Why it cannot leave, one after another; then it can.</summary>
    public Queue<string> Refusals { get; } = new();

    public bool HasLeft { get; private set; }

    public Task<string?> Leave(CancellationToken cancellation)
    {
        var why = Refusals.TryDequeue(out var refusal) ? refusal : null;
        HasLeft = why is null;
        return Task.FromResult(why);
    }

    public DirectoryView Directory() => throw new NotSupportedException();

    public IReadOnlyList<int> PartitionsOf(string worker) => throw new NotSupportedException();

    public string? OwnerOf(ActorKey actor) => throw new NotSupportedException();

    public int PartitionOf(ActorKey actor) => throw new NotSupportedException();

    public MigrationProposals Proposals() => throw new NotSupportedException();
}
