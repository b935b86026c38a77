using Snapper.Protocol;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Tests;

public sealed class ScenarioTests
{
    [Fact]
    public void A_drawn_scenario_is_its_seed() => Assert.Equal("seed=77", Scenario.Draw(77).ToString());

    [Fact]
    public void A_changed_scenario_is_read_back_as_it_was()
    {
        var changed = Scenario.Draw(77) with
        {
            Clients = 3,
            Actors = 1,
            StorageFaultPerMille = 999,
            SweepMs = 7777,
            StateBytes = 77,
            SchedulingChoices = [SchedulingChoice.FlushHeld, SchedulingChoice.BatchOfOne],
            PlannedFaults = [new PlannedFault(5, FaultKind.WorkerCrash, 100), new PlannedFault(9, FaultKind.TwoOwners, 1)],
        };
        var read = Scenario.Parse(changed.ToString());
        Assert.Equal(changed with { PlannedFaults = [], SchedulingChoices = [] }, read with { PlannedFaults = [], SchedulingChoices = [] });
        Assert.Equal(changed.PlannedFaults, read.PlannedFaults);
        Assert.Equal(changed.SchedulingChoices, read.SchedulingChoices);
    }

    [Fact]
    public void Scheduling_choices_that_were_taken_out_stay_out()
    {
        var drawn = Enumerable.Range(0, 100).Select(seed => Scenario.Draw((ulong)seed)).First(scenario => scenario.SchedulingChoices.Count > 1);
        Assert.Empty(Scenario.Parse((drawn with { SchedulingChoices = [] }).ToString()).SchedulingChoices);
    }

    [Theory]
    [InlineData("", "begins with seed=NUMBER")]
    [InlineData("clients=3", "begins with seed=NUMBER, not 'clients=3'")]
    [InlineData("seed=1 clients=many", "'clients=many' should have a number")]
    [InlineData("seed=1 colour=3", "has no 'colour'")]
    [InlineData("seed=1 faults=Earthquake@1/2", "'Earthquake@1/2'")]
    [InlineData("seed=1 rare=FlushHeld+Eclipse", "no scheduling choice 'Eclipse'")]
    [InlineData("seed=1 faults=0@1/2", "no fault '0' that has a time, as in '0@1/2'; there are: WorkerCrash, ")]
    [InlineData("seed=1 faults=RequestLost@1/2", "no fault 'RequestLost' that has a time")]
    [InlineData("seed=1 faults=WorkerCrash@1", "KIND@MS/MS, not 'WorkerCrash@1'")]
    [InlineData("seed=18446744073709551616", "a seed is 0 to 18446744073709551615")]
    [InlineData("seed=1 rare=7", "no scheduling choice '7'")]
    public void A_wrong_text_is_refused_with_what_is_wrong(string text, string message) =>
        Assert.Contains(message, Assert.Throws<FormatException>(() => Scenario.Parse(text)).Message, StringComparison.Ordinal);

    [Fact]
    public void The_product_as_built_has_no_mutations()
    {
        Assert.Empty(Simulator.Mutations);
        Assert.Empty(Snapper.Simulation.Cluster.ClusterSimulator.Mutations);
        Assert.Throws<InvalidOperationException>(() => Simulator.Select("NoFence"));
    }

    /// <summary>What a failing run prints must be read again, whatever was drawn.</summary>
    [Fact]
    public void Every_drawn_fault_can_be_written_and_read()
    {
        for (ulong seed = 1; seed <= 2_000; seed++)
        {
            var drawn = Scenario.Draw(seed);
            var shrunk = drawn with { PlannedFaults = [.. drawn.PlannedFaults.Skip(1)] };
            Assert.Equal(shrunk.PlannedFaults, Scenario.Parse(shrunk.ToString()).PlannedFaults);
        }
    }
}
