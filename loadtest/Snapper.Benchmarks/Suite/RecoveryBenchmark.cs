using System.Diagnostics;
using System.Text;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>How long a killed worker is away, and that what it had acknowledged is there afterwards.</summary>
public sealed class RecoveryBenchmark : IBenchmark
{
    private const int Connections = 8;
    private const int Batch = 128;
    private const string LastId = "bench-last-before-the-crash";
    private static readonly TimeSpan Deadline = TimeSpan.FromMinutes(2);

    /// <inheritdoc />
    public string Name => "recovery";

    /// <inheritdoc />
    public string What => "worker killed after many committed transactions, until a transaction commits again (restart included)";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var snapper = await SnapperSystem.StartAsync();
        var pipelines = Enumerable.Range(0, Connections)
            .Select(i => (IPipeline)new HttpPipeline(snapper.BatchedMultiTransfer(context.Transfers(), Batch), context.Plan.Seed + (ulong)i))
            .ToArray();
        var began = Stopwatch.GetTimestamp();
        var loaded = await ClosedLoop.RunCountAsync(pipelines, Batch, context.Options.Transactions);
        context.Progress($"  {loaded.Committed} transactions loaded in {Stopwatch.GetElapsedTime(began).TotalSeconds:F1} s");
        var result = new BenchmarkResult { Name = Name, What = What, Unit = "s", Goal = new Goal(10, 2, false) };
        if (loaded.Errors.Count > 0 || loaded.Aborts.Count > 0)
        {
            return result with { Missing = $"the load before it: {RunResult.Describe(loaded.Errors)}; aborted: {RunResult.Describe(loaded.Aborts)}" };
        }

        using var client = new HttpClient { BaseAddress = snapper.Worker, Timeout = TimeSpan.FromSeconds(5) };
        if (!await CommitsAsync(client, LastId))
        {
            return result with { Missing = "the last transaction before the crash did not commit" };
        }

        using (var worker = Process.GetProcessById(snapper.WorkerId))
        {
            worker.Kill();
        }

        var killed = Stopwatch.GetTimestamp();
        var ready = await PollAsync(() => IsReadyAsync(client), killed);
        var commits = ready is null ? null : await PollAsync(() => CommitsAsync(client, $"bench-after-{Stopwatch.GetTimestamp()}"), killed);
        if (commits is null)
        {
            return result with { Missing = $"the worker did not come back within {Deadline.TotalSeconds:0} s: {(ready is null ? "/readyz is not 200" : "nothing commits")}" };
        }

        using var answer = await client.GetAsync($"/v1/transactions/{LastId}");
        var text = await answer.Content.ReadAsStringAsync();
        if (!text.Contains("\"outcome\":\"committed\"", StringComparison.Ordinal))
        {
            return result with { Missing = $"an acknowledged transaction is lost: HTTP {(int)answer.StatusCode} {text}" };
        }

        return result with
        {
            Measured = commits.Value,
            Notes = new Dictionary<string, string>(Facts.Of(snapper))
            {
                ["transactions before the crash"] = $"{loaded.Committed + 1}",
                ["/readyz is 200 after"] = $"{ready:F2} s",
                ["a transaction commits after"] = $"{commits:F2} s",
                ["last acknowledged transaction"] = "found again",
            },
        };
    }

    private static async Task<double?> PollAsync(Func<Task<bool>> condition, long since)
    {
        while (Stopwatch.GetElapsedTime(since) < Deadline)
        {
            if (await condition())
            {
                return Stopwatch.GetElapsedTime(since).TotalSeconds;
            }

            await Task.Delay(20);
        }

        return null;
    }

    private static async Task<bool> IsReadyAsync(HttpClient client)
    {
        try
        {
            using var answer = await client.GetAsync("/readyz");
            return answer.IsSuccessStatusCode;
        }
        catch (Exception notYet) when (notYet is HttpRequestException or TaskCanceledException)
        {
            return false;
        }
    }

    private static async Task<bool> CommitsAsync(HttpClient client, string id)
    {
        var json = $$$"""{"id":"{{{id}}}","actor":{"type":"Account","id":"c000000"},"method":"DepositChecking","input":{"amount":1},"access":{"Account":["c000000"]}}""";
        try
        {
            using var content = new StringContent(json, Encoding.UTF8, "application/json");
            using var answer = await client.PostAsync("/v1/transactions", content);
            return answer.IsSuccessStatusCode && (await answer.Content.ReadAsStringAsync()).Contains("\"outcome\":\"committed\"", StringComparison.Ordinal);
        }
        catch (Exception notYet) when (notYet is HttpRequestException or TaskCanceledException)
        {
            return false;
        }
    }
}
