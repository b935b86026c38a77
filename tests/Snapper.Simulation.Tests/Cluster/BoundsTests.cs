using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Runtime.Execution;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Core;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;

namespace Snapper.Simulation.Tests.Cluster;

/// <summary>Faults of several workers are drawn by the product's own bounds of time.</summary>
public sealed class BoundsTests
{
    [Fact]
    public void What_workers_are_given_and_what_is_named_in_the_code_is_among_the_bounds()
    {
        var scenario = ClusterScenario.Draw(1) with { LeaseMs = 1234, PatienceMs = 777, WindowMs = 66_000, AnswerMs = 432 };
        var bounds = Bounds.Of(scenario).ToDictionary(static bound => bound.Name, static bound => bound.Ms);
        Assert.Equal(1234, bounds[$"{nameof(ClusterOptions)}.{nameof(ClusterOptions.Lease)}"]);
        Assert.Equal(66_000, bounds[$"{nameof(WorkerOptions)}.{nameof(WorkerOptions.IdempotencyWindow)}"]);
        Assert.Equal(432, bounds[$"{nameof(MailboxOptions)}.{nameof(MailboxOptions.AnswerTimeout)}"]);
        Assert.Equal(1000, bounds[$"{nameof(LogWriterOptions)}.{nameof(LogWriterOptions.RetryDelayMax)}"]);
        Assert.Equal(5000, bounds["MigrationRun.Bound"]);
        Assert.Equal(50, bounds[$"{nameof(WorkerOptions)}.{nameof(WorkerOptions.LongWait)}"]);
        Assert.Contains(bounds, static bound => bound.Key.EndsWith($".{nameof(ClusterSetup.Patience)}", StringComparison.Ordinal) && bound.Value == 777);
        Assert.Contains("InDoubtResolver.s_answer", bounds.Keys);
    }

    /// <summary>
    /// Ten times the longest is run through, renewal by renewal of each lease: days of it would not come to an end.
    /// What only says which numbers are plausible is no time that anything lasts, and is not to be a TimeSpan.
    /// </summary>
    [Fact]
    public void No_bound_is_so_long_that_a_run_would_not_come_to_its_end()
    {
        var tooLong = Bounds.Of(ClusterScenario.Draw(1)).Where(static bound => bound.Ms > 3_600_000);
        Assert.Equal([], tooLong.Select(static bound => $"{bound.Name} {bound.Ms} ms"));
    }

    [Fact]
    public void A_length_is_half_once_twice_or_ten_times_a_bound()
    {
        var chance = SeededChance.For(7, ChanceOf.LongTimes);
        Bound[] bounds = [new("one", 1000), new("other", 60_000)];
        var times = Enumerable.Range(0, 400).Select(_ => (int)Math.Round(Bounds.DrawMs(bounds, chance, mostMs: 1000) / 1000.0 * 2)).ToHashSet();
        Assert.Superset(new HashSet<int> { 1, 2, 4, 20 }, times);
        Assert.True(Enumerable.Range(0, 100).Max(_ => Bounds.DrawMs(bounds, chance)) > 540_000);
    }

    [Fact]
    public void Some_runs_last_for_long_and_others_are_as_short_as_ever()
    {
        var drawn = Enumerable.Range(1, 1000).Select(static seed => ClusterScenario.Draw((ulong)seed)).ToList();
        Assert.InRange(drawn.Count(static scenario => scenario.Paced != 0), 50, 200);
        Assert.Contains(drawn, static scenario => scenario.Faults.Any(static fault => fault is { Kind: ClusterFaultKind.StoreDown, ForMs: > 50_000 }));
        Assert.Contains(drawn, static scenario => scenario.Faults.Any(static fault => fault is { Kind: ClusterFaultKind.NetworkCutOneWay, ForMs: > 10_000 }));
        Assert.Contains(drawn, static scenario => scenario.Load.Transactions > 2000);
        Assert.Contains(drawn, static scenario => scenario.AloneMs > 0);
    }

