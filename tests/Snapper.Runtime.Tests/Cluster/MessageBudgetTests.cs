using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// What a lone transaction of four actors sends between workers, as docs/several-workers.md has it: every message more
/// is
/// noticed here.
/// </summary>
public sealed class MessageBudgetTests
{
    [Theory]
    [InlineData("PACT", 1)]
    [InlineData("PACT", 2)]
    [InlineData("PACT", 3)]
    [InlineData("PACT", 4)]
    [InlineData("ACT", 1)]
    [InlineData("ACT", 2)]
    [InlineData("ACT", 3)]
    [InlineData("ACT", 4)]
    public async Task A_transaction_sends_what_is_documented(string mode, int workers)
    {
        await using var cluster = await TestCluster.Start(4);
        var master = cluster.Master;
        var root = master % 4 + 1;
        int[] places = [root, .. Enumerable.Range(1, 4).Where(worker => worker != root).OrderByDescending(worker =>
            worker == master)];
        var ids = Enumerable.Range(0, 4).Select(i => cluster.IdAt(places[i % workers], "Account", $"x{i}-")).ToArray();
        var access = ids.Select(id => new DeclaredAccess(new ActorKey("Account", id), 1)).ToArray();
        var input = new { to = ids[1..], amount = 1 };

        // The first transaction finds actors that are not loaded, and workers that have not spoken with each other.
        await Run();
        var sent = await Run();

        // Parts are prepared before the answer and marked after it, by the same kind of message.
        var toMaster = sent.Count(static kind => kind == WireKind.ToMaster);
        var after = (toMaster / 2) + sent.Count(static kind => kind is WireKind.ActDecided or WireKind.ActMarked);

        // The calls are made at once, so that each kind of message before the answer is one step.
        var steps = sent.Where(static kind =>
            kind is not (WireKind.ActDecided or WireKind.ActMarked)).Distinct().Count();
        Assert.Equal(0, toMaster % 2);
        Assert.Contains($"| {mode} | {workers} | {sent.Length - after} | {steps} | {after} |", Documented(),
            StringComparison.Ordinal);

        async Task<WireKind[]> Run()
        {
            await Quiet(cluster);
            var done = await TestCluster.SubmitTo(
                cluster[root], "Account", ids[0], "MultiTransfer", input, mode == "PACT" ? access : null);
            Assert.True(done.Outcome == Outcome.Committed, TestWorker.Describe(done));
            return await Quiet(cluster);
        }
    }

    private static string Documented()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(folder!.FullName, "Snapper.Dapr.sln")))
        {
            folder = folder.Parent;
        }

        return File.ReadAllText(Path.Combine(folder.FullName, "docs", "several-workers.md"));
    }

    /// <summary>Waits until nothing has been sent for a while, and takes what was.</summary>
    private static async Task<WireKind[]> Quiet(TestCluster cluster)
    {
        for (var seen = -1; seen != cluster.Sent.Count;)
        {
            seen = cluster.Sent.Count;
            await Task.Delay(300);
        }

        var all = cluster.Sent.ToArray();
        cluster.Sent.Clear();
        return [.. all.Select(static message => message.Kind)];
    }
}
