using Snapper.Integration.Tests.Harness;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Crash;

/// <summary>A Redis that nobody starts again, named by <c>--redis</c>: while it is away nothing is executed; when it is back, everything goes on.</summary>
[RequiresServers]
public sealed class DaprOutageTests(ITestOutputHelper output)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [SystemFact]
    public async Task Without_Redis_requests_are_refused_and_the_same_worker_goes_on_when_it_is_back()
    {
        using var redis = new PrivateRedis();
        await redis.Start();
        await using var snapper = await SnapperProcess.Start(UpOptions.Random(embedded: false) with { Redis = redis.Address });
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        var kept = Accounts.Amount("DepositChecking", "kept", 5).Pact() with { RequestId = "before" };
        var first = await client.Submit(kept);
        Assert.Equal(Verdict.Committed, first.Verdict);

        // This one is let in, and its record is on its way to a Redis that does not answer any more.
        ProcessTable.Signal(redis.Pid, ProcessTable.Stop);
        var caught = client.Submit(
            Accounts.Amount("DepositChecking", "caught", 1).Pact() with { RequestId = "caught", TimeoutMs = 60_000 });
        await Eventually.Holds("it is let in", Patience, async () =>
            (await client.Status())?.GetProperty("inFlight").GetInt32() == 1 ? null : "not yet");
        await redis.Kill();
        await Eventually.Holds("a refusal at each door", Patience, async () =>
        {
            foreach (var door in new[] { Door.Direct, Door.Service, Door.Actor })
            {
                var answer = await client.Submit(Accounts.Amount("DepositChecking", "refused", 1).Act() with { TimeoutMs = 200 }, door);
                if (answer.RefusalStatus != 503)
                {
                    return $"{door}: {answer}";
                }

                Assert.True(door == Door.Actor || answer.RetryAfter > TimeSpan.Zero, $"503 says when to come back: {answer}");
            }

            return null;
        });
        Assert.Equal(503, (await client.Get("readyz")).Status);
        Assert.Equal(200, (await client.Get("healthz")).Status);
        foreach (var path in new[] { "v1/transactions/before", "v1/transactions/unheard-of", "v1/actors/Account/cold" })
        {
            var looked = await client.Get(path);
            Assert.True(looked.Status == 503 && looked.RetryAfter > TimeSpan.Zero, $"{path} needs Redis: {looked}");
        }

        await redis.Start();
        var readyAfter = await Eventually.Holds("transactions to commit again", Patience, async () =>
        {
            var answer = await client.Submit(Accounts.Amount("DepositChecking", "after", 1).Pact(), Door.Service);
            return answer.Verdict == Verdict.Committed ? null : answer.ToString();
        });
        output.WriteLine($"ready {readyAfter.TotalMilliseconds:0} ms after Redis");

        var decided = await caught;
        Assert.True(decided.Verdict == Verdict.Committed, $"It was queued for the log, and the log is back: {decided}");
        Assert.Equal(10_005, (await client.Submit(kept)).Result.GetDecimal());
        Assert.Equal(10_005, await client.Checking("kept"));
        var status = (await client.Status())!.Value;
        Assert.Equal((snapper.Worker.Pid, 1), (status.GetProperty("pid").GetInt32(), status.GetProperty("epoch").GetInt32()));
        await snapper.Stop();
        Directory.Delete(snapper.Options.Data, recursive: true);
    }
}
