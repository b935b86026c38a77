using Snapper.Runtime.Execution;


namespace Snapper.Simulation.Cluster;

/// <summary>
/// Hears what the workers of a run do. Each life of each worker is told apart: what it does comes to a trace of its own, in the order in which it does it; because there is one
/// thread, the calls to all of them together are in the order of the run.
/// </summary>
internal interface IClusterTrace
{
    /// <summary>A life begins; its log is not open yet, so that its epoch is not known (<see cref="ClusterProcess.Self"/> is, once it has recovered).</summary>
    /// <returns>Hears what it does; null: nobody listens to it.</returns>
    IWorkerTrace? Of(ClusterProcess process);
}
