using System.Diagnostics;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>Transactions that run while the worker dies: their clients hear of it at once, nothing of them remains, and their ids decide.</summary>
[RequiresServers]
public sealed class InterruptedTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [SystemFact]
    public async Task What_runs_when_the_worker_dies_ends_for_its_client_and_is_decided_by_its_id()
    {
        await using var snapper = await SnapperProcess.Start(UpOptions.Random(embedded: false));
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        var requests = (
            from door in new[] { Door.Direct, Door.Service, Door.Actor }
            from pact in new[] { true, false }
            let key = $"{door}-{pact}"
            let operations = new[] { Lists.Append(key, 1), Lists.Append($"{key}-other", 1) }
            let execute = pact ? Lists.ExecutePact(key, operations, delayMs: 20_000) : Lists.Execute(key, operations, delayMs: 20_000).Act()
            select (Key: key, Door: door, Transaction: execute with { RequestId = $"cut-{key}", TimeoutMs = 60_000 })).ToArray();
        var answers = requests.Select(request => client.Submit(request.Transaction, request.Door)).ToArray();
        await Eventually.Holds("all to run", Patience, async () =>
        {
            var found = await Task.WhenAll(requests.Select(request => client.Find(request.Transaction.RequestId!)));
            return found.All(answer => answer.Verdict == Verdict.Running) ? null : string.Join('\n', found.Select(answer => answer.ToString()));
        });

        var killed = Stopwatch.GetTimestamp();
        ProcessTable.Signal(snapper.Worker.Pid, ProcessTable.Kill);
        foreach (var answer in await Task.WhenAll(answers).WaitAsync(Patience))
        {
            Assert.True(answer.Verdict == Verdict.Unclear, $"No client may be told an outcome: {answer}");
        }

        Assert.True(Stopwatch.GetElapsedTime(killed) < TimeSpan.FromSeconds(5), $"The clients heard of it after {Stopwatch.GetElapsedTime(killed)}.");
        await Eventually.Holds("the worker to be back", Patience, async () => await client.Get("readyz") is { Status: 200 } ? null : snapper.Output);
        foreach (var (key, door, cut) in requests)
        {
            // They had not ended, so nothing of them can be in the log, and the same id runs now.
            var unknown = await client.Find(cut.RequestId!);
            Assert.True(unknown.Status == 404, $"{key}: {unknown}");
            Assert.Equal("[]", (await client.Submit(Lists.ReadOf(key).Act())).Result.GetRawText());
            var again = cut with { Input = Lists.Execute(key, [Lists.Append(key, 1), Lists.Append($"{key}-other", 1)]).Input };
            var decided = await client.Submit(again, door);
            Assert.True(decided.Verdict == Verdict.Committed, $"{key}: {decided}");
            Assert.Equal(Verdict.Committed, (await client.Submit(again, door)).Verdict);
            Assert.Equal(Verdict.Committed, (await client.Find(cut.RequestId!)).Verdict);
            Assert.Equal("[1]", (await client.Submit(Lists.ReadOf($"{key}-other").Act())).Result.GetRawText());
        }

        await snapper.Stop();
        Directory.Delete(snapper.Options.Data, recursive: true);
    }
}
