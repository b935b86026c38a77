using System.Globalization;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// What a resident account costs that nobody uses. The worker's managed heap is read from its metrics after a full collection, once checkpoints are
/// over. Resident memory stands beside it; it includes what the collector keeps in reserve.
/// </summary>
public sealed class MemoryBenchmark : IBenchmark
{
    private const string HeapMetric = "snapper_process_managed_heap_bytes";
    private const int Connections = 4;
    private const int BatchMax = 500;

    // Changes are checkpointed, and forgotten, 5 s after they were made.
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(15);

    /// <inheritdoc />
    public string Name => "memory";

    /// <inheritdoc />
    public string What => "managed heap of the worker per idle resident Account";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var count = context.Options.ResidentAccounts;
        await using var snapper = await SnapperSystem.StartAsync();
        using var client = new HttpClient { BaseAddress = snapper.Worker, Timeout = TimeSpan.FromSeconds(10) };

        // The first accounts warm code and pools up, so that the difference is accounts alone; the others follow on.
        var warm = Math.Min(BatchMax * 4, Math.Max(1, count / 10));
        var chooser = new SequentialChooser();
        var errors = await TouchAsync(snapper, chooser, warm);
        var before = await SettleAsync(client, snapper.WorkerId);
        errors = errors is null ? await TouchAsync(snapper, chooser, count) : errors;
        var after = await SettleAsync(client, snapper.WorkerId);
        var result = new BenchmarkResult { Name = Name, What = What, Unit = "B", Goal = new Goal(2048, 1024, false) };
        if (errors is not null)
        {
            return result with { Missing = $"touching the accounts: {errors}" };
        }

        using var answer = await client.GetAsync($"/v1/actors/Account/{AccountIds.Of(warm + 1)}");
        var account = await answer.Content.ReadAsStringAsync();
        if (!account.Contains("\"resident\":true", StringComparison.Ordinal))
        {
            return result with { Missing = $"the accounts are not resident any more: HTTP {(int)answer.StatusCode} {account}" };
        }

        if (before.Heap is null || after.Heap is null)
        {
            return result with { Missing = $"/metrics has no {HeapMetric}; resident memory grew by {(after.Resident - before.Resident) / count} B per account" };
        }

        return result with
        {
            Measured = (double)(after.Heap.Value - before.Heap.Value) / count,
            Notes = new Dictionary<string, string>(Facts.Of(snapper))
            {
                ["accounts"] = $"{count}",
                ["managed heap before, after"] = $"{before.Heap / 1024} KB, {after.Heap / 1024} KB",
                ["resident memory before, after"] = $"{before.Resident / 1024} KB, {after.Resident / 1024} KB",
                ["resident memory per account"] = $"{(after.Resident - before.Resident) / count} B",
            },
        };
    }

    private static async Task<string?> TouchAsync(SnapperSystem snapper, SequentialChooser chooser, int count)
    {
        var batch = Math.Min(BatchMax, count);
        var pipelines = Enumerable.Range(0, Connections)
            .Select(i => (IPipeline)new HttpPipeline(snapper.BatchedDeposits(chooser, batch), (ulong)i))
            .ToArray();
        var tally = await ClosedLoop.RunCountAsync(pipelines, batch, count);
        return tally.Errors.Count > 0 || tally.Aborts.Count > 0
            ? $"{RunResult.Describe(tally.Errors)}; aborted: {RunResult.Describe(tally.Aborts)}"
            : null;
    }

    private static async Task<(long? Heap, long Resident)> SettleAsync(HttpClient client, int worker)
    {
        await Task.Delay(Settling);
        await ForcedCollection.RunAsync(worker);
        return (Metric(await client.GetStringAsync("/metrics"), HeapMetric), ProcStat.ResidentBytes(worker));
    }

    /// <summary>The value of a metric without labels in Prometheus text; null when it is not there.</summary>
    internal static long? Metric(string text, string name)
    {
        foreach (var line in text.Split('\n'))
        {
            var blank = line.LastIndexOf(' ');
            if (blank > 0 && (line.StartsWith(name + " ", StringComparison.Ordinal) || line.StartsWith(name + "{", StringComparison.Ordinal)))
            {
                return (long)double.Parse(line.AsSpan(blank + 1), CultureInfo.InvariantCulture);
            }
        }

        return null;
    }
}
