using System.Text;
using Purses;
using Snapper.Protocol.Identity;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.OwnActors;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Tests.OwnActors;

/// <summary>
/// An application's own actors while its workers are updated one by one from a form of states to the next.
/// </summary>
public sealed class UpdateSimulatorTests
{
    [Fact]
    public void States_with_versions_are_kept_while_old_and_new_workers_are_side_by_side()
    {
        var totals = UpdateSimulator.Check(static () => new Savers(PurseActorDescriptor.Instance), seeds: 30);

        Assert.Equal(30, totals.Runs);
        Assert.True(totals.Committed > 700, $"Only {totals.Committed} transactions were committed.");
        Assert.True(totals.Aborted > 0, "No transaction met a newer state.");
        Assert.All(
            [
                ClusterFaultKind.RollingRestart, ClusterFaultKind.WorkerLost, ClusterFaultKind.WorkerCrash,
                ClusterFaultKind.ActorsMoved, ClusterFaultKind.PartitionsMoved, ClusterFaultKind.WorkerDrained,
            ],
            kind => Assert.True(totals.Happened[kind] > 0, $"{kind} never happened."));
    }

    [Fact]
    public void A_state_of_a_newer_program_that_an_older_one_writes_over_is_found()
    {
        static Savers Workload() => new(NumberlessPurseActorDescriptor.Instance);
        var failure = Assert.Throws<UpdateFailedException>(static () => UpdateSimulator.Check(Workload));

        Assert.Contains("A state of the newer program was overwritten", failure.Message, StringComparison.Ordinal);
        Assert.Contains("has lost changes by a change by w", failure.Message, StringComparison.Ordinal);

        // Its text runs it again.
        var small = UpdateSimulator.Run(Workload, failure.Result.Scenario.ToString());
        Assert.Contains($"\"{failure.Result.Scenario}\"", failure.Message, StringComparison.Ordinal);
        Assert.Equal((failure.Result.Digest, failure.Result.Steps), (small.Digest, small.Steps));
        Assert.Equal(failure.Result.Violations, small.Violations);
    }

    [Fact]
    public void A_step_that_loses_what_was_stored_is_found_by_the_judge()
    {
        var failure = Assert.Throws<UpdateFailedException>(
            static () => UpdateSimulator.Check(static () => new Savers(ForgetfulPurseActorDescriptor.Instance)));

        Assert.Contains("The purses have ", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Nothing_is_updated_without_a_program_of_before() => Assert.Throws<ArgumentException>(
        static () => UpdateSimulator.Run(static () => new Savers(PurseActorDescriptor.Instance, hasBefore: false), 1));

    [Theory]
    [InlineData("""{"$stateVersion":2,"a":1}""", """{"a":1}""", "A state of version 2 was overwritten")]
    [InlineData("""{"a":1,"b":null}""", """{"a":2}""", "has lost b by")]
    [InlineData("""{"a":1}""", """{"a":2,"b":3}""", null)]
    [InlineData("""{"a":1}""", """{"$stateVersion":2,"b":3}""", null)]
    [InlineData("[1,2]", "[1]", null)]
    public void Two_forms_of_a_state_are_compared(string ofNewer, string ofOlder, string? expected)
    {
        var violations = new List<string>();
        var rules = new ProgramRules(violations.Add, static worker => worker == 2);
        rules.Changed(2, Change(1, ofNewer));
        rules.Changed(1, Change(2, ofOlder));

        Assert.Equal(expected is null ? 0 : 1, violations.Count);
        Assert.All(violations, violation => Assert.Contains(expected!, violation, StringComparison.Ordinal));

        // The newer program may drop what it does not need.
        violations.Clear();
        rules.Changed(2, Change(3, """{"$stateVersion":2}"""));
        Assert.Empty(violations);
    }

    private static ActorChange Change(long version, string json) =>
        new(new ActorKey("Purse", "p"), version, [new StateField("state", Encoding.UTF8.GetBytes(json))]);
}
