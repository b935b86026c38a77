using Microsoft.Extensions.DependencyInjection;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Client;
using Snapper.Client.Messages;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Server.Tests.Cluster;

/// <summary>The .NET client before several real workers.</summary>
public sealed class ClientOverWorkersTests
{
    [Fact]
    public async Task The_client_learns_the_owner_follows_a_move_and_goes_on_when_a_worker_goes()
    {
        await using var workers = await WorkersOverHttp.Start(3);
        await using var snapper = Open(workers);
        for (var i = 0; i < 6; i++)
        {
            await Deposit(snapper, "alice"); // all three addresses have answered, and so their names are known
        }

        var owner = workers.OwnerOf("alice");
        Assert.Equal($"w{owner}", (await Read(snapper, "alice")).Worker);
        await GoesTo(owner);

        var target = 1 + (owner % 3);
        var request = new MigrationRequest
        {
            Actors = [new ActorReference("Account", "alice")], To = $"w{target}", Reason = "a test", Id = "once",
        };
        var migration = await snapper.Migrate(request);
        Assert.Equal(("once", 1), (migration.Id, migration.Keys));
        Assert.Equal("once", (await snapper.Migrate(request)).Id);
        Assert.Equal("done", (await snapper.WaitForMigration("once", TimeSpan.FromSeconds(20))).State);
        Assert.Equal($"w{target}", (await Read(snapper, "alice")).Worker); // a hop
        await GoesTo(target);

        await workers.Stop(target);
        for (var i = 0; i < 10; i++)
        {
            await Deposit(snapper, "alice");
        }

        Assert.NotEqual($"w{target}", (await Read(snapper, "alice")).Worker);
        Assert.Equal(10_016m, await Balance(snapper, "alice"));

        async Task GoesTo(int worker)
        {
            var before = Enumerable.Range(1, 3).Select(workers.Posts).ToArray();
            for (var i = 0; i < 5; i++)
            {
                await Read(snapper, "alice");
            }

            before[worker - 1] += 5;
            Assert.Equal(before, Enumerable.Range(1, 3).Select(workers.Posts));
        }
    }

    [Fact]
    public async Task The_client_drains_and_rebalances_and_sees_the_workers()
    {
        await using var workers = await WorkersOverHttp.Start(3);
        await using var snapper = Open(workers);
        var members = await snapper.Workers();
        Assert.Equal(["w1", "w2", "w3"], members.Select(member => member.Worker));
        Assert.Equal(4096, members.Sum(member => member.Entries));
        Assert.Single(members, member => member.Master);
        Assert.All(members, member => Assert.Equal(("live", 0L, 0L), (member.State, member.Expirations, member.Evictions)));

        var would = await snapper.Migrate(new MigrationRequest { Worker = "w2", DryRun = true });
        Assert.Equal(members[1].Entries, would.Keys);
        var drained = await snapper.Migrate(new MigrationRequest { Worker = "w2" });
        Assert.Equal("done", (await snapper.WaitForMigration(drained.Id, TimeSpan.FromSeconds(60))).State);
        Assert.Equal(0, (await snapper.Workers())[1].Entries);

        var balanced = await snapper.Migrate(new MigrationRequest { Rebalance = true });
        Assert.Equal(1365, balanced.Keys);
        Assert.All(balanced.Parts, part => Assert.Equal("w2", part.To));
        Assert.Equal("done", (await snapper.WaitForMigration(balanced.Id, TimeSpan.FromSeconds(60))).State);
        Assert.All(await snapper.Workers(), member => Assert.InRange(member.Entries, 1365, 1366));
        Assert.Equal(0, (await snapper.Migrate(new MigrationRequest { Rebalance = true, DryRun = true })).Keys);
        Assert.Contains(await snapper.Migrations(), migration => migration.Id == drained.Id && migration.IsOver);
    }

    [Fact]
    public async Task What_cannot_move_is_refused_with_the_reason_and_what_is_unknown_is_null()
    {
        await using var workers = await WorkersOverHttp.Start(2);
        await using var snapper = Open(workers);

        var refused = await Assert.ThrowsAsync<OperationRefusedException>(() => snapper.Migrate(new MigrationRequest { Worker = "w9" }));
        Assert.Equal(409, refused.Status);
        Assert.Contains("w9", refused.Detail, StringComparison.Ordinal);
        Assert.Equal(400, (await Assert.ThrowsAsync<OperationRefusedException>(() => snapper.Migrate(new MigrationRequest { Rebalance = true, To = "w1" }))).Status);
        Assert.Null(await snapper.FindMigration("never"));
        await Assert.ThrowsAsync<OperationRefusedException>(() => snapper.WaitForMigration("never", TimeSpan.FromSeconds(1)));
    }

    private static SnapperClient Open(WorkersOverHttp workers) => new(new SnapperClientOptions { Workers = workers.Addresses });

    private static Task Deposit(SnapperClient snapper, string account) => snapper.Actor<IAccount>(account).Act(a => a.DepositChecking(new AmountInput(1)));

    private static async Task<decimal> Balance(SnapperClient snapper, string account) => (await snapper.Actor<IAccount>(account).Act(a => a.Balance())).Checking;

    private static Task<TransactionReply> Read(SnapperClient snapper, string account) => snapper.Submit(
        new TransactionRequestMessage { Actor = new ActorKey("Account", account), Method = "Balance", Mode = TransactionMode.Act });
}
