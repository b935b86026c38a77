using Snapper.Simulation.Cluster;

namespace Snapper.Simulation.OwnActors;

/// <summary>
/// Runs an application's own actors while its workers are updated one by one: several workers begin with
/// <see cref="ActorWorkload.ActorTypesBefore"/>, each is stopped and comes back with
/// <see cref="ActorWorkload.ActorTypes"/>, and under the seed actors move between them, workers die and are taken over.
/// </summary>
/// <remarks>
/// Beside the workload's own judge: no state of a version is written over by one of a lower version, and a worker of
/// the older program loses no property of a state that the newer one wrote.
/// </remarks>
public static class UpdateSimulator
{
    private const int RunsToShrink = 60;

    /// <summary>Runs one seed.</summary>
    /// <param name="workload">Makes a workload; called once.</param>
    /// <param name="seed">Decides everything.</param>
    public static ClusterRunResult Run(Func<ActorWorkload> workload, ulong seed) =>
        Run(workload, ClusterScenario.DrawUpdate(seed));

    /// <summary>Runs one scenario, as the message of an <see cref="UpdateFailedException"/> has it.</summary>
    /// <exception cref="FormatException">The text is no scenario; says what is wrong.</exception>
    public static ClusterRunResult Run(Func<ActorWorkload> workload, string scenario) =>
        Run(workload, ClusterScenario.Parse(scenario));

    /// <summary>Runs one scenario.</summary>
    /// <exception cref="ArgumentException">The workload has no actor types of before.</exception>
    public static ClusterRunResult Run(Func<ActorWorkload> workload, ClusterScenario scenario)
    {
        ArgumentNullException.ThrowIfNull(workload);
        ArgumentNullException.ThrowIfNull(scenario);
        var own = workload();
        return own.ActorTypesBefore is not null
            ? new ClusterWorld(scenario, own: own).Run()
            : throw new ArgumentException(
                $"{own.GetType().Name}.{nameof(ActorWorkload.ActorTypesBefore)} has nothing that is updated.",
                nameof(workload));
    }

    /// <summary>Runs many seeds, the first of them twice. The first failure is made smaller and thrown.</summary>
    /// <param name="workload">Makes a workload; called for each run.</param>
    /// <param name="first">The first seed.</param>
    /// <param name="seeds">How many, at least 1.</param>
    /// <returns>What they were in sum.</returns>
    /// <exception cref="UpdateFailedException">
    /// A seed shows a violation, or a run is not the same when it is repeated.
    /// </exception>
    public static UpdateTotals Check(Func<ActorWorkload> workload, ulong first = 1, int seeds = 100)
    {
        ArgumentNullException.ThrowIfNull(workload);
        ArgumentOutOfRangeException.ThrowIfLessThan(seeds, 1);
        var totals = new UpdateTotals();
        for (var i = 0; i < seeds; i++)
        {
            var result = Run(workload, first + (ulong)i);
            if (i == 0 || result.Violations.Count > 0)
            {
                DemandTheSame(workload, result);
            }

            if (result.Violations.Count > 0)
            {
                throw Failed(
                    result, ClusterShrinker.Shrink(result, RunsToShrink, scenario => Run(workload, scenario)));
            }

            totals = totals.Plus(result);
        }

        return totals;
    }

    private static void DemandTheSame(Func<ActorWorkload> workload, ClusterRunResult result)
    {
        var again = Run(workload, result.Scenario);
        if (again.Digest != result.Digest || again.Steps != result.Steps)
        {
            throw new UpdateFailedException(
                $"Two runs of seed {result.Scenario.Seed} differ: something decides what happens that the seed does "
                + "not."
                + ActorSimulator.Lines(result.Violations),
                result);
        }
    }

    private static UpdateFailedException Failed(ClusterRunResult result, ClusterRunResult small) => new(
        $"Seed {result.Scenario.Seed} shows {result.Violations.Count} violations:"
        + $"{ActorSimulator.Lines(result.Violations)}\n"
        + $"Again: {nameof(UpdateSimulator)}.{nameof(Run)}(workload, {result.Scenario.Seed})\n"
        + $"Smaller, {small.Scenario.Load.Transactions} transactions: "
        + $"{nameof(UpdateSimulator)}.{nameof(Run)}(workload, \"{small.Scenario}\")"
        + ActorSimulator.Lines(small.Violations),
        small);
}
