using System.Text;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.OwnActors;

/// <summary>
/// Runs somebody's own actors in the simulator: the real worker in one thread under a seed, with everything that the seed does to it (crashes, two owners, a log
/// that fails or lies behind a bad road, lost and repeated requests). A run uses the calling thread alone; several may run at once on threads of their own.
/// </summary>
public static class ActorSimulator
{
    private const int RunsToShrink = 200;

    /// <summary>Runs one seed.</summary>
    /// <param name="workload">Makes a workload; called once.</param>
    /// <param name="seed">Decides everything.</param>
    public static SimulationResult Run(Func<ActorWorkload> workload, ulong seed) => Run(workload, Scenario.Draw(seed));

    /// <summary>Runs one scenario, as the message of a <see cref="SimulationFailedException"/> has it.</summary>
    /// <exception cref="FormatException">The text is no scenario; says what is wrong.</exception>
    public static SimulationResult Run(Func<ActorWorkload> workload, string scenario) => Run(workload, Scenario.Parse(scenario));

    /// <summary>Runs one scenario. Its fields about scripts (actors, steps, aborts, wrong declarations, delays) and the small limits of states do not matter.</summary>
    public static SimulationResult Run(Func<ActorWorkload> workload, Scenario scenario)
    {
        ArgumentNullException.ThrowIfNull(workload);
        ArgumentNullException.ThrowIfNull(scenario);
        return new World(scenario with { StateBytes = 0 }, workload()).Run();
    }

    /// <summary>Runs many seeds, the first of them twice. The first failure is made smaller and thrown.</summary>
    /// <param name="workload">Makes a workload; called for each run.</param>
    /// <param name="first">The first seed.</param>
    /// <param name="seeds">How many, at least 1; some hundred take seconds.</param>
    /// <returns>What they were in sum.</returns>
    /// <exception cref="SimulationFailedException">A seed shows a violation, or a run is not the same when it is repeated.</exception>
    public static ActorSimulationTotals Check(Func<ActorWorkload> workload, ulong first = 1, int seeds = 300)
    {
        ArgumentNullException.ThrowIfNull(workload);
        ArgumentOutOfRangeException.ThrowIfLessThan(seeds, 1);
        var totals = new ActorSimulationTotals();
        for (var i = 0; i < seeds; i++)
        {
            var result = Run(workload, first + (ulong)i);
            if (i == 0 || result.Violations.Count > 0)
            {
                DemandTheSame(workload, result);
            }

            if (result.Violations.Count > 0)
            {
                throw Failed(result, Shrinker.Shrink(result, RunsToShrink, scenario => Run(workload, scenario), hasScripts: false));
            }

            totals = totals.Plus(result);
        }

        return totals;
    }

    private static void DemandTheSame(Func<ActorWorkload> workload, SimulationResult result)
    {
        var again = Run(workload, result.Scenario);
        if (again.Digest != result.Digest || again.Steps != result.Steps)
        {
            throw new SimulationFailedException(
                $"Two runs of seed {result.Scenario.Seed} differ: something decides what happens that the seed does not. Look for clocks, Random, Guid.NewGuid, " +
                $"Task.Delay, Task.Run, ConfigureAwait(false), I/O and statics in actors, services and workload; Context has UtcNow, NewGuid and Delay.{Lines(result.Violations)}",
                result);
        }
    }

    private static SimulationFailedException Failed(SimulationResult result, SimulationResult small) => new(
        $"Seed {result.Scenario.Seed} shows {result.Violations.Count} violations:{Lines(result.Violations)}\n" +
        $"Again: {nameof(ActorSimulator)}.{nameof(Run)}(workload, {result.Scenario.Seed})\n" +
        $"Smaller, {small.Scenario.Transactions} transactions: {nameof(ActorSimulator)}.{nameof(Run)}(workload, \"{small.Scenario}\"){Lines(small.Violations)}",
        small);

    internal static string Lines(IReadOnlyList<string> violations)
    {
        var text = new StringBuilder();
        foreach (var violation in violations)
        {
            text.Append("\n  ").Append(violation.ReplaceLineEndings("\n  "));
        }

        return text.ToString();
    }
}
