namespace Snapper.Simulation.Running;

/// <summary>Runs scenarios. A run uses the calling thread alone; several may run at once on threads of their
/// own.</summary>
public static class Simulator
{
    /// <summary>Runs the scenario of a seed.</summary>
    public static SimulationResult Run(ulong seed) => Run(Scenario.Draw(seed));

    /// <summary>Transitions are counted in the verification build (<c>-c Planted</c>), and in no other.</summary>
    public static bool CountsTransitions { get; } =
#if MUTATIONS
        true;
#else
        false;
#endif

    /// <summary>Names of the mutations that one worker can have; empty unless this is the verification build (<c>-c
    /// Planted</c>).</summary>
    public static IReadOnlyList<string> Mutations { get; } =
#if MUTATIONS
        MutationSwitch.OneWorker;
#else
        [];
#endif

    /// <summary>Selects a mutation in this process; null: none any more.</summary>
    /// <exception cref="InvalidOperationException">This build has none.</exception>
    public static void Select(string? mutation)
    {
#if MUTATIONS
        MutationSwitch.Select(mutation);
#else
        throw new InvalidOperationException($"This build has no mutation {mutation ?? "to select"}: it is not the verification build.");
#endif
    }

    /// <summary>Runs a scenario to its end and judges what its clients saw.</summary>
    public static SimulationResult Run(Scenario scenario)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        return new World(scenario).Run();
    }
}
