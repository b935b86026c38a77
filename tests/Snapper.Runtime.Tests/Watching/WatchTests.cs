using System.Runtime.CompilerServices;
using Snapper.Contracts;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Xunit;

namespace Snapper.Runtime.Tests.Watching;

/// <summary>What a watch holds, for how long, and how it samples.</summary>
public sealed class WatchTests
{
    [Fact]
    public void What_is_kept_holds_no_inputs_and_no_results()
    {
        var bench = new WatchBench();
        bench.Look();
        var (input, result, request) = RunOne(bench);
        Assert.Equal(1, bench.Look().Kept);
        Collect();
        Assert.Equal((false, false, false), (input.IsAlive, result.IsAlive, request.IsAlive));
        Assert.Equal("Box/a", bench.Look().Traces[0].Root);
    }

    [Fact]
    public void When_nobody_has_looked_for_a_lease_everything_is_let_go_though_nothing_happens()
    {
        var bench = new WatchBench();
        Assert.Equal(0, bench.Time.Armed);
        bench.Look();
        var trace = KeepOne(bench);
        Collect();
        Assert.True(trace.IsAlive);

        bench.Time.Advance(WatchBench.Lease - TimeSpan.FromSeconds(1));
        Assert.Equal(1, bench.Look().Kept);
        bench.Time.Advance(2 * WatchBench.Lease);
        Collect();
        Assert.False(trace.IsAlive);
        Assert.Equal(0, bench.Time.Armed);
    }

    [Fact]
    public void Who_looks_again_after_a_lease_begins_anew()
    {
        var bench = new WatchBench();
        bench.Look();
        bench.Run(2000);
        var before = bench.Look();
        Assert.True(before.Kept > 0 && before.SampledOneIn > 1);
        bench.Time.Advance(WatchBench.Lease + TimeSpan.FromTicks(1));
        var after = bench.Look();
        Assert.Equal((0, 0, 1), (after.Kept, after.Dropped, after.SampledOneIn));
        Assert.True(after.WatchedSinceAtMs > before.WatchedSinceAtMs);
        Assert.Empty(bench.Watch.Hot(10).Actors);
    }

    [Fact]
    public void After_a_burst_all_of_few_are_sampled_again_within_seconds_aborted_ones_too()
    {
        var bench = new WatchBench();
        bench.Look();
        bench.Run(200_000);
        Assert.True(bench.Look().SampledOneIn >= 256, $"one in {bench.Look().SampledOneIn} of 200,000 in a second");
        for (var second = 0; second < 5; second++)
        {
            bench.Time.Advance(TimeSpan.FromSeconds(1));
            bench.Run(1);
        }

        for (var i = 0; i < 3; i++)
        {
            bench.End(bench.Begin(), Outcome.Aborted);
        }

        Assert.Equal(3, bench.Watch.Traces(WatchBench.All with { Outcome = "aborted" }).Traces.Count);
    }

    [Fact]
    public void A_question_after_a_burst_tells_the_rate_of_now()
    {
        var bench = new WatchBench();
        bench.Look();
        bench.Run(100_000);
        Assert.True(bench.Look().SampledOneIn > 64);
        bench.Time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(1, bench.Look().SampledOneIn);
    }

    [Fact]
    public void Under_a_steady_load_the_sample_stays_near_its_size()
    {
        var bench = new WatchBench();
        bench.Look();
        var sampled = 0;
        for (var second = 0; second < 12; second++)
        {
            for (var i = 0; i < 5000; i++)
            {
                var attempt = bench.Begin();
                sampled += attempt.Trace is not null && second >= 2 ? 1 : 0;
                bench.End(attempt);
            }

            bench.Time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.InRange(sampled / 10, 25, 250);
    }

    [Fact]
    public void Waiting_counts_from_the_arrival_on_and_for_all_that_the_sample_stands_for()
    {
        var bench = new WatchBench();
        bench.Look();
        bench.Run(10_000, waited: TimeSpan.FromMilliseconds(250));
        var hot = Assert.Single(bench.Watch.Hot(10).Actors);
        Assert.InRange(hot.Transactions, 2500, 40_000);
        Assert.InRange(hot.WaitingMs / hot.Transactions, 249, 251);
    }

    [Fact]
    public void Hot_actors_are_those_of_the_last_minute_in_all_their_numbers()
    {
        var bench = new WatchBench();
        bench.Look();
        bench.Run(10, waited: TimeSpan.FromSeconds(3));
        for (var i = 0; i < 61; i++)
        {
            bench.Time.Advance(TimeSpan.FromSeconds(1));
            bench.Look();
        }

        bench.Run(2, waited: TimeSpan.FromSeconds(1));
        var hot = Assert.Single(bench.Watch.Hot(10).Actors);
        Assert.Equal((2, 2000.0, 2), (hot.Transactions, hot.WaitingMs, hot.PerSecond.Sum()));
    }

    [Fact]
    public void What_ends_while_it_waits_has_waited()
    {
        var bench = new WatchBench();
        bench.Look();
        var attempt = bench.Begin();
        attempt.Trace!.Asked(new("Box", "b"), "Run", 0);
        bench.Time.Advance(TimeSpan.FromSeconds(2));
        bench.End(attempt, Outcome.Aborted);
        Assert.Equal(2000, bench.Look().Traces[0].Calls[1].WaitedMs);
    }

    [Fact]
    public void What_is_exported_is_not_counted_twice()
    {
        var observer = new Exporter();
        var bench = new WatchBench(observer);
        bench.Run(10);
        Assert.Equal(10, observer.Traced);
        bench.Look();
        bench.Run(10_000);
        Assert.Equal(10_010, observer.Traced);
        Assert.InRange(bench.Watch.Hot(1).Actors[0].Transactions, 2500, 40_000);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference Input, WeakReference Result, WeakReference Request) RunOne(WatchBench bench)
    {
        var input = new byte[100_000];
        var result = new byte[100_000];
        var attempt = bench.Begin(input: input);
        attempt.Request.Result = result;
        bench.End(attempt);
        return (new(input), new(result), new(attempt.Request));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference KeepOne(WatchBench bench)
    {
        var attempt = bench.Begin();
        bench.End(attempt);
        return new(attempt.Trace);
    }

    private static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    private sealed class Exporter : ITransactionObserver
    {
        private int _traced;

        public int Traced => _traced;

        public bool Wants(string requestId, string? traceParent) => true;

        void ITransactionObserver.Traced(TraceView trace, string? traceParent, string? traceState) => _traced++;

        public void Ended(bool pact, string? reason, TimeSpan duration)
        {
        }
    }
}
