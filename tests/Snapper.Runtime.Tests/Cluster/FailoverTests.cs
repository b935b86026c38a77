using Snapper.Cluster;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Promise 2 over several workers: workers and masters die under load, and others go on (R2 to R4).</summary>
public sealed class FailoverTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(2, 50, false)]
    [InlineData(3, 50, false)]
    [InlineData(3, 100, true)]
    [InlineData(3, 0, false)]
    [InlineData(3, 50, true)]
    public async Task A_worker_that_dies_under_load_is_taken_over_and_nothing_is_lost(int workers, int pactPercent, bool master)
    {
        await using var cluster = await TestCluster.Start(workers, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(1));
        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent + workers, 1200, 12, 24, pactPercent) { MostOperations = 3 });
        var running = load.Run();
        await cluster.UnderWay(load, 300, output);
        var victim = master ? cluster.Master : cluster.Master == 1 ? 2 : 1;
        output.WriteLine($"w{victim} dies");
        await cluster.Kill(victim);
        await cluster.End(load, running, output);
        for (var key = 0; key < 24; key++)
        {
            Assert.NotEqual(victim, cluster.OwnerOf("ListAppend", "k" + key).Worker.Options.Number);
        }
    }

    [Theory]
    [InlineData(50, false)]
    [InlineData(100, true)]
    public async Task A_worker_that_dies_under_load_and_comes_back_at_once_keeps_its_actors(int pactPercent, bool master)
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(2));
        var load = new ListAppendLoad(cluster, new LoadShape(pactPercent, 1200, 12, 24, pactPercent) { MostOperations = 3 });
        var running = load.Run();
        for (var round = 0; round < 2; round++)
        {
            await cluster.UnderWay(load, load.History.Count + 200, output);
            var victim = master ? cluster.Master : cluster.Master == 1 ? 2 : 1;
            output.WriteLine($"w{victim} dies, and comes back");
            await cluster.Kill(victim);
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        await cluster.End(load, running, output);
    }

    [Fact]
    public async Task A_dead_worker_whose_log_is_damaged_takes_nobody_with_it()
    {
        await using var cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1));
        var victim = cluster.Master == 2 ? 3 : 2;
        string lost = cluster.IdAt(victim, "ListAppend"), other = cluster.IdAt(1, "ListAppend");
        await TestCluster.SubmitTo(cluster[victim], "ListAppend", lost, "Append", new { value = 1 }, null, "x");
        await cluster.Kill(victim);
        var storage = cluster.Shared.Log(victim);
        LogGroup whole;
        lock (storage.Gate)
        {
            whole = storage.Groups[^1];
            storage.Groups[^1] = whole with { Records = new byte[whole.Records.Length] };
        }

        await Rig.Until(() => cluster.Logged.Lines.Count(static line => line.Id == 1034) >= 2, "both have tried", 20);
        Assert.Empty(cluster.Unexpected);
        var asked = await TestCluster.SubmitTo(cluster[1], "ListAppend", other, "Append", new { value = 1 }, null);
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        asked = await TestCluster.SubmitTo(cluster[1], "ListAppend", lost, "Append", new { value = 1 }, null, "x", timeoutMs: 300);
        Assert.Equal(Outcome.InDoubt, asked.Outcome);

        lock (storage.Gate)
        {
            storage.Groups[^1] = whole;
        }

        asked = await TestCluster.SubmitTo(cluster[1], "ListAppend", lost, "Append", new { value = 1 }, null, "x");
        Assert.True(asked.Outcome == Outcome.Committed, TestWorker.Describe(asked));
        Assert.Empty(cluster.Unexpected);
    }

    /// <summary>Without a master nothing is numbered over several workers; what is of one worker goes on.</summary>
    [Fact]
    public async Task A_masters_log_that_is_damaged_stops_nobody_who_lives()
    {
        await using var cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1));
        string[] ids = [cluster.IdAt(1, "ListAppend"), cluster.IdAt(2, "ListAppend"), cluster.IdAt(3, "ListAppend")];
        DeclaredAccess[] all = [.. ids.Select(static id => new DeclaredAccess(new("ListAppend", id), 1))];
        var before = await TestCluster.SubmitTo(cluster[1], "ListAppend", ids[0], "Append", new { value = 1 }, all);
        Assert.True(before.Outcome == Outcome.Committed, TestWorker.Describe(before));
        var storage = cluster.Shared.MasterLog();
        LogGroup whole;
        lock (storage.Gate)
        {
            whole = storage.Groups[^1];
            storage.Groups[^1] = whole with { Records = new byte[whole.Records.Length] };
        }

        await cluster.Kill(cluster.Master);
        await Rig.Until(() => cluster.Logged.Lines.Count(static line => line.Id == 1035) >= 2, "both have tried", 20);
        Assert.Empty(cluster.Unexpected);
        var living = Enumerable.Range(1, 3).First(worker => cluster[worker].Failure is null);
        var own = await Append(2, null);
        Assert.True(own.Outcome == Outcome.Committed, TestWorker.Describe(own));

        lock (storage.Gate)
        {
            storage.Groups[^1] = whole;
        }

        var over = await Append(3, all);
        Assert.True(over.Outcome == Outcome.Committed, TestWorker.Describe(over));
        Assert.Empty(cluster.Unexpected);

        Task<TransactionEnvelope> Append(int value, DeclaredAccess[]? access) =>
            TestCluster.SubmitTo(cluster[living], "ListAppend", ids[living - 1], "Append", new { value }, access);
    }

    /// <summary>
    /// No other line names why what the dead worker owned is out of reach, and why no PACT over workers ends.
    /// </summary>
    [Fact]
    public async Task Deleted_logs_of_a_dead_worker_and_of_the_master_are_logged_and_stop_no_other_worker()
    {
        await using var cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1));
        string[] ids = [cluster.IdAt(1, "ListAppend"), cluster.IdAt(2, "ListAppend"), cluster.IdAt(3, "ListAppend")];
        DeclaredAccess[] all = [.. ids.Select(static id => new DeclaredAccess(new("ListAppend", id), 1))];
        for (var worker = 1; worker <= 3; worker++)
        {
            cluster.StoreOf(worker).LogsWereDeleted = true;
        }

        await cluster.Kill(cluster.Master);
        foreach (var id in new[] { 1034, 1035 })
        {
            await Rig.Until(() => cluster.Logged.Lines.Any(line => line.Id == id), $"line {id}", 20);
        }

        var living = Enumerable.Range(1, 3).First(worker => cluster[worker].Failure is null);
        for (var worker = 1; worker <= 3; worker++)
        {
            cluster.StoreOf(worker).LogsWereDeleted = false;
        }

        var over = await TestCluster.SubmitTo(
            cluster[living], "ListAppend", ids[living - 1], "Append", new { value = 1 }, all);
        Assert.True(over.Outcome == Outcome.Committed, TestWorker.Describe(over));
        Assert.Empty(cluster.Unexpected);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Logs_are_kept_for_the_dead_only_until_their_streams_are_resolved(bool comesBack)
    {
        await using var cluster = await TestCluster.Start(3, new WorkerOptions { Executors = 1 }, TimeSpan.FromSeconds(1));
        var load = new ListAppendLoad(cluster, new LoadShape(3, 1500, 12, 24, 0) { MostOperations = 3 });
        var running = load.Run();
        await cluster.UnderWay(load, 300, output);
        var victim = cluster.Master == 1 ? 2 : 1;
        for (var other = 1; other <= 3; other++)
        {
            if (other != victim)
            {
                cluster.Cut(victim, other); // its votes have come, what it says of its markers is lost
            }
        }

        await Rig.Until(() => Others().Any(worker => cluster[worker].Worker.Cluster!.Decisions.Unmarked > 0), "somebody waits for a marker", 10);
        await cluster.Kill(victim);
        cluster.Heal();
        if (comesBack)
        {
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        await cluster.End(load, running, output);
        await Rig.Until(() => Others().All(worker => cluster[worker].Worker.Cluster!.Decisions.Unmarked == 0), "nobody waits for markers any more", 20);
        IEnumerable<int> Others() => Enumerable.Range(1, 3).Where(worker => worker != victim);
    }
}