    [Theory]
    [InlineData("seed=1 workers=3 window=59000", "60000 to")]
    [InlineData("seed=1 workers=3 paced=2", "0 to 1")]
    public void What_a_text_says_of_times_is_looked_at(string text, string expected) =>
        Assert.Contains(expected, Assert.Throws<FormatException>(() => ClusterScenario.Parse(text)).Message, StringComparison.Ordinal);
}

/// <summary>What operators meet beside crashes and cuts, one kind a run.</summary>
public sealed class OddityTests
{
    /// <summary>A worker is silent and keeps its lease: it is evicted (MutationTests).</summary>
    internal const string Silent = Quiet + "paced=1 strikes=WorkerSilent@300/2/30000/0";

    private const string Moves = "ActorsMoved@100/1/60/9+ActorsMoved@120/2/60/500";

    private const string Quiet =
        "workers=3 seed=105 clients=4 each=20 actors=6 requests=0 delay=0 rare=none lease=400 network=0 store=0 die=0 "
        + "window=60000 patience=1000 alone=0 forget=0 unmastered=0 failover=0 ";

    [Theory]
    [InlineData("paced=0 strikes=ClockStepped@200/1/3600000/0+ClockStepped@250/2/3600000/1", ClusterFaultKind.ClockStepped)]
    [InlineData("paced=0 strikes=ClockDrifts@100/2/1/100", ClusterFaultKind.ClockDrifts)]
    [InlineData("paced=0 strikes=StoreClockStepped@200/1/3600000/0+StoreClockStepped@500/1/7200000/1", ClusterFaultKind.StoreClockStepped)]
    [InlineData("paced=0 strikes=RollingRestart@150/1/20/0", ClusterFaultKind.RollingRestart)]
    [InlineData("paced=1 strikes=StoreSaysLost@200/1/100/0", ClusterFaultKind.StoreSaysLost)]
    [InlineData("paced=1 strikes=StoreSaysStale@200/2/100/0", ClusterFaultKind.StoreSaysStale)]
    [InlineData("paced=1 strikes=NetworkCut@200/1/90000/0", ClusterFaultKind.NetworkCut)]
    [InlineData("paced=1 strikes=StoreDown@300/1/60000/0", ClusterFaultKind.StoreDown)]
    [InlineData("paced=0 forget=100 strikes=" + Moves, ClusterFaultKind.PlanForgotten)]
    [InlineData("paced=0 unmastered=200 strikes=", ClusterFaultKind.MasterForgotten)]
    [InlineData("paced=0 failover=200 former=900 strikes=", ClusterFaultKind.StoreFailsOver)]
    public void It_happens_and_the_run_comes_to_its_end(string text, ClusterFaultKind kind)
    {
        var result = ClusterSimulator.Run(ClusterScenario.Parse(Quiet + text));
        Assert.True(result.Violations.Count == 0, string.Join('\n', result.Violations));
        Assert.True(result.Happened[kind] > 0, $"{kind} did not happen.");
        Assert.True(result.Committed > 20, $"Only {result.Committed} transactions were committed.");
    }

    [Fact]
    public void A_worker_that_is_silent_and_keeps_its_lease_breaks_nothing()
    {
        var result = ClusterSimulator.Run(ClusterScenario.Parse(Silent));
        Assert.True(result.Violations.Count == 0, string.Join('\n', result.Violations));
    }

    /// <summary>Without ids that are sent again later: what becomes of those is looked at by the seeds.</summary>
    [Fact]
    public void One_worker_alone_becomes_several_on_what_it_has_stored()
    {
        var result = ClusterSimulator.Run(ClusterScenario.Parse(Quiet.Replace("alone=0", "alone=300 keyed=0", StringComparison.Ordinal) + "paced=0 strikes="));
        Assert.True(result.Violations.Count == 0, string.Join('\n', result.Violations));
        Assert.Equal(1, result.Happened[ClusterFaultKind.OneBecameSeveral]);
        Assert.True(result.Committed > 20, $"Only {result.Committed} transactions were committed.");
    }
}
