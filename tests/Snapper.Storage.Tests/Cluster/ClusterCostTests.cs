using System.Diagnostics;
using System.Globalization;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>What leases and looks cost, by processor time: they go on for good, in every worker.</summary>
[NeedsRedis]
public sealed class ClusterCostTests(RedisServerFixture fixture, ITestOutputHelper output) : IClassFixture<RedisServerFixture>
{
    private const int Calls = 1500;
    private static readonly CancellationToken None = CancellationToken.None;

    [ServerFact]
    public async Task Renewals_and_looks_take_the_server_a_small_part_of_a_millisecond()
    {
        await using var backend = await RedisBackend.Connect(fixture.Server, new ClusterOptions());
        var stores = new List<IClusterStore>();
        for (var worker = 1; worker <= 8; worker++)
        {
            var log = backend.NewLog(worker);
            var self = new Incarnation(worker, (await log.Open(None)).Epoch);
            stores.Add(backend.NewStore(log, self));
            await stores[^1].Members.Register(new MemberAddress($"w{worker}", "http://127.0.0.1:1", 1, "0.1.0"), None);
        }

        Assert.True((await stores[0].Directory.AssignAll(PartitionDivision.Evenly([.. stores.Select(s => s.Self)]), None)).IsDone);
        await (await stores[0].Master.Take(None)).Value!.Log.DisposeAsync();
        var cursor = (await stores[0].Directory.Read(DirectoryCursor.Start, IClusterDirectory.LongestPage, None)).Value!.Next;

        var renewal = await Measure("renewal", i => stores[i % 8].Members.Renew(cursor.DirectoryId, 4096, None));
        await RenewAll();
        var look = await Measure("look", i => stores[i % 8].Members.Look(None));
        await RenewAll();
        await Measure("changes of the directory, none", i => stores[i % 8].Directory.Read(cursor, 100, None));
        await RenewAll();
        await Measure("all members", i => stores[i % 8].Members.Read(None));

        await RenewAll();

        // One step of a take-over: all logs wait for it.
        var rescue = (await stores[1].Members.Fence(stores[0].Self, FenceWhen.Always, None)).Value!;
        var keys = Enumerable.Range(0, 512).Select(i => DirectoryKey.Of(new Partition(8 * i))).ToArray();
        var before = await ServerMs();
        Assert.Equal(512, (await stores[1].Directory.TakeOver(rescue, keys, stores[1].Self, None)).Value!.Count);
        var spent = await ServerMs() - before;
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"a take-over of 512 entries: {spent * 1000:0} us of the server"));

        // The steps of a migration that all logs wait for, too.
        var many = Enumerable.Range(0, 512).Select(i => DirectoryKey.Of(new Partition((8 * i) + 1))).ToArray(); // w2 has them
        var (from, to) = (stores[1].Self, stores[2].Self);
        for (var round = 0; round < 3; round++)
        {
            before = await ServerMs();
            Assert.True((await stores[1].Plans.Create(new MigrationPlan($"m{round}", many, from, to, ""), None)).IsDone);
            var created = await ServerMs();
            Assert.True((await stores[1].Plans.Commit($"m{round}", None)).IsDone);
            var committed = await ServerMs();
            output.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"a plan of {many.Length} keys: made {(created - before) * 1000:0} us, committed {(committed - created) * 1000:0} us of the server"));
            (from, to) = (to, from);
        }

        // Each measurement takes a second or more, on a busy machine nearly a lease, and one whose lease has run out may not judge others.
        async Task RenewAll()
        {
            foreach (var store in stores)
            {
                Assert.True((await store.Members.Renew(cursor.DirectoryId, 4096, None)).IsDone);
            }
        }

        // Bounds for a busy machine: a few times what is measured on an idle one.
        Assert.InRange(renewal, 0, 1.0);
        Assert.InRange(look, 0, 1.0);
    }

    private async Task<double> Measure(string what, Func<int, Task> call)
    {
        for (var i = 0; i < 200; i++)
        {
            await call(i);
        }

        var (server, client) = (await ServerMs(), Process.GetCurrentProcess().TotalProcessorTime);
        for (var i = 0; i < Calls; i++)
        {
            await call(i);
        }

        var (serverMs, clientMs) = (await ServerMs() - server, (Process.GetCurrentProcess().TotalProcessorTime - client).TotalMilliseconds);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{what}: {serverMs / Calls * 1000:0} us of the server, {clientMs / Calls * 1000:0} us of this process (other tests included)"));
        return serverMs / Calls;
    }

    private async Task<double> ServerMs()
    {
        var total = 0.0;
        foreach (var line in (await fixture.Server.Command("INFO", "cpu")).Split("\r\n"))
        {
            if (line.StartsWith("used_cpu_user:", StringComparison.Ordinal) || line.StartsWith("used_cpu_sys:", StringComparison.Ordinal))
            {
                total += double.Parse(line.AsSpan(line.IndexOf(':') + 1), CultureInfo.InvariantCulture) * 1000;
            }
        }

        return total;
    }
}
