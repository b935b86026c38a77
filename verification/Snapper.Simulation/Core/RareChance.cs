using Snapper.Protocol;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Core;

/// <summary>
/// The seed's scheduling policy. Each choice has chance of its own, so that one that is taken out of a scenario does not change what the others do, and is
/// frequent in some runs and rare in others: a window may open only where one point happens often and another does not.
/// </summary>
internal sealed class RareChance : ISchedulingPolicy
{
    private readonly Tally<SchedulingChoice> _happened;
    private readonly SeededChance?[] _chances = new SeededChance?[Tally<SchedulingChoice>.Kinds.Count];
    private readonly int[] _percents = new int[Tally<SchedulingChoice>.Kinds.Count];

    public RareChance(Scenario scenario, Tally<SchedulingChoice> happened)
    {
        _happened = happened;
        foreach (var point in scenario.SchedulingChoices)
        {
            var chance = SeededChance.For(scenario.Seed, ChanceOf.SchedulingChoice, (uint)point);
            _percents[(int)point] = chance.Percent(80) ? chance.Between(1, 30) : chance.Between(30, 80);
            _chances[(int)point] = chance;
        }
    }

    /// <summary>Nothing rare happens any more.</summary>
    public void End() => Array.Clear(_chances);

    public bool Takes(SchedulingChoice point)
    {
        if (_chances[(int)point] is not { } chance || !chance.Percent(_percents[(int)point]))
        {
            return false;
        }

        _happened.Note(point);
        return true;
    }
}
