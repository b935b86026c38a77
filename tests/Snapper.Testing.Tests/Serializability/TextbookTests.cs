using Snapper.Testing.Serializability;
using Xunit;

namespace Snapper.Testing.Tests.Serializability;

public sealed class TextbookTests
{
    public static TheoryData<string> Names => [.. TextbookHistory.All.Select(history => history.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void A_textbook_history_gets_its_verdict(string name)
    {
        var textbook = TextbookHistory.All.Single(history => history.Name == name);

        var report = SerializabilityChecker.Check(Script.Parse(textbook.Text));

        Assert.True(
            textbook.Expected.Order().SequenceEqual(report.Counts.Keys.Order()),
            $"expected [{string.Join(", ", textbook.Expected)}], found:\n{report}");
        Assert.Equal(textbook.Expected.Length == 0, report.Passed);
    }

    [Fact]
    public void Every_kind_of_anomaly_has_a_textbook_history()
    {
        var covered = TextbookHistory.All.SelectMany(history => history.Expected).ToHashSet();

        Assert.Equal([], Enum.GetValues<AnomalyKind>().Except(covered));
    }

    [Theory]
    [InlineData("versions against real time (G0-realtime)")]
    [InlineData("read of the future (G1c-realtime)")]
    [InlineData("stale read (G-single-realtime)")]
    [InlineData("acknowledged append that nobody finds")]
    public void Without_real_time_what_some_serial_order_explains_is_legal(string name)
    {
        var text = TextbookHistory.All.Single(history => history.Name == name).Text;

        Assert.Empty(SerializabilityChecker.Check(Script.Parse(text), new CheckOptions { RealTime = false }).Counts);
    }

    [Fact]
    public void A_value_appended_twice_to_a_key_makes_the_history_invalid()
    {
        var history = Script.Parse("""
            t1 0..1: append x 1
            t2 2..3: append x 1
            """);

        var wrong = Assert.Throws<Testing.Histories.InvalidHistoryException>(() => SerializabilityChecker.Check(history));

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
            GSingleRealTime: t3 -> t2 -> t3
              t3 (Committed, process 0, invoked 4, completed 5): read x [1]
              t2 (Committed, process 0, invoked 2, completed 3): append x 2
              1. t3 read x as [1], without the 2 that t2 appended, so t3 comes before t2.
              2. t2 was acknowledged at 3, before t3 was invoked at 4, so t2 comes before t3.
              So t3 would have to come before itself: no serial order explains this.
            """,
            Assert.Single(report.Anomalies).Explanation.ReplaceLineEndings("\n"));
    }

    [Fact]
    public void The_shortest_circle_is_told()
    {
        // t1 to t5 form a circle of five, t4 and t5 one of two in the same component.
        var report = SerializabilityChecker.Check(Script.Parse("""
            t1 0..9: append a 1; read e [1]
            t2 0..9: append b 1; read a [1]
            t3 0..9: append c 1; read b [1]
            t4 0..9: append d 1; read c [1]; append f 1; read g [1]
            t5 0..9: append e 1; read d [1]; append g 1; read f [1]
            """));

        var anomaly = Assert.Single(report.Anomalies);
        Assert.Equal(AnomalyKind.G1c, anomaly.Kind);
        Assert.Equal(["t4", "t5"], anomaly.Transactions.Order());
    }
}
