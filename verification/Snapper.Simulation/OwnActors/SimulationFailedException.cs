using Snapper.Simulation.Running;

namespace Snapper.Simulation.OwnActors;

/// <summary>A simulated run broke what must hold. The message has the seed, what is wrong, and the smaller scenario that shows it.</summary>
public sealed class SimulationFailedException(string message, SimulationResult result) : Exception(message)
{
    /// <summary>The smallest run that was found to fail.</summary>
    public SimulationResult Result { get; } = result;
}
