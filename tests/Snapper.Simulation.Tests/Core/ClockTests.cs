using System.Text.RegularExpressions;

namespace Snapper.Simulation.Tests.Core;

/// <summary>What the simulator runs waits by the worker's clock, or the same seed differs on a slow machine.</summary>
public sealed partial class ClockTests
{
    // Not simulated: Redis, the real disk, and sockets between workers.
    private static readonly string[] s_notSimulated = ["/obj/", "/Redis/", "/Links/", "PhysicalFileSystem.cs"];

    [Fact]
    public void Simulated_code_has_no_clock_but_the_workers() =>
        Assert.Equal([],
            ((string[])
            [
                "src/Snapper.Runtime", "src/Snapper.Cluster", "src/Snapper.Storage",
                "verification/Snapper.Storage.Memory",
            ])
            .SelectMany(static project => Directory.EnumerateFiles(
                Path.Combine(RepositoryFolder.Path, project), "*.cs", SearchOption.AllDirectories))
            .Where(static path =>
                !Array.Exists(s_notSimulated, part => path.Contains(part, StringComparison.Ordinal)))
            .SelectMany(static path => RealClock().Matches(File.ReadAllText(path))
                .Select(match => $"{Path.GetFileName(path)}: {match.Value}")));

    [GeneratedRegex(@"\.CancelAfter\(|Stopwatch\.|DateTime(Offset)?\.(Utc)?Now|TickCount|Thread\.Sleep")]
    private static partial Regex RealClock();
}
