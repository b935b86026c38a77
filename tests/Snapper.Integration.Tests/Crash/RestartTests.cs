using Snapper.Integration.Tests.Doors;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>Stopping and starting <c>up</c> is not felt by data: state, lists, outcomes by id, and numbers that only grow.</summary>
public abstract class RestartTests(bool embedded)
{
    /// <summary>
    /// Requests are under way when the operator stops it: each is there or not afterwards, as it was answered; none is cut in
    /// half.
    /// </summary>
    [SystemFact]
    public async Task State_and_outcomes_survive_a_stop_under_load_and_a_start()
    {
        var options = UpOptions.Random(embedded);
        var transfer = Accounts.Transfer("alice", "bob", 10).Pact("bob") with { RequestId = "kept-commit" };
        var refused = Accounts.Transfer("alice", "bob", 50_000).Pact("bob") with { RequestId = "kept-abort" };
        var append = Lists.Execute("x", [Lists.Append("x", 1), Lists.Append("y", 2)]).Act() with { RequestId = "kept-act" };
        using var client = new SnapperClient(
            new Uri($"http://127.0.0.1:{options.BasePort + 1}"), new Uri($"http://127.0.0.1:{options.SidecarPort}"));
        var load = new ListAppendLoad(
            client, new LoadOptions { Seed = LoadOptions.SeedOr(202), Clients = 8, Patience = TimeSpan.FromMinutes(2) }, "load");
        using var stop = new CancellationTokenSource();
        Task running;
        Answer first, abort, act;
        long epoch;
        await using (var snapper = await SnapperProcess.Start(options))
        {
            (first, abort, act) = (await client.Submit(transfer), await client.Submit(refused), await client.Submit(append));
            Assert.Equal((Verdict.Committed, Verdict.Aborted, Verdict.Committed), (first.Verdict, abort.Verdict, act.Verdict));
            epoch = (await client.Status())!.Value.GetProperty("epoch").GetInt64();
            running = load.Run(stop.Token);
            await Committed(200);
            await snapper.Stop();
        }

        await using (var snapper = await SnapperProcess.Start(options))
        {
            await AssertState();
            IdempotencyTests.AssertSame(first, await client.Submit(transfer));
            IdempotencyTests.AssertSame(act, await client.Find("kept-act"));
            var again = await client.Submit(refused);
            Assert.Equal(abort.Json.GetProperty("abort").GetRawText(), again.Json.GetProperty("abort").GetRawText());
            var now = (await client.Status())!.Value.GetProperty("epoch").GetInt64();
            Assert.True(now > epoch, "A new process has a new epoch.");
            await AssertState();
            var next = (await client.Submit(Lists.AppendTo("z", 1).Pact())).Json.GetProperty("transaction").GetInt64();
            Assert.True(next > first.Json.GetProperty("transaction").GetInt64(), "Numbers only grow.");

            await Committed(load.Committed.Count + 100);
            await stop.CancelAsync();
            await running;
            var report = await load.Judge();
            Assert.True(report.Passed && load.Problems.IsEmpty && report.Statistics.Unknown == 0, load.Describe(report));
            await snapper.Stop();
        }

        Directory.Delete(options.Data, recursive: true);

        Task Committed(int count) => Eventually.Holds($"{count} commits", TimeSpan.FromSeconds(60), () =>
            Task.FromResult(load.Committed.Count >= count ? null : $"{load.Committed.Count} commits"));

        async Task AssertState()
        {
            Assert.Equal(9_990, await client.Checking("alice"));
            Assert.Equal(10_010, (await client.Submit(Accounts.Balance("bob").Pact())).Result.GetProperty("checking").GetDecimal());
            Assert.Equal("[1]", (await client.Submit(Lists.ReadOf("x").Pact())).Result.GetRawText());
            Assert.Equal("[2]", (await client.Submit(Lists.ReadOf("y").Act())).Result.GetRawText());
        }
    }
}

/// <summary>On the stand-ins.</summary>
public sealed class EmbeddedRestartTests() : RestartTests(embedded: true);

/// <summary>On the real daprd and Redis.</summary>
[RequiresServers]
public sealed class DaprRestartTests() : RestartTests(embedded: false);
