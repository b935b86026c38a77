using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Xunit;

namespace Snapper.Judging.Tests.Serializability;

public sealed class TextbookTests
{
    public static TheoryData<string> Names => [.. TextbookHistory.All.Select(history => history.Name)];

    public static TheoryData<string> Anomalous => [.. TextbookHistory.All.Where(history => history.Expected.Count > 0).Select(history => history.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void A_textbook_history_gets_its_verdict(string name) => AssertVerdict(TextbookHistory.Named(name), TextbookHistory.Named(name).Transactions);

    /// <summary>What is around a history, in which order it was recorded, and what its keys are called has no say.</summary>
    [Theory]
    [MemberData(nameof(Names))]
    public void A_textbook_history_gets_the_same_verdict_within_a_larger_clean_one(string name)
    {
        var textbook = TextbookHistory.Named(name);
        for (var seed = 0; seed < 5; seed++)
        {
            AssertVerdict(textbook, TextbookTransformations.Embed(textbook.Transactions, seed));
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_textbook_history_is_clean_once_its_reads_are_what_they_should_be(string name)
    {
        var repaired = TextbookTransformations.Repair(TextbookHistory.Named(name).Transactions);

        var report = SerializabilityChecker.Check(TextbookHistory.ToHistory(repaired));

        Assert.True(report.Passed, report.ToString());
        Assert.Equal(repaired.Count(transaction => transaction.Outcome == ObservedOutcome.Committed), report.Statistics.Committed);
    }

    /// <summary>The expected verdicts are not the checker's own: trying every order comes to the same.</summary>
    [Theory]
    [MemberData(nameof(Names))]
    public void Trying_every_order_comes_to_the_same_verdict(string name)
    {
        var textbook = TextbookHistory.Named(name);

        Assert.Equal(textbook.Expected.Count == 0, ExhaustiveOracle.IsStrictlySerializable(textbook.Transactions));
    }

    [Theory]
    [MemberData(nameof(Anomalous))]
    public void An_anomaly_is_told_with_every_transaction_in_it(string name)
    {
        foreach (var anomaly in SerializabilityChecker.Check(TextbookHistory.ToHistory(TextbookHistory.Named(name).Transactions)).Anomalies)
        {
            Assert.StartsWith($"{anomaly.Kind}", anomaly.Explanation, StringComparison.Ordinal);
            Assert.All(anomaly.Transactions, id => Assert.Contains($"  {id} (", anomaly.Explanation, StringComparison.Ordinal));
        }
    }

    [Fact]
    public void Every_kind_of_anomaly_has_a_textbook_history_and_near_misses_are_there()
    {
        var covered = TextbookHistory.All.SelectMany(history => history.Expected).Select(expected => expected.Kind).ToHashSet();

        Assert.Equal([], Enum.GetValues<AnomalyKind>().Except(covered));
        Assert.True(TextbookHistory.All.Count(history => history.Expected.Count > 0) >= 40);
        Assert.True(TextbookHistory.All.Count(history => history.Expected.Count == 0) >= 20);
    }

    [Theory]
    [InlineData("rt-write-order")]
    [InlineData("rt-read-of-the-future")]
    [InlineData("rt-stale-read")]
    [InlineData("rt-serializable-not-strict")]
    [InlineData("lost-append")]
    [InlineData("torn-in-doubt")]
    public void Without_real_time_what_some_serial_order_explains_is_legal(string name)
    {
        var history = TextbookHistory.ToHistory(TextbookHistory.Named(name).Transactions);

        Assert.Empty(SerializabilityChecker.Check(history, new CheckOptions { RealTime = false }).Counts);
    }

    [Fact]
    public void A_value_appended_twice_to_a_key_makes_the_history_invalid()
    {
        var history = Script.Parse("""
            t1 0..1: append x 1
            t2 2..3: append x 1
            """);

        var wrong = Assert.Throws<InvalidHistoryException>(() => SerializabilityChecker.Check(history));

        Assert.Contains("t1 and t2 both append 1 to x", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_cycle_is_told_so_that_a_person_can_follow_it()
    {
        var report = SerializabilityChecker.Check(Script.Parse("""
            t1 0..1: append x 1
            t2 2..3: append x 2
            t3 4..5: read x [1]
            t4 6..9: read x [1 2]
            """));

        Assert.Equal(
            """
            GSingleRealTime (stale read): t3 -> t2 -> t3
              t3 (Committed, process 0, invoked 4, completed 5): read x [1]
              t2 (Committed, process 0, invoked 2, completed 3): append x 2
              1. t3 read x as [1], without the 2 that t2 appended, so t3 comes before t2.
              2. t2 was acknowledged at 3, before t3 was invoked at 4, so t2 comes before t3.
              So t3 would have to come before itself: no serial order explains this.
            """,
            Assert.Single(report.Anomalies).Explanation.ReplaceLineEndings("\n"));
    }

    [Fact]
    public void A_cycle_over_registers_is_told_by_versions()
    {
        var report = SerializabilityChecker.Check(TextbookHistory.ToHistory(TextbookHistory.Named("gsingle-adya-h1").Transactions));

        Assert.Equal(
            """
            GSingle (read skew): t2 -> t1 -> t2
              t2 (Committed, process 0, invoked 2, completed 9): read x version 2 = 1; read y version 1 = 5
              t1 (Committed, process 0, invoked 2, completed 9): read x version 1 = 5; write x version 2 = 1; read y version 1 = 5; write y version 2 = 9
              1. t2 read y at version 1 = 5, before the version 2 = 9 that t1 wrote, so t2 comes before t1.
              2. t2 read x at version 2 = 1, which t1 wrote, so t1 comes before t2.
              So t2 would have to come before itself: no serial order explains this.
            """,
            Assert.Single(report.Anomalies).Explanation.ReplaceLineEndings("\n"));
    }

    [Fact]
    public void The_outcomes_of_in_doubt_transactions_are_deduced()
    {
        var report = SerializabilityChecker.Check(Script.Parse("""
            seen 0.. unknown: append x 1; append y 1
            missing 0.. unknown: append x 2
            unread 0.. unknown: append z 1
            reader 2..3: read x [1]; read y [1]
            """));

        Assert.True(report.Passed, report.ToString());
        Assert.Equal([("seen", InDoubtOutcome.Happened), ("missing", InDoubtOutcome.NotSeen), ("unread", InDoubtOutcome.Undecided)], report.InDoubt);
    }

    private static void AssertVerdict(TextbookHistory textbook, List<ObservedTransaction> transactions)
    {
        var report = SerializabilityChecker.Check(TextbookHistory.ToHistory(transactions), new CheckOptions { ExplainedPerKind = 100 });

        string[] found = [.. report.Anomalies.Select(anomaly => new ExpectedAnomaly(anomaly.Kind, anomaly.Pattern, anomaly.Transactions).ToString()).Order(StringComparer.Ordinal)];
        string[] expected = [.. textbook.Expected.Select(anomaly => anomaly.ToString()).Order(StringComparer.Ordinal)];
        Assert.True(expected.SequenceEqual(found), $"{textbook.About}\nexpected [{string.Join("; ", expected)}]\nfound [{string.Join("; ", found)}]\n{report}");
        Assert.Equal(textbook.Expected.Count == 0, report.Passed);
    }
}
