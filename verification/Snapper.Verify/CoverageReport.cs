using Snapper.Protocol;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>How often what happened: in columns, or as text for docs/verification.md.</summary>
internal static class CoverageReport
{
    private const int Width = 40;
    private const int Columns = 3;

    public static void Print(Coverage coverage, bool markdown)
    {
        Print("Faults", coverage.Faults, markdown);
        Print("Scheduling choices", coverage.SchedulingChoices, markdown);
        if (Simulator.CountsTransitions)
        {
            Print("Transitions", coverage.Transitions, markdown);
        }
    }

    public static void Print(ClusterCoverage coverage, bool markdown)
    {
        Print("Faults", coverage.Happened, markdown);
        Print("Requests", coverage.Faults, markdown);
        if (Simulator.CountsTransitions)
        {
            Print("Transitions of several workers", coverage.Transitions, markdown);
        }
    }

    public static IEnumerable<string> Taken<TKind>(Tally<TKind> tally)
        where TKind : struct, Enum =>
            Tally<TKind>.Kinds.Where(kind => tally[kind] > 0).Select(kind => $"{kind} {tally[kind]}");

    private static void Print<TKind>(string title, Tally<TKind> tally, bool markdown)
        where TKind : struct, Enum
    {
        if (markdown)
        {
            Console.WriteLine(
                $"\n{title}: {string.Join(", ", Tally<TKind>.Kinds.Select(kind => $"{kind} {tally[kind]:N0}"))}.");
            return;
        }

        Console.WriteLine(title.ToLowerInvariant() + ":");
        var rows = (Tally<TKind>.Kinds.Count + Columns - 1) / Columns;
        for (var row = 0; row < rows; row++)
        {
            var line = string.Empty;
            for (var at = row; at < Tally<TKind>.Kinds.Count; at += rows)
            {
                var kind = Tally<TKind>.Kinds[at];
                line += $"  {kind.ToString().PadRight(Width - 13)}{tally[kind],11:N0}";
            }

            Console.WriteLine(line);
        }
    }
}
