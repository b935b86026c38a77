using Snapper.Simulation.Cluster;

namespace Snapper.Simulation.Tests.Cluster;

/// <summary>Several whole workers under a seed.</summary>
public sealed class ClusterSimulationTests
{
    [Fact]
    public void The_same_seed_gives_the_same_run_byte_for_byte()
    {
        for (ulong seed = 1; seed <= 6; seed++)
        {
            var one = ClusterSimulator.Run(seed);
            var two = RunElsewhere(seed);
            Assert.Equal((one.Digest, one.Steps, one.VirtualTime), (two.Digest, two.Steps, two.VirtualTime));
        }
    }

    [Fact]
    public void Other_seeds_give_other_runs() =>
        Assert.Equal(10, Enumerable.Range(1, 10).Select(seed => ClusterSimulator.Run((ulong)seed).Digest).Distinct().Count());

    [Fact]
    public void What_a_scenario_says_of_itself_is_read_as_the_same_scenario()
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            var drawn = ClusterScenario.Draw(seed);
            Assert.Equal(drawn.ToString(), ClusterScenario.Parse(drawn.ToString()).ToString());
            var smaller = drawn with { LeaseMs = 150, NetworkFaultPerMille = 3, Faults = [new PlannedClusterFault(30, ClusterFaultKind.WorkerLost, 1, 500, 7)] };
            var read = ClusterScenario.Parse(smaller.ToString());
            Assert.Equal((150, 3), (read.LeaseMs, read.NetworkFaultPerMille));
            Assert.Equal(smaller.Faults, read.Faults);
        }
    }

    [Theory]
    [InlineData("seed=1 workers=0", "1 to 8")]
    [InlineData("seed=1 workers=two", "number")]
    [InlineData("seed=1 workers=2 strikes=WorkerCrash@3", "KIND@MS/WORKER/MS/DETAIL")]
    [InlineData("seed=1 workers=2 strikes=Nothing@3/1/1/1", "There is no strike 'Nothing'")]
    [InlineData("workers=2", "seed=NUMBER")]
    public void A_scenario_that_makes_no_sense_is_refused_with_a_reason(string text, string expected) =>
        Assert.Contains(expected, Assert.Throws<FormatException>(() => ClusterScenario.Parse(text)).Message, StringComparison.Ordinal);

    [Fact]
    public void No_seed_shows_a_violation()
    {
        var committed = 0;
        for (ulong seed = 10_000; seed < 10_150; seed++)
        {
            var result = ClusterSimulator.Run(seed);
            Assert.True(result.Violations.Count == 0, $"./snapper verify --scenario \"{result.Scenario}\"\n{string.Join('\n', result.Violations)}");
            committed += result.Committed;
        }

        Assert.True(committed > 5_000, $"Only {committed} transactions were committed.");
    }

    /// <summary>A scenario that once failed never does again; the file only grows.</summary>
    [Fact]
    public void What_failed_once_does_not_fail_again()
    {
        var lines = File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "failed-once-workers.txt")).Where(line => line.Length > 0 && line[0] != '#').ToList();
        Assert.NotEmpty(lines);
        Assert.All(lines, line => Assert.Empty(ClusterSimulator.Run(ClusterScenario.Parse(line)).Violations));
    }

    private static ClusterRunResult RunElsewhere(ulong seed)
    {
        ClusterRunResult? result = null;
        var thread = new Thread(() => result = ClusterSimulator.Run(seed));
        thread.Start();
        thread.Join();
        return result!;
    }
}
