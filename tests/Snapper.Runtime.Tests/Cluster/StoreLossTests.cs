using System.Collections.Concurrent;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// A store that comes back with less than it had acknowledged, under several workers: everybody begins anew on what
/// there is, and no half of anything stays (L6).
/// </summary>
public sealed class StoreLossTests
{
    [Fact]
    public async Task What_is_lost_of_a_transaction_over_two_workers_is_lost_of_all_of_it()
    {
        await using var cluster = await TestCluster.Start(2);
        string one = cluster.IdAt(1, "Account"), two = cluster.IdAt(2, "Account");
        var before = await cluster.Total(one) + await cluster.Total(two);
        cluster.Logs[1]!.Hold();
        var transfer = TestCluster.SubmitTo(cluster[1], "Account", one, "Transfer", new { to = two, amount = 1000 }, null, "t");
        await Rig.Until(() => cluster.Logs[1]!.Held > 0 && cluster[2].Worker.Acts.Values.Any(act => act.IsPrepared), "w2 has voted, and w1's commit is on its way");
        var kept = cluster.Shared.Copy();
        cluster.Logs[1]!.Release();
        var done = await Rig.Within(transfer, "the transfer");
        Assert.True(done.Outcome == Outcome.Committed, TestWorker.Describe(done));
        await Rig.Until(() => cluster[2].Worker.Acts.IsEmpty, "w2 has been told");

        cluster.Shared.Lose(kept);
        await AllStop(cluster);
        Assert.Equal(before, await cluster.Total(one) + await cluster.Total(two));
        var again = await cluster.Submit("Account", one, "Transfer", new { to = two, amount = 1000 }, null, "t"); // its outcome is gone with it
        Assert.True(again.Outcome == Outcome.Committed, TestWorker.Describe(again));
        Assert.Equal(before, await cluster.Total(one) + await cluster.Total(two));
    }

    [Fact]
    public async Task Three_workers_under_load_serve_again_on_what_another_server_holds()
    {
        await using var cluster = await TestCluster.Start(3);
        string[] accounts = [.. Enumerable.Range(0, 24).Select(i => $"x{i}")];
        var before = await Sum(cluster, accounts);
        using var over = new CancellationTokenSource();
        var load = Enumerable.Range(0, 6).Select(client => Task.Run(async () =>
        {
            var chance = new Random(client);
            while (!over.IsCancellationRequested)
            {
                string from = accounts[chance.Next(24)], to = accounts[chance.Next(24)];
                DeclaredAccess[]? access = chance.Next(2) == 0 || from == to ? null : [new(new ActorKey("Account", from), 1), new(new ActorKey("Account", to), 1)];
                try
                {
                    await cluster.Submit("Account", from, "Transfer", new { to, amount = 1 }, access, timeoutMs: 500);
                }
                catch (InvalidOperationException)
                {
                    await Task.Delay(10); // nobody lives
                }
            }
        })).ToArray();
        await Task.Delay(300);
        var kept = cluster.Shared.Copy();
        await Task.Delay(200);
        cluster.Shared.Lose(kept);
        await AllStop(cluster);
        await Task.Delay(300);
        await over.CancelAsync();
        await Task.WhenAll(load);
        Assert.Equal(before, await Sum(cluster, accounts));
        Assert.InRange(cluster.Master, 1, 3);
        Assert.All(await cluster.Members(), member => Assert.True(member.Incarnation.Epoch > 2 && member.Evictions == 0, member.ToString()));
    }

    [Fact]
    public async Task A_loss_that_one_worker_finds_in_its_log_stops_the_others_within_a_second()
    {
        await using var cluster = await TestCluster.Start(3);
        var one = cluster.IdAt(1, "Account");
        await cluster.Total(one);
        var log = cluster.Shared.Log(1);
        lock (log.Gate)
        {
            Assert.NotEmpty(log.Groups);
            log.NextSequence = log.Groups[^1].FirstSequence;
            log.Groups.RemoveAt(log.Groups.Count - 1);
        }

        var watch = System.Diagnostics.Stopwatch.StartNew();
        _ = TestCluster.SubmitTo(cluster[1], "Account", one, "DepositChecking", new { amount = 1 }, null, timeoutMs: 1000);
        var failures = await AllStop(cluster);
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(5));
        Assert.Equal(AppendStatus.Gap, failures[1].Status);
        Assert.Equal(1, cluster[1].Inspection.Totals().Losses);
        foreach (var other in new[] { 2, 3 })
        {
            Assert.Contains("generation 1, 0 when this life began", failures[other].Message, StringComparison.Ordinal);
        }
    }

    /// <summary>
    /// Waits until all have stopped by themselves, within a second or so, and starts them again, as their supervisor
    /// does.
    /// </summary>
    private static async Task<Dictionary<int, LogLostFailure>> AllStop(TestCluster cluster)
    {
        await Rig.Until(() => Enumerable.Range(1, cluster.Workers).All(worker => cluster[worker].Failure is not null), "all workers have stopped", 2);
        var failures = Enumerable.Range(1, cluster.Workers).ToDictionary(worker => worker, worker => Assert.IsType<LogLostFailure>(cluster[worker].Failure));
        foreach (var worker in failures.Keys)
        {
            await cluster.Kill(worker);
        }

        await Task.WhenAll(failures.Keys.Select(cluster.Open)).WaitAsync(TimeSpan.FromSeconds(10));
        return failures;
    }

    private static async Task<decimal> Sum(TestCluster cluster, string[] accounts)
    {
        var totals = new ConcurrentBag<decimal>();
        await Task.WhenAll(accounts.Select(async account => totals.Add(await cluster.Total(account))));
        return totals.Sum();
    }
}
