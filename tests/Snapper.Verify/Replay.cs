using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>Runs one scenario again.</summary>
internal static class Replay
{
    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        var result = Simulator.Run(options.Scenario!);
        Print(result);
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine("INTERRUPTED before the second run: whether both are alike is not known.");
            return result.Violations.Count > 0 ? 1 : 0;
        }

        var again = Simulator.Run(options.Scenario!);
        Console.WriteLine($"digest {result.Digest:x16}, {result.Steps:N0} steps, {result.VirtualTime.TotalSeconds:0.000} s of virtual time");
        if (again.Digest != result.Digest || again.Steps != result.Steps)
        {
            Console.WriteLine($"NOT REPEATABLE: the second run has digest {again.Digest:x16} and {again.Steps:N0} steps.");
            return 1;
        }

        return result.Violations.Count > 0 ? 1 : 0;
    }

    public static void Print(SimulationResult result)
    {
        Console.WriteLine(result.Violations.Count == 0 ? $"no violation: {result.Scenario}" : $"VIOLATION: ./snapper verify --scenario \"{result.Scenario}\"");
        foreach (var violation in result.Violations.Distinct().Take(5))
        {
            Console.WriteLine("  " + violation.TrimEnd().Replace("\n", "\n  ", StringComparison.Ordinal));
        }
    }
}
