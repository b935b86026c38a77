namespace Snapper.Simulation.Running;

/// <summary>What a simulated run of one worker showed.</summary>
public sealed record SimulationResult : RunResult<Scenario>;
