using Snapper.Simulation.Cluster;

namespace Snapper.Simulation.OwnActors;

/// <summary>
/// A simulated update of workers broke what must hold. The message has the seed, what is wrong, and the smaller
/// scenario that shows it.
/// </summary>
public sealed class UpdateFailedException(string message, ClusterRunResult result) : Exception(message)
{
    /// <summary>The smallest run that was found to fail.</summary>
    public ClusterRunResult Result { get; } = result;
}
