using System.Diagnostics;
using System.Globalization;
using Snapper.Testing.Histories;
using Snapper.Testing.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Testing.Tests.Serializability;

public sealed class ScaleTests(ITestOutputHelper output)
{
    private static readonly int Transactions =
        int.Parse(Environment.GetEnvironmentVariable("SNAPPER_CHECKER_SCALE") ?? "200000", CultureInfo.InvariantCulture);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_large_history_is_judged_in_seconds(bool stale)
    {
        var history = new History();
        var transactions = new SerialHistories(1) { Keys = 30, Processes = 64 }.Make(Transactions);
        if (stale)
        {
            MakeOneReadStale(transactions);
        }

        transactions.ForEach(history.Add);
        transactions = null;
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var started = Stopwatch.GetTimestamp();

        var report = SerializabilityChecker.Check(history);

        var elapsed = Stopwatch.GetElapsedTime(started);
        output.WriteLine($"{report}\n{before >> 20} MiB held before, {Process.GetCurrentProcess().PeakWorkingSet64 >> 20} MiB at most, {elapsed.TotalSeconds:0.0} s");
        Assert.Equal(stale ? [AnomalyKind.GSingleRealTime] : [], report.Counts.Keys);
        Assert.True(elapsed < TimeSpan.FromSeconds(5 + Transactions / 25_000.0), $"{Transactions} transactions took {elapsed}.");
    }

    /// <summary>The worst case for naming a cycle: one wrong read in the middle makes thousands of transactions strongly connected.</summary>
    private static void MakeOneReadStale(List<ObservedTransaction> transactions)
    {
        for (var index = transactions.Count / 2; index < transactions.Count; index++)
        {
            if (transactions[index] is { Outcome: ObservedOutcome.Committed, Operations: [{ List.Count: > 30 } read] } victim)
            {
                transactions[index] = victim with { Operations = [MicroOperation.Read(read.Key, [.. read.List.Take(2)])] };
                return;
            }
        }

        throw new InvalidOperationException("No read to make stale.");
    }
}
