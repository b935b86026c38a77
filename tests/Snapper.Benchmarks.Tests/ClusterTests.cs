using Microsoft.Extensions.Logging;
using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Suite;
using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class ClusterTests
{
    // Accounts 0, 3, 6, .. at w1, and so on; every tenth is not drawn.
    private static readonly int[] Owners = Enumerable.Range(0, 90).Select(static account => account % 10 == 9 ? 0 : 1 + (account % 3)).ToArray();

    [Theory]
    [InlineData(false, 1)]
    [InlineData(true, 2)]
    public void Transfers_are_of_one_worker_or_have_two_accounts_on_each_of_two(bool distributed, int workers)
    {
        var transfers = new PlacedTransfers(Owners);
        var random = new FastRandom(1);
        var roots = new HashSet<int>();
        for (var i = 0; i < 3000; i++)
        {
            var transfer = transfers.Draw(ref random, distributed);
            int[] accounts = [transfer.Root, transfer.To1, transfer.To2, transfer.To3];
            Assert.Equal(4, accounts.Distinct().Count());
            Assert.DoesNotContain(accounts, static account => Owners[account] == 0);
            var byWorker = accounts.GroupBy(static account => Owners[account]).ToArray();
            Assert.Equal(workers, byWorker.Length);
            Assert.All(byWorker, group => Assert.Equal(4 / workers, group.Count()));
            roots.Add(transfer.Root);
        }

        Assert.Equal(Owners.Count(static owner => owner > 0), roots.Count);
    }

    [Fact]
    public void A_worker_with_too_few_accounts_for_a_transfer_is_refused() =>
        Assert.Contains("3 accounts", Assert.Throws<ArgumentException>(() => new PlacedTransfers([1, 1, 1, 1, 2, 2, 2])).Message, StringComparison.Ordinal);

    [Fact]
    public void A_window_knows_the_longest_wait_of_each_accounts_callers()
    {
        var window = new MigrationWindow(300);
        for (var account = 0; account < 200; account += 4)
        {
            window.Count(new Transfer(account, account + 1, account + 2, account + 3), new TransactionEnd(true, 1, null), 1000);
        }

        // Two of 200 accounts are 1 %: the 99th percentile is below them until there are more.
        window.Count(new Transfer(0, 1, 0, 1), new TransactionEnd(true, 3, null), 80_000);
        Assert.Equal(1, window.PauseP99(static _ => true), 2);
        window.Count(new Transfer(2, 3, 2, 3), new TransactionEnd(false, 1, "conflict"), 80_000);
        Assert.Equal(80, window.PauseP99(static _ => true), 0);
        Assert.Equal(1, window.PauseP99(static account => account > 3), 2);
        Assert.Equal(0, window.PauseP99(static account => account >= 200));
        Assert.Equal((51, 2, 1), (window.Committed, window.Repeats, window.Aborts["conflict"]));
    }

    [Fact]
    public void A_dip_is_measured_against_before_and_after_and_aborts_against_all_that_ended_meanwhile()
    {
        var (before, during, after) = (Window(100, 0), Window(99, 1), Window(100, 0));
        var round = new MigrationRound(before, during, after, TimeSpan.Zero, 0, 0, 0, 0, null);
        Assert.Equal(1, round.AbortedPercent, 6);
        var expected = 1 - (during.PerSecond / ((before.PerSecond + after.PerSecond) / 2));
        Assert.Equal(Math.Max(0, 100 * expected), round.DipPercent, 6);
    }

    [Fact]
    public void A_take_over_or_a_worker_that_stops_makes_a_run_void()
    {
        var vigil = new ClusterMonitor();
        vigil.LoggerOf("w1").Log(LogLevel.Warning, new EventId(1001), "the log is away", null, static (text, _) => text);
        Assert.Null(vigil.Problem);
        vigil.LoggerOf("w1").Log(LogLevel.Warning, new EventId(ClusterMonitor.TakingOverEvent), "Worker w2/1 is fenced", null, static (text, _) => text);
        Assert.Equal(1, vigil.TakeOvers);
        Assert.Contains("w2/1", vigil.Problem, StringComparison.Ordinal);

        var failed = new ClusterMonitor();
        failed.Failed("w3", new InvalidOperationException("no luck"));
        Assert.Equal("w3 stopped: no luck", failed.Problem);
    }

    [Fact]
    public void A_worker_in_a_new_life_was_taken_for_dead_unless_it_was_killed()
    {
        SeenWorker[] before = [new("w1", 1, "live", true, 11), new("w2", 1, "live", false, 12), new("w3", 1, "live", false, 13)];
        SeenWorker[] after = [new("w1", 2, "live", true, 21), new("w2", 1, "expired", false, 12), new("w3", 1, "live", false, 13)];
        Assert.Equal(["w1", "w2"], ClusterWatch.TakenOver(before, after));
        Assert.Equal(["w2"], ClusterWatch.TakenOver(before, after, "w1"));
        var result = new BenchmarkResult { Name = "x", What = "y", Measured = 2 };
        Assert.Equal(2, ClusterWatch.Judge(result, []).Measured);
        var judged = ClusterWatch.Judge(result, ["w2"]);
        Assert.Null(judged.Measured);
        Assert.Contains("w2", judged.Missing, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_commit_that_does_not_exist_is_named_and_leaves_nothing_behind()
    {
        var root = ServerTools.RepositoryRoot();
        var before = Command.TryRead("git", ["-C", root, "worktree", "list"]);
        var wrong = await Assert.ThrowsAsync<InvalidOperationException>(() => OldBuild.CheckOutAsync(root, "no-such-commit"));
        Assert.Contains("no-such-commit", wrong.Message, StringComparison.Ordinal);
        Assert.Equal(before, Command.TryRead("git", ["-C", root, "worktree", "list"]));
    }

    [DaprFact]
    public async Task Two_workers_in_this_process_commit_transfers_of_one_and_of_both()
    {
        await using var cluster = await ClusterInProcess.StartAsync(2, 100);
        var context = new BenchmarkContext(Parsed.Options(["--quick", "--pipelines", "4"]) with { Duration = 0.5, Warmup = 0.1 }, null, _ => { });
        var shape = ClusterSides.ShapeFor(context, 2);
        Assert.Equal(8, shape.Pipelines);
        foreach (var kind in new[] { TransactionKind.Pact, TransactionKind.Act })
        {
            var side = ClusterSide.Of(cluster, "half over two", new ClusterMix(kind, 0.5, AnyWorker: true), shape);
            var (committed, distributed) = (0L, 0L);
            for (ulong round = 1; round <= 60 && (distributed == 0 || distributed == committed); round++)
            {
                // A machine with much else to do commits few in a round, all of one kind perhaps.
                var run = await side.RunAsync(shape, context.Plan.Times, round);
                Assert.Null(run.Void);
                (committed, distributed) = (committed + run.Committed, distributed + run.Distributed);
            }

            Assert.InRange(distributed, 1, committed - 1);
        }

        Assert.Null(cluster.Vigil.Problem);
    }

    private static MigrationWindow Window(int committed, int aborted)
    {
        var window = new MigrationWindow(4);
        for (var i = 0; i < committed + aborted; i++)
        {
            window.Count(new Transfer(0, 1, 2, 3), new TransactionEnd(i < committed, 1, i < committed ? null : "conflict"), 1);
        }

        window.Close();
        return window;
    }
}
