using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

public sealed class MemoryClusterTests : ClusterConformance
{
    private protected override Task<IClusterBackend> NewBackend() => Task.FromResult<IClusterBackend>(new MemoryBackend(Options));
}

[NeedsRedis]
public sealed class RedisClusterTests(RedisServerFixture fixture) : ClusterConformance, IClassFixture<RedisServerFixture>
{
    private protected override async Task<IClusterBackend> NewBackend() => await RedisBackend.Connect(fixture.Server, Options);
}

/// <summary>What every store of a cluster must do. One subclass per backend; times are the backend's.</summary>
public abstract partial class ClusterConformance : IAsyncLifetime
{
    private protected static readonly CancellationToken None = CancellationToken.None;
    private protected static readonly TimeSpan Lease = TimeSpan.FromMinutes(2);

    private protected static ClusterOptions Options { get; } = new() { Lease = Lease, EndedPlans = 3, OpenPlans = 4 };

    private protected IClusterBackend Backend { get; private set; } = null!;

    private protected abstract Task<IClusterBackend> NewBackend();

    public async Task InitializeAsync() => Backend = await NewBackend();

    public async Task DisposeAsync() => await Backend.DisposeAsync();

    /// <summary>A worker starts, or starts again: opens its log, and registers.</summary>
    private protected async Task<TestWorker> Start(int number)
    {
        var worker = await Open(number);
        Assert.Equal(ClusterStatus.Done, (await worker.Members.Register(Address(number), None)).Status);
        return worker;
    }

    /// <summary>A worker opens its log and does no more.</summary>
    private protected async Task<TestWorker> Open(int number)
    {
        var log = Backend.NewLog(number);
        var opening = await log.Open(None);
        var self = new Incarnation(number, opening.Epoch);
        return new TestWorker(self, log, opening, Backend.NewStates(log, number), Backend.NewStore(log, self));
    }

    /// <summary>Workers whose leases have been unbroken for long enough to judge others, and a directory divided among them.</summary>
    private protected async Task<TestWorker[]> StartAll(int count)
    {
        var workers = new TestWorker[count];
        for (var i = 0; i < count; i++)
        {
            workers[i] = await Start(i + 1);
        }

        await Settle(workers);
        Assert.Equal(ClusterStatus.Done, (await workers[0].Directory.AssignAll(PartitionDivision.Evenly([.. workers.Select(w => w.Self)]), None)).Status);
        return workers;
    }

    /// <summary>Passes more than a lease, in which the given workers renew.</summary>
    private protected async Task Settle(params TestWorker[] alive)
    {
        for (var i = 0; i < 3; i++)
        {
            await Backend.Pass(Lease / 2);
            foreach (var worker in alive)
            {
                Assert.Equal(ClusterStatus.Done, (await worker.Members.Renew("", 0, None)).Status);
            }
        }
    }

    private protected static MemberAddress Address(int number) => new($"w{number}", $"http://127.0.0.1:{5000 + number}", 100 + number, "0.1.0");

    private protected static DirectoryKey Key(int partition) => DirectoryKey.Of(new Partition(partition));

    private protected static DirectoryKey Key(string actor) => DirectoryKey.Of(Some.Actor(actor), Partition.Of(Some.Actor(actor)));

    private protected static async Task<List<DirectoryEntry>> ReadAll(TestWorker worker, int page = IClusterDirectory.LongestPage)
    {
        var entries = new Dictionary<DirectoryKey, DirectoryEntry>();
        for (var cursor = DirectoryCursor.Start; ;)
        {
            var read = await worker.Directory.Read(cursor, page, None);
            Assert.Equal(ClusterStatus.Done, read.Status);
            foreach (var entry in read.Value!.Entries)
            {
                entries[entry.Key] = entry;
            }

            cursor = read.Value.Next;
            if (read.Value.IsLast)
            {
                return [.. entries.Values.OrderBy(e => e.Key)];
            }
        }
    }

    private protected static async Task<Incarnation> Owner(TestWorker worker, DirectoryKey key) =>
        (await ReadAll(worker)).FirstOrDefault(e => e.Key == key)?.Owner ?? default;

    private protected static Task<RecoverySummary> Recover(Rescue rescue) =>
        LogRecovery.Run(rescue.Log, rescue.States, rescue.Opening, new NoSink(), TimeProvider.System, None);

    private protected static async Task<T> Done<T>(Task<ClusterResult<T>> step)
        where T : class
    {
        var result = await step;
        Assert.True(result.Status == ClusterStatus.Done, $"{result.Status}: {result.Detail}");
        return result.Value!;
    }

    private protected static async Task Done(Task<ClusterResult> step)
    {
        var result = await step;
        Assert.True(result.Status == ClusterStatus.Done, $"{result.Status}: {result.Detail}");
    }

}

/// <summary>One life of a worker, as far as storage sees it.</summary>
internal sealed record TestWorker(Incarnation Self, ITransactionLog Log, LogOpening Opening, IStateStore States, IClusterStore Store)
{
    public long Next { get; set; } = Opening.NextSequence;

    public IClusterMembers Members => Store.Members;

    public IClusterDirectory Directory => Store.Directory;

    public IMigrationPlans Plans => Store.Plans;

    public IMasterLease Master => Store.Master;

    /// <summary>Appends a change of one actor.</summary>
    public async Task<AppendStatus> Write(string actor, long version)
    {
        var result = await Log.Append(Self.Epoch, Next, 1, Some.Encode(Some.Batch(Next, actor, version)), CancellationToken.None);
        Next += result.Status == AppendStatus.Appended ? 1 : 0;
        return result.Status;
    }
}
