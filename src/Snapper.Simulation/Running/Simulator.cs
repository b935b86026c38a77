namespace Snapper.Simulation.Running;

/// <summary>Runs scenarios. A run uses the calling thread alone; several may run at once on threads of their own.</summary>
public static class Simulator
{
    /// <summary>Runs the scenario of a seed.</summary>
    public static SimulationResult Run(ulong seed) => Run(Scenario.Draw(seed));

    /// <summary>Runs a scenario to its end and judges what its clients saw.</summary>
    public static SimulationResult Run(Scenario scenario)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        return new World(scenario).Run();
    }
}
