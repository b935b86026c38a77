using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Xunit;

namespace Snapper.Judging.Tests.Serializability;

public sealed class GeneratedHistoryTests
{
    private const int Seeds = 40;

    public static TheoryData<string> RegisterCorruptions => [.. RegisterCorruption.All.Select(corruption => corruption.Name)];

    public static TheoryData<string> Corruptions => [.. Corruption.All.Select(corruption => corruption.Name)];

    [Fact]
    public void Overlapping_but_serial_histories_pass()
    {
        for (var seed = 0; seed < 200; seed++)
        {
            var history = ToHistory(new SerialHistories(seed) { Keys = 1 + seed % 9, Processes = 1 + seed % 20 }.Make(300), seed);

            var report = SerializabilityChecker.Check(history);

            Assert.True(report.Passed, $"seed {seed}: {report}");
            Assert.True(report.Statistics.Reads > 100, $"seed {seed}: only {report.Statistics.Reads} reads, so the check proves nothing.");
        }
    }

    [Theory]
    [MemberData(nameof(Corruptions))]
    public void A_planted_violation_is_found_and_named(string name)
    {
        var corruption = Corruption.All.Single(corruption => corruption.Name == name);
        var planted = 0;
        for (var seed = 0; seed < Seeds; seed++)
        {
            var transactions = new SerialHistories(seed) { Keys = 4 }.Make(200);
            if (!corruption.Plant(transactions, new Random(seed)))
            {
                continue;
            }

            planted++;
            var report = SerializabilityChecker.Check(ToHistory(transactions, seed));

            Assert.True(
                report.Counts.Keys.Intersect(corruption.Expected).Any(),
                $"seed {seed}, {name}: expected one of {string.Join(", ", corruption.Expected)}, found {report}");
        }

        Assert.True(planted > Seeds / 2, $"{name} could be planted in only {planted} of {Seeds} histories.");
    }

    [Theory]
    [MemberData(nameof(RegisterCorruptions))]
    public void A_violation_planted_into_registers_is_found_and_named(string name)
    {
        var corruption = RegisterCorruption.All.Single(corruption => corruption.Name == name);
        var planted = 0;
        for (var seed = 0; seed < Seeds; seed++)
        {
            var transactions = SerialRegisters.Make(new Random(seed), 200, seed % 2 == 0 ? 1 : 3);
            if (!corruption.Plant(transactions, new Random(seed)))
            {
                continue;
            }

            planted++;
            var report = SerializabilityChecker.Check(ToHistory(transactions, seed));

            Assert.True(
                report.Counts.Keys.Intersect(corruption.Expected).Any(),
                $"seed {seed}, {name}: expected one of {string.Join(", ", corruption.Expected)}, found {report}");
        }

        Assert.True(planted >= Seeds / 4, $"{name} could be planted in only {planted} of {Seeds} histories.");
    }

    [Fact]
    public void Every_kind_of_anomaly_is_planted()
    {
        var planted = Corruption.All.SelectMany(corruption => corruption.Expected).Concat(RegisterCorruption.All.SelectMany(corruption => corruption.Expected)).ToHashSet();

        Assert.Equal([], Enum.GetValues<AnomalyKind>().Except(planted));
    }

    [Fact]
    public void The_same_history_gets_the_same_words_and_the_same_verdict_in_any_order()
    {
        for (var seed = 0; seed < Seeds; seed++)
        {
            var transactions = new SerialHistories(seed) { Keys = 4 }.Make(200);
            Corruption.All[seed % Corruption.All.Length].Plant(transactions, new Random(seed));
            var first = SerializabilityChecker.Check(ToHistory(transactions, seed));
            var again = SerializabilityChecker.Check(ToHistory(transactions, seed));
            var shuffled = SerializabilityChecker.Check(ToHistory(transactions, seed + 1));

            Assert.Equal(first.Anomalies.Select(anomaly => anomaly.Explanation), again.Anomalies.Select(anomaly => anomaly.Explanation));
            Assert.Equal(first.Counts, shuffled.Counts);
        }
    }

    [Fact]
    public void Every_explained_cycle_is_a_circle_of_distinct_transactions()
    {
        for (var seed = 0; seed < Seeds; seed++)
        {
            var transactions = new SerialHistories(seed) { Keys = 4 }.Make(200);
            Corruption.All[seed % 2].Plant(transactions, new Random(seed));
            foreach (var anomaly in SerializabilityChecker.Check(ToHistory(transactions, seed)).Anomalies.Where(anomaly => anomaly.Kind >= AnomalyKind.G0))
            {
                Assert.InRange(anomaly.Transactions.Count, 2, 200);
                Assert.Equal(anomaly.Transactions.Count, anomaly.Transactions.Distinct().Count());
                Assert.All(anomaly.Transactions, id => Assert.Contains(id, anomaly.Explanation, StringComparison.Ordinal));
            }
        }
    }

    /// <summary>Adds in another order than that of execution: the verdict must not depend on it.</summary>
    private static History ToHistory(List<ObservedTransaction> transactions, int seed)
    {
        var shuffled = transactions.ToArray();
        new Random(seed).Shuffle(shuffled);
        var history = new History();
        Array.ForEach(shuffled, history.Add);
        return history;
    }
}
