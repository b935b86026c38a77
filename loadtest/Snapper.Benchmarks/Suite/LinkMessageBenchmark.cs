using System.Diagnostics;
using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// What a message between two workers costs by a direct link, at both ends; 200 bytes, without what it asks for.
/// </summary>
/// <param name="name">Its name.</param>
/// <param name="what">What its number is.</param>
/// <param name="messages">So many are under way at once.</param>
/// <param name="goal">The bar, in µs.</param>
public sealed class LinkMessageBenchmark(string name, string what, int messages, Goal goal) : IBenchmark
{
    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => what;

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var pair = await LinkedMailboxes.StartAsync();
        pair.Begin(messages);
        await Task.Delay(context.Plan.Times.Warmup);
        var (cpu, rates, packed) = (new List<double>(), new List<double>(), new List<double>());
        for (var run = 0; run < context.Plan.Repetitions; run++)
        {
            var (before, packets, start) = (pair.Messages, pair.Packets, Stopwatch.GetTimestamp());
            var used = Environment.CpuUsage.TotalTime;
            await Task.Delay(context.Plan.Times.Measured);
            var count = pair.Messages - before;
            cpu.Add((Environment.CpuUsage.TotalTime - used).TotalMicroseconds / Math.Max(1, count));
            rates.Add(count / Stopwatch.GetElapsedTime(start).TotalSeconds);
            packed.Add(count / (double)Math.Max(1, pair.Packets - packets));
            context.Progress($"  {rates[^1]:F0} messages/s, {cpu[^1]:F2} us CPU, {packed[^1]:F1} messages per packet");
        }

        pair.Cease();
        var summary = Summary.Of([.. cpu]);
        return new BenchmarkResult
        {
            Name = name,
            What = what,
            Unit = "µs",
            Goal = goal,
            Measured = rates.Min() > 0 ? summary.Median : null,
            Missing = rates.Min() > 0 ? null : "no message came",
            Notes = new Dictionary<string, string>
            {
                ["range"] = $"{summary.Min:F2} to {summary.Max:F2} µs",
                ["messages per second"] = $"{Summary.Of([.. rates]).Median:F0}",
                ["messages per packet"] = $"{Summary.Of([.. packed]).Median:F1}",
            },
        };
    }
}
