using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Ids of PACTs over several workers (I2, I3): their outcomes are in conditional records.</summary>
public sealed class RememberedIdsTests(ITestOutputHelper output)
{
    [Fact]
    public async Task An_id_of_a_PACT_over_two_workers_is_answered_before_anything_is_folded()
    {
        await using var cluster = await TestCluster.Start(2);
        var (from, to) = (cluster.IdAt(1, "Account"), cluster.IdAt(2, "Account"));

        var first = await Pay(cluster, from, to, "once");
        var again = await Pay(cluster, from, to, "once");
        var found = await cluster[2].Door.Find("once", CancellationToken.None);

        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
        Assert.True(again.Outcome == Outcome.Committed, TestWorker.Describe(again));
        Assert.Equal((first.Transaction, first.Transaction), (again.Transaction, found?.Transaction));
    }

    [Fact]
    public async Task What_was_in_doubt_when_the_roots_worker_died_is_remembered_and_not_done_twice()
    {
        await using var cluster = await TestCluster.Start(2);
        var master = cluster.Master;
        var victim = 3 - master;
        var (from, to) = (cluster.IdAt(victim, "Account"), cluster.IdAt(master, "Account"));
        var before = await cluster.Total(to);
        var ids = 0;
        for (var round = 0; round < 8; round++)
        {
            // Some are prepared and not decided when their root's worker dies.
            var mine = Enumerable.Range(ids, 24).Select(id => PayUntilDecided(cluster, from, to, $"id{id}")).ToArray();
            ids += mine.Length;
            await Rig.Until(() => mine.Count(one => one.IsCompleted) > round, "some have committed", 20);
            await cluster.Kill(victim);
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
            await Task.WhenAll(mine).WaitAsync(TimeSpan.FromSeconds(30));
        }

        // Checkpointed, and trimmed: the next life finds them in the copies alone.
        await cluster[victim].Worker.Checkpoints.CheckpointNow();
        await cluster.Kill(victim);
        await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        for (var id = 0; id < ids; id++)
        {
            await PayUntilDecided(cluster, from, to, $"id{id}");
        }

        output.WriteLine($"{ids} ids");
        Assert.Equal(before + ids, await cluster.Total(to));
    }

    private static async Task PayUntilDecided(TestCluster cluster, string from, string to, string key)
    {
        var until = DateTime.UtcNow.AddSeconds(25);
        while (true)
        {
            var answer = await Pay(cluster, from, to, key);
            if (answer.Outcome == Outcome.Committed)
            {
                return;
            }

            Assert.True(DateTime.UtcNow < until, $"{key} is not decided after 25 s: {TestWorker.Describe(answer)}");
            await Task.Delay(20);
        }
    }

    private static Task<TransactionEnvelope> Pay(TestCluster cluster, string from, string to, string key) => cluster.Submit(
        "Account", from, "Transfer", new { to, amount = 1 },
        [new DeclaredAccess(new ActorKey("Account", from), 1), new DeclaredAccess(new ActorKey("Account", to), 1)], key, timeoutMs: 5_000);
}
