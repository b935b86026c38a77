using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Tests;

/// <summary>The whole worker under a seed, and what makes such runs worth something: that they repeat, and that the faults happen.</summary>
public sealed class SimulationTests
{
    [Fact]
    public void The_same_seed_gives_the_same_run_byte_for_byte()
    {
        for (ulong seed = 1; seed <= 25; seed++)
        {
            var one = Simulator.Run(seed);
            var two = RunElsewhere(seed);
            Assert.Equal((one.Digest, one.Steps, one.VirtualTime), (two.Digest, two.Steps, two.VirtualTime));
        }
    }

    [Fact]
    public void Other_seeds_give_other_runs() =>
        Assert.Equal(25, Enumerable.Range(1, 25).Select(seed => Simulator.Run((ulong)seed).Digest).Distinct().Count());

    [Fact]
    public void No_seed_shows_a_violation_and_every_fault_happens()
    {
        var faults = new Tally<FaultKind>();
        var committed = 0;
        for (ulong seed = 10_000; seed < 10_500; seed++)
        {
            var result = Simulator.Run(seed);
            Assert.True(result.Violations.Count == 0, $"./snapper verify --scenario \"{result.Scenario}\"\n{string.Join('\n', result.Violations)}");
            faults.Add(result.Faults);
            committed += result.Committed;
        }

        Assert.True(committed > 30_000, $"Only {committed} transactions were committed.");
        Assert.All(Enum.GetValues<FaultKind>(), kind => Assert.True(faults[kind] > 0, $"{kind} never happened."));
    }

    /// <summary>A scenario that once failed never does again; the file only grows.</summary>
    [Fact]
    public void What_failed_once_does_not_fail_again()
    {
        Assert.All(FailedOnce(), line => Assert.Empty(Simulator.Run(Scenario.Parse(line)).Violations));
    }

    [Fact]
    public void The_documentation_tells_what_each_of_them_was()
    {
        var page = File.ReadAllText(Path.Combine(RepositoryFolder.Path, "docs", "verification.md"));
        var begin = page.IndexOf("\n## What it found\n", StringComparison.Ordinal);
        Assert.True(begin >= 0, "The page has no section 'What it found'.");
        var section = page[begin..page.IndexOf("\n## ", begin + 1, StringComparison.Ordinal)];
        var told = section.Split('\n')
            .Where(row => row.StartsWith("| seed", StringComparison.Ordinal))
            .SelectMany(row => Regex.Matches(row.Split('|')[1], "[0-9]{2,}"))
            .Select(match => ulong.Parse(match.Value, CultureInfo.InvariantCulture))
            .ToHashSet();
        var missing = FailedOnce().Select(line => Scenario.Parse(line).Seed).Where(seed => !told.Contains(seed)).Distinct();
        Assert.True(!missing.Any(), $"docs/verification.md does not tell what was found by the seeds {string.Join(", ", missing)}.");
    }

    private static List<string> FailedOnce()
    {
        var lines = File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "failed-once.txt")).Where(line => line.Length > 0 && line[0] != '#').ToList();
        Assert.NotEmpty(lines);
        return lines;
    }

    private static SimulationResult RunElsewhere(ulong seed)
    {
        SimulationResult? result = null;
        var thread = new Thread(() => result = Simulator.Run(seed));
        thread.Start();
        thread.Join();
        return result!;
    }
}
