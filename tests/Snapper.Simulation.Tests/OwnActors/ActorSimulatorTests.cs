using BoxOffice;
using Snapper.Simulation.Faults;
using Snapper.Simulation.OwnActors;

namespace Snapper.Simulation.Tests.OwnActors;

/// <summary>An application's own actors under the simulator, as the documentation shows it.</summary>
public sealed class ActorSimulatorTests
{
    [Fact]
    public void Actors_that_are_right_pass_while_everything_happens_to_them()
    {
        var totals = ActorSimulator.Check(() => new Sales("Show"), first: 1, seeds: 150);

        Assert.Equal(150, totals.Runs);
        Assert.True(totals.Committed > 5_000, $"Only {totals.Committed} transactions were committed.");
        Assert.True(totals.Aborted > 0 && totals.Unknown > 0, "Nothing was aborted or unknown.");
        Assert.All(
            [FaultKind.WorkerCrash, FaultKind.CrashInRecovery, FaultKind.TwoOwners, FaultKind.AnswerLost, FaultKind.MachineCrash],
            kind => Assert.True(totals.Faults[kind] > 0, $"{kind} never happened."));
    }

    [Fact]
    public void A_mistake_in_an_actor_is_found_with_a_seed_that_shows_it_again()
    {
        var failure = Assert.Throws<SimulationFailedException>(() => ActorSimulator.Check(() => new Sales("HastyShow")));

        var again = ActorSimulator.Run(() => new Sales("HastyShow"), failure.Result.Scenario.Seed);
        Assert.Contains(again.Violations, violation => violation.StartsWith("The till has ", StringComparison.Ordinal));
        Assert.Contains($"Seed {failure.Result.Scenario.Seed} shows", failure.Message, StringComparison.Ordinal);
        Assert.Contains(again.Violations[0], failure.Message, StringComparison.Ordinal);

        // The smaller one is smaller, and its text runs it again.
        var small = ActorSimulator.Run(() => new Sales("HastyShow"), failure.Result.Scenario.ToString());
        Assert.Contains($"\"{failure.Result.Scenario}\"", failure.Message, StringComparison.Ordinal);
        Assert.Equal(failure.Result.Digest, small.Digest);
        Assert.Equal(failure.Result.Violations, small.Violations);
        Assert.True(small.Scenario.Transactions < again.Scenario.Transactions, $"{small.Scenario} is not smaller.");
    }

    [Fact]
    public void The_same_seed_gives_the_same_run_and_another_one_another()
    {
        var digests = new HashSet<ulong>();
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var (one, two) = (ActorSimulator.Run(() => new Sales("Show"), seed), ActorSimulator.Run(() => new Sales("Show"), seed));
            Assert.Equal((one.Digest, one.Steps, one.VirtualTime), (two.Digest, two.Steps, two.VirtualTime));
            digests.Add(one.Digest);
        }

        Assert.Equal(20, digests.Count);
    }

    [Fact]
    public void What_no_seed_decides_is_said_to_be_so()
    {
        var run = 0;
        var failure = Assert.Throws<SimulationFailedException>(() => ActorSimulator.Check(() => new Changing(run++)));

        Assert.StartsWith("Two runs of seed 1 differ", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void An_exception_of_the_judge_counts_as_a_violation()
    {
        var result = ActorSimulator.Run(() => new Strict(), 1);

        Assert.Contains(result.Violations, violation => violation.Contains("nobody is satisfied", StringComparison.Ordinal));
    }

    [Fact]
    public void Code_that_leaves_the_thread_is_told_that_it_did()
    {
        var result = ActorSimulator.Run(() => new Leaving(), 1);

        Assert.Contains("another thread", result.Violations[0], StringComparison.Ordinal);
    }

    /// <summary>The page shows the code that these tests run, all of it.</summary>
    [Fact]
    public void The_documentation_shows_this_very_code()
    {
        var page = File.ReadAllText(Path.Combine(RepositoryFolder.Path, "docs", "verification.md"));
        var code = File.ReadAllText(Path.Combine(RepositoryFolder.Path, "tests", "Snapper.Simulation.Tests", "OwnActors", "BoxOffice.cs"));

        Assert.Contains($"```csharp\n{code}```", page, StringComparison.Ordinal);
    }
}
