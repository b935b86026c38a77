using Snapper.Integration.Tests.Doors;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>Stopping and starting <c>up</c> is not felt by data: state, lists, outcomes by id, and numbers that only grow.</summary>
public abstract class RestartTests(bool embedded)
{
    [SystemFact]
    public async Task State_and_outcomes_survive_stop_and_start()
    {
        var options = UpOptions.Random(embedded);
        var transfer = Accounts.Transfer("alice", "bob", 10).Pact("bob") with { RequestId = "kept-commit" };
        var refused = Accounts.Transfer("alice", "bob", 50_000).Pact("bob") with { RequestId = "kept-abort" };
        var append = Lists.Execute("x", [Lists.Append("x", 1), Lists.Append("y", 2)]).Act() with { RequestId = "kept-act" };
        Answer first, abort, act;
        long epoch;
        await using (var snapper = await SnapperProcess.Start(options))
        {
            using var client = Client(snapper);
            (first, abort, act) = (await client.Submit(transfer), await client.Submit(refused), await client.Submit(append));
            Assert.Equal((Verdict.Committed, Verdict.Aborted, Verdict.Committed), (first.Verdict, abort.Verdict, act.Verdict));
            epoch = (await client.Status())!.Value.GetProperty("epoch").GetInt64();
            await snapper.Stop();
        }

        for (var restart = 1; restart <= 2; restart++)
        {
            await using var snapper = await SnapperProcess.Start(options);
            using var client = Client(snapper);

            await AssertState(client, restart);
            IdempotencyTests.AssertSame(first, await client.Submit(transfer));
            IdempotencyTests.AssertSame(act, await client.Find("kept-act"));
            Assert.Equal(abort.Json.GetProperty("abort").GetRawText(), (await client.Submit(refused)).Json.GetProperty("abort").GetRawText());
            Assert.True((await client.Status())!.Value.GetProperty("epoch").GetInt64() > epoch, "A new process has a new epoch.");
            await AssertState(client, restart);

            var next = await client.Submit(Lists.AppendTo("z", restart).Pact());
            Assert.True(next.Json.GetProperty("transaction").GetInt64() > first.Json.GetProperty("transaction").GetInt64(), "Numbers only grow.");
            await snapper.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    /// <summary>Requests under way when the operator stops it: each is there or not afterwards, as it was answered; none is cut in half.</summary>
    [SystemFact]
    public async Task Stopping_under_load_keeps_every_promise()
    {
        var options = UpOptions.Random(embedded);
        var load = default(ListAppendLoad);
        using var stop = new CancellationTokenSource();
        Task running;
        using var client = new SnapperClient(new Uri($"http://127.0.0.1:{options.BasePort + 1}"), new Uri($"http://127.0.0.1:{options.SidecarPort}"));
        await using (var snapper = await SnapperProcess.Start(options))
        {
            load = new ListAppendLoad(client, new LoadOptions { Seed = LoadOptions.SeedOr(202), Clients = 8, Patience = TimeSpan.FromMinutes(2) }, "x");
            running = load.Run(stop.Token);
            await Eventually.Holds("200 commits", TimeSpan.FromSeconds(60), () => Task.FromResult(load.Committed.Count >= 200 ? null : $"{load.Committed.Count} commits"));
            await snapper.Stop();
        }

        await using (var snapper = await SnapperProcess.Start(options))
        {
            var before = load.Committed.Count;
            await Eventually.Holds("100 more commits", TimeSpan.FromSeconds(60), () => Task.FromResult(load.Committed.Count >= before + 100 ? null : $"{load.Committed.Count} commits"));
            await stop.CancelAsync();
            await running;
            var report = await load.Judge();
            Assert.True(report.Passed && load.Problems.IsEmpty && report.Statistics.Unknown == 0, load.Describe(report));
            await snapper.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    private static SnapperClient Client(SnapperProcess snapper) => new(snapper.Worker.Url, snapper.Worker.Sidecar);

    private static async Task AssertState(SnapperClient client, int restart)
    {
        Assert.Equal(9_990, (await client.Submit(Accounts.Balance("alice").Act())).Result.GetProperty("checking").GetDecimal());
        Assert.Equal(10_010, (await client.Submit(Accounts.Balance("bob").Pact())).Result.GetProperty("checking").GetDecimal());
        Assert.Equal("[1]", (await client.Submit(Lists.ReadOf("x").Pact())).Result.GetRawText());
        Assert.Equal("[2]", (await client.Submit(Lists.ReadOf("y").Act())).Result.GetRawText());
        Assert.Equal(restart - 1, (await client.Submit(Lists.ReadOf("z").Act())).Result.GetArrayLength());
    }
}

/// <summary>On the stand-ins.</summary>
public sealed class EmbeddedRestartTests() : RestartTests(embedded: true);

/// <summary>On the real daprd and Redis.</summary>
[RequiresServers]
public sealed class DaprRestartTests() : RestartTests(embedded: false);
