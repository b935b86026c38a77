using Snapper.Runtime.Inspection;
using System.Diagnostics;
using Snapper.Benchmarks.Statistics;
using Snapper.Client.Messages;
using Snapper.Load.Reporting;
using Snapper.Load.Running;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Workloads;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class MeasuredTests
{
    [Fact]
    public void Percentiles_are_those_of_the_sorted_values_to_three_digits()
    {
        var random = new FastRandom(11);
        var histogram = new LatencyHistogram();
        var values = new long[100_000];
        for (var i = 0; i < values.Length; i++)
        {
            values[i] = (long)Math.Pow(10, 1 + (random.NextDouble() * 6));
            histogram.Record(values[i]);
        }

        Array.Sort(values);
        foreach (var percentile in new[] { 50, 90, 99, 99.9, 99.99 })
        {
            var exact = values[(int)Math.Ceiling(percentile / 100 * values.Length) - 1];
            Assert.InRange(histogram.Percentile(percentile), exact, exact * 1.001);
        }
    }

    [Fact]
    public void The_dip_is_the_worst_second_that_a_change_touches()
    {
        var course = new Course(TimeSpan.FromSeconds(12), TimeSpan.FromSeconds(2));
        for (var step = 0; step < 120; step++)
        {
            // 100 a second; 40 in the second from 6.0 on.
            for (var i = 0; i < (step is >= 60 and < 70 ? 4 : 10); i++)
            {
                course.End((step + 0.5) * 0.1, (step + 0.5) * 0.1, 1000, EndingKind.Committed);
            }
        }

        Assert.Equal(60, Measured.Dip(course, [new Band("change", 5.95, 7.05)])!.Value, 6);
        Assert.Equal(0, Measured.Dip(course, [new Band("change", 9, 9.5)])!.Value, 6);
        Assert.Null(Measured.Dip(course, [new Band("change", 0.5, 1)]));
        Assert.Null(Measured.Dip(course, [new Band("change", 13, 13.5)]));
    }

    [Fact]
    public void The_pause_is_the_longest_wait_of_each_actors_callers_during_the_change()
    {
        var log = new RunLog();
        var recorder = new Recorder(TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1), 200, log);
        for (var actor = 0; actor < 100; actor++)
        {
            End(recorder, log, Window.During, actor, ms: 10);
            End(recorder, log, Window.During, actor, ms: actor >= 98 ? 300 : 20);
            End(recorder, log, Window.Before, actor, ms: 5_000);
        }

        log.BeginChange("change");
        log.EndChange();
        recorder[Window.During].Arrive();
        var measures = Measured.All(recorder, log, TimeSpan.FromSeconds(10), new Dictionary<string, double> { ["recovery-ms"] = 7 });
        Assert.Equal(300, measures["pause-p99-ms"], 3);
        Assert.Equal(7, measures["recovery-ms"]);
    }

    [Fact]
    public void A_change_that_nobody_saw_has_no_pause()
    {
        var log = new RunLog();
        var recorder = new Recorder(TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1), 10, log);
        log.BeginChange("change");
        log.EndChange();
        var measures = Measured.All(recorder, log, TimeSpan.FromSeconds(10), new Dictionary<string, double>());
        Assert.DoesNotContain("pause-p99-ms", measures.Keys);
        Assert.DoesNotContain("change-abort-percent", measures.Keys);
    }

    [Fact]
    public void Aborts_are_shares_of_the_arrivals_by_reason()
    {
        var log = new RunLog();
        var recorder = new Recorder(TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1), 10, log);
        for (var i = 0; i < 50; i++)
        {
            recorder.Arrive(log.Origin, log.Origin);
            var reply = i switch
            {
                < 4 => FakeBank.Aborted("x", "application", false),
                < 5 => FakeBank.Aborted("x", "conflict", true),
                < 7 => new TransactionReply { Id = "x", Outcome = TransactionOutcome.InDoubt },
                _ => new TransactionReply { Id = "x", Outcome = TransactionOutcome.Committed, Attempts = 1 },
            };
            recorder.End(new Touching(), reply, null, Window.Before, log.Origin, log.Origin + Stopwatch.Frequency);
        }

        var measures = Measured.All(recorder, log, TimeSpan.FromSeconds(10), new Dictionary<string, double>());
        Assert.Equal(8, measures["abort-percent.application"], 6);
        Assert.Equal(2, measures["abort-percent.conflict"], 6);
        Assert.Equal(2, measures["abort-percent"], 6);
        Assert.Equal(4, measures["error-percent"], 6);
        Assert.Equal(4.3, measures["committed-per-second"], 6);
        Assert.InRange(measures["p99.99-ms"], 1000, 1001);
    }

    private static void End(Recorder recorder, RunLog log, Window window, int actor, int ms) => recorder.End(
        new Touching(actor), new TransactionReply { Id = "x", Outcome = TransactionOutcome.Committed }, null, window, log.Origin, log.Origin + (Stopwatch.Frequency / 1000 * ms));

    private sealed class Touching(params int[] actors) : PlannedTransaction(new TransactionRequestMessage { Actor = new("Account", "x"), Method = "Balance" })
    {
        public override ReadOnlySpan<int> Actors => actors;
    }
}
