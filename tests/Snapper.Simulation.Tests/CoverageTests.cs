using Snapper.Protocol;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Tests;

/// <summary>What a run counts, and that a long one in which something never happened does not pass for a verification
/// of it.</summary>
public sealed class CoverageTests
{
    [Fact]
    public void A_long_run_in_which_a_transition_never_happened_names_it()
    {
        var coverage = RunsOf(Everything(but: Transition.ActorEvicted), Coverage.LongRun);
        Assert.Equal(["Transition.ActorEvicted"], coverage.Missing);
    }

    [Fact]
    public void A_long_run_in_which_a_fault_or_a_scheduling_choice_never_happened_names_it()
    {
        var one = Everything();
        one.Faults.Counts[(int)FaultKind.TwoOwners] = 0;
        one.SchedulingChoices.Counts[(int)SchedulingChoice.GroupOfOne] = 0;
        Assert.Equal(["FaultKind.TwoOwners", "SchedulingChoice.GroupOfOne"], RunsOf(one, Coverage.LongRun).Missing);
    }

    [Fact]
    public void A_scarce_transition_may_be_missing_in_a_long_run_but_not_in_a_very_long_one()
    {
        var coverage = RunsOf(Everything(but: Transition.RemovedAtPlacing), Coverage.VeryLongRun - 1);
        Assert.Empty(coverage.Missing);
        coverage.Add(Everything(but: Transition.RemovedAtPlacing));
        Assert.Equal(["Transition.RemovedAtPlacing"], coverage.Missing);
    }

    [Fact]
    public void A_short_run_need_not_show_everything() =>
        Assert.Empty(RunsOf(Everything(but: Transition.ActorEvicted), Coverage.LongRun - 1).Missing);

    [Fact]
    public void The_same_seed_counts_the_same()
    {
        for (ulong seed = 300; seed < 310; seed++)
        {
            var one = Simulator.Run(seed);
            var two = Simulator.Run(seed);
            Assert.Equal(one.SchedulingChoices.Counts, two.SchedulingChoices.Counts);
            Assert.Equal(one.Digest, two.Digest);
        }
    }

    [Fact]
    public void A_scenario_without_scheduling_choices_has_none()
    {
        var scenario = Scenario.Draw(1) with { SchedulingChoices = [] };
        Assert.All(Simulator.Run(scenario).SchedulingChoices.Counts, count => Assert.Equal(0, count));
    }

    [Fact]
    public void A_choice_is_the_same_whatever_other_choices_there_are()
    {
        var alone = Choices(Scenario.Draw(5) with { SchedulingChoices = [SchedulingChoice.FlushHeld] });
        var beside = Choices(
            Scenario.Draw(5) with { SchedulingChoices = [SchedulingChoice.GroupOfOne, SchedulingChoice.FlushHeld] });
        Assert.Equal(alone, beside);
        Assert.Contains(true, alone);
        Assert.Contains(false, alone);
    }

    private static List<bool> Choices(Scenario scenario)
    {
        var happened = new Tally<SchedulingChoice>();
        var chance = new RareChance(scenario, happened);
        var choices = new List<bool>();
        for (var i = 0; i < 1000; i++)
        {
            chance.Takes(SchedulingChoice.GroupOfOne);
            choices.Add(chance.Takes(SchedulingChoice.FlushHeld));
        }

        Assert.Equal(choices.Count(static choice => choice), happened[SchedulingChoice.FlushHeld]);
        return choices;
    }

    private static Coverage RunsOf(SimulationResult each, int runs)
    {
        var coverage = new Coverage { CountsTransitions = true };
        for (var i = 0; i < runs; i++)
        {
            coverage.Add(each);
        }

        return coverage;
    }

    private static SimulationResult Everything(Transition? but = null)
    {
        var result = new SimulationResult
        {
            Scenario = Scenario.Draw(1),
            Violations = [],
            Committed = 0,
            Aborted = 0,
            Unknown = 0,
            Faults = new Tally<FaultKind>(),
            Transitions = new Tally<Transition>(),
            SchedulingChoices = new Tally<SchedulingChoice>(),
            Steps = 0,
            VirtualTime = TimeSpan.Zero,
            Digest = 0,
        };
        Array.Fill(result.Faults.Counts, 1);
        Array.Fill(result.Transitions.Counts, 1);
        Array.Fill(result.SchedulingChoices.Counts, 1);
        if (but is { } silent)
        {
            result.Transitions.Counts[(int)silent] = 0;
        }

        return result;
    }
}
