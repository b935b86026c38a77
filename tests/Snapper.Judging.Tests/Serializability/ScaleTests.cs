using System.Diagnostics;
using System.Globalization;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>Tests of time: nothing else runs beside them.</summary>
[CollectionDefinition(nameof(ScaleTests), DisableParallelization = true)]
public sealed class ScaleCollection;

[Collection(nameof(ScaleTests))]
public sealed class ScaleTests(ITestOutputHelper output)
{
    private static readonly int Transactions =
        int.Parse(Environment.GetEnvironmentVariable("SNAPPER_CHECKER_SCALE") ?? "200000", CultureInfo.InvariantCulture);

    [Fact]
    public void Four_times_the_history_takes_at_most_six_times_as_long_and_four_gibibytes()
    {
        Assert.True(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes <= 4L << 30, "The heap's limit is not in force, so memory is not tested.");

        var quarter = Judge(Transactions / 4);
        var whole = Judge(Transactions);

        Assert.True(whole < TimeSpan.FromSeconds(30), $"{Transactions} transactions took {whole}.");
        Assert.True(whole < 6 * quarter, $"{Transactions / 4} transactions took {quarter}, {Transactions} took {whole}.");
    }

    /// <summary>The worst case for naming a cycle: one wrong read in the middle makes thousands of transactions strongly connected.</summary>
    [Fact]
    public void One_stale_read_in_a_large_history_is_found_in_seconds()
    {
        var transactions = new SerialHistories(1) { Keys = 30, Processes = 64 }.Make(200_000);
        var victim = transactions.FindIndex(transactions.Count / 2, one => one is { Outcome: ObservedOutcome.Committed, Operations: [{ List.Count: > 30 }] });
        var read = transactions[victim].Operations[0];
        transactions[victim] = transactions[victim] with { Operations = [MicroOperation.Read(read.Key, [.. read.List!.Take(2)])] };
        var history = TextbookHistory.ToHistory(transactions);

        var (report, elapsed) = Check(history);

        Assert.Equal([AnomalyKind.GSingleRealTime], report.Counts.Keys);
        Assert.True(elapsed < TimeSpan.FromSeconds(20), $"It took {elapsed}.");
    }

    [Fact]
    public void A_list_of_a_million_elements_that_is_read_again_and_again_is_no_square()
    {
        const int Appends = 1_000_000;
        var list = new long[Appends];
        var history = new History();
        for (var index = 0; index < Appends; index++)
        {
            list[index] = index;
            history.Add(new ObservedTransaction
            {
                Id = "t",
                Invoked = 2 * index,
                Completed = 2 * index + 1,
                Outcome = ObservedOutcome.Committed,
                Operations = [MicroOperation.Append("hot", index), MicroOperation.ReadPrefix("hot", list, index + 1)],
            });
        }

        var (report, elapsed) = Check(history);

        Assert.True(report.Passed, report.ToString());
        Assert.True(elapsed < TimeSpan.FromSeconds(20), $"It took {elapsed}.");
    }

    /// <summary>A key with two owners: every read fits one of two lists, and neither is kept more than once.</summary>
    [Fact]
    public void A_fork_of_long_lists_is_no_square()
    {
        var history = new History();
        var sides = new[] { new long[100_000], new long[100_000] };
        for (var index = 0; index < sides[0].Length; index++)
        {
            for (var side = 0; side < 2; side++)
            {
                sides[side][index] = 2 * index + side;
                history.Add(new ObservedTransaction
                {
                    Id = "t",
                    Invoked = index,
                    Completed = 1_000_000,
                    Outcome = ObservedOutcome.Committed,
                    Operations = [MicroOperation.Append("hot", 2 * index + side), MicroOperation.ReadPrefix("hot", sides[side], index + 1)],
                });
            }
        }

        var (report, elapsed) = Check(history);

        Assert.Equal(sides[0].Length, report.Counts[AnomalyKind.IncompatibleOrder]);
        Assert.True(elapsed < TimeSpan.FromSeconds(20), $"It took {elapsed}.");
    }

    /// <summary>The final read of everything, in one transaction.</summary>
    [Fact]
    public void A_transaction_of_a_million_operations_is_no_square()
    {
        const int Keys = 500_000;
        var history = new History();
        history.Add(Wide("writer", 0, key => MicroOperation.Append($"k{key}", 1)));
        history.Add(Wide("reader", 2, key => MicroOperation.Read($"k{key % (Keys / 2)}", 1)));

        var (report, elapsed) = Check(history);

        Assert.True(report.Passed, report.ToString());
        Assert.True(elapsed < TimeSpan.FromSeconds(20), $"It took {elapsed}.");

        static ObservedTransaction Wide(string id, long invoked, Func<int, MicroOperation> operation) =>
            new() { Id = id, Invoked = invoked, Completed = invoked + 1, Outcome = ObservedOutcome.Committed, Operations = [.. Enumerable.Range(0, Keys).Select(operation)] };
    }

    /// <summary>A simulator judges a small history per seed, and runs many seeds.</summary>
    [Fact]
    public void A_hundred_transactions_are_recorded_and_judged_in_less_than_a_millisecond()
    {
        var seeds = Enumerable.Range(0, 50).Select(seed => new SerialHistories(seed).Make(100)).ToArray();
        var history = new History();
        var best = TimeSpan.MaxValue;
        for (var round = 0; round < 20; round++)
        {
            var started = Stopwatch.GetTimestamp();
            foreach (var transactions in seeds)
            {
                history.Clear();
                transactions.ForEach(history.Add);
                Assert.True(SerializabilityChecker.Check(history).Passed);
            }

            var elapsed = Stopwatch.GetElapsedTime(started) / seeds.Length;
            best = elapsed < best ? elapsed : best;
        }

        output.WriteLine($"{best.TotalMicroseconds:0} us for about {seeds[0].Count} transactions");
        Assert.True(best < TimeSpan.FromMilliseconds(1), $"It took {best}.");
    }

    private TimeSpan Judge(int transactions)
    {
        var history = new History();
        new SerialHistories(1) { Keys = 30, Processes = 64, MostOperations = 10 }.Make(transactions, history.Add);
        var best = TimeSpan.MaxValue;
        for (var round = 0; round < 3; round++)
        {
            var (report, elapsed) = Check(history);
            Assert.True(report.Passed, report.ToString());
            best = elapsed < best ? elapsed : best;
        }

        return best;
    }

    /// <summary>The time is that of the processor, all threads together: other programs on the machine have little say in it.</summary>
    private (CheckReport Report, TimeSpan Elapsed) Check(History history)
    {
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var started = Environment.CpuUsage.TotalTime;
        var report = SerializabilityChecker.Check(history);
        var elapsed = Environment.CpuUsage.TotalTime - started;
        var after = GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes;
        output.WriteLine($"{report.ToString().Split('\n')[0]} {before >> 20} MiB held before, {after >> 20} MiB committed, {elapsed.TotalSeconds:0.00} s of processor time");
        return (report, elapsed);
    }
}
