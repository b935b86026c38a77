namespace Snapper.Simulation.Running;

/// <summary>
/// Makes a failing scenario smaller as long as it fails: fewer faults, clients, transactions, actors, steps, and gentler rates. What is left is what a person
/// has to look at.
/// </summary>
public static class Shrinker
{
    /// <summary>Shrinks.</summary>
    /// <param name="scenario">One that fails.</param>
    /// <param name="runs">Most runs to try.</param>
    /// <param name="enough">Ends the search early; what was found until then is the result.</param>
    /// <returns>The smallest one found that fails, with its result.</returns>
    public static SimulationResult Shrink(Scenario scenario, int runs, CancellationToken enough = default) =>
        Shrink(Simulator.Run(scenario), runs, Simulator.Run, hasScripts: true, enough);

    /// <summary>Shrinks what somebody else can run.</summary>
    /// <param name="failing">A run that fails.</param>
    /// <param name="runs">Most runs to try.</param>
    /// <param name="run">Runs a scenario.</param>
    /// <param name="hasScripts">False: what a scenario says of scripts does not matter to it.</param>
    /// <param name="enough">Ends the search early.</param>
    internal static SimulationResult Shrink(
        SimulationResult failing, int runs, Func<Scenario, SimulationResult> run, bool hasScripts, CancellationToken enough = default) =>
        Search(failing, runs, scenario => Smaller(scenario, hasScripts), run, static result => result.Violations.Count > 0, enough);

    /// <summary>Looks for a smaller run.</summary>
    /// <param name="failing">A run that fails.</param>
    /// <param name="runs">Most runs to try.</param>
    /// <param name="smaller">What to try next, the largest cuts first.</param>
    /// <param name="run">Runs a scenario.</param>
    /// <param name="fails">It still fails, in the same way.</param>
    /// <param name="enough">Ends the search early.</param>
    internal static TResult Search<TScenario, TResult>(
        TResult failing, int runs, Func<TScenario, IEnumerable<TScenario>> smaller, Func<TScenario, TResult> run, Predicate<TResult> fails, CancellationToken enough)
        where TResult : RunResult<TScenario>
    {
        var smallest = failing;
        for (var again = true; again && runs > 0;)
        {
            again = false;
            foreach (var scenario in smaller(smallest.Scenario))
            {
                if (runs-- <= 0 || enough.IsCancellationRequested)
                {
                    break;
                }

                var result = run(scenario);
                if (fails(result))
                {
                    smallest = result;
                    again = true;
                    break; // begin with the largest cuts again
                }
            }
        }

        return smallest;
    }

    internal static IEnumerable<Scenario> Smaller(Scenario s, bool hasScripts)
    {
        if (s.PlannedFaults.Count > 0)
        {
            yield return s with { PlannedFaults = [] };
            for (var i = 0; i < s.PlannedFaults.Count && s.PlannedFaults.Count > 1; i++)
            {
                yield return s with { PlannedFaults = [.. s.PlannedFaults.Where((_, at) => at != i)] };
            }
        }

        if (s.SchedulingChoices.Count > 0)
        {
            yield return s with { SchedulingChoices = [] };
            for (var i = 0; i < s.SchedulingChoices.Count && s.SchedulingChoices.Count > 1; i++)
            {
                yield return s with { SchedulingChoices = [.. s.SchedulingChoices.Where((_, at) => at != i)] };
            }
        }

        foreach (var clients in Less(s.Clients, 1))
        {
            yield return s with { Clients = clients };
        }

        foreach (var each in Less(s.TransactionsPerClient, 1))
        {
            yield return s with { TransactionsPerClient = each };
        }

        foreach (var simpler in hasScripts ? OfScripts(s) : [])
        {
            yield return simpler;
        }

        foreach (var rate in Less(s.RequestFaultPerMille, 0))
        {
            yield return s with { RequestFaultPerMille = rate };
        }

        foreach (var rate in Less(s.StorageFaultPerMille, 0))
        {
            yield return s with { StorageFaultPerMille = rate };
        }

        if (s.StateBytes > 0)
        {
            yield return s with { StateBytes = 0 };
        }

        if (s.Numbers > 0)
        {
            yield return s with { Numbers = 0 };
        }

        if (s.OffsetMs > 0)
        {
            yield return s with { OffsetMs = 0 };
        }

        if (s.Room > 0)
        {
            yield return s with { Room = 0 };
        }

        if (s.Callers > 0)
        {
            yield return s with { Callers = 0 };
        }

        if (s.SweepMs > 0)
        {
            yield return s with { SweepMs = 0 };
        }

        if (s.Files > 0)
        {
            yield return s with { Files = 0 };
        }

        if (s.Remembers > 0)
        {
            yield return s with { Remembers = 0 };
        }

        foreach (var percent in Less(s.SteppedPercent, 0))
        {
            yield return s with { SteppedPercent = percent };
        }

        foreach (var executors in Less(s.Executors, 1))
        {
            yield return s with { Executors = executors };
        }

        foreach (var coordinators in Less(s.Coordinators, 1))
        {
            yield return s with { Coordinators = coordinators };
        }
    }

    private static IEnumerable<Scenario> OfScripts(Scenario s)
    {
        foreach (var actors in Less(s.Actors, 1))
        {
            yield return s with { Actors = actors };
        }

        foreach (var steps in Less(s.Steps, 1))
        {
            yield return s with { Steps = steps };
        }

        foreach (var percent in Less(s.DecidesPercent, 0))
        {
            yield return s with { DecidesPercent = percent };
        }

        foreach (var percent in Less(s.UnrulyPercent, 0))
        {
            yield return s with { UnrulyPercent = percent };
        }

        foreach (var percent in Less(s.AbortPercent, 0))
        {
            yield return s with { AbortPercent = percent };
        }

        foreach (var percent in Less(s.MisdeclaredPercent, 0))
        {
            yield return s with { MisdeclaredPercent = percent };
        }

        foreach (var percent in Less(s.DelayPercent, 0))
        {
            yield return s with { DelayPercent = percent };
        }
    }

    /// <summary>The least, the half, one less.</summary>
    internal static IEnumerable<int> Less(int value, int least)
    {
        if (value > least)
        {
            yield return least;
        }

        if ((value + least) / 2 > least && (value + least) / 2 < value - 1)
        {
            yield return (value + least) / 2;
        }

        if (value - 1 > least)
        {
            yield return value - 1;
        }
    }
}
