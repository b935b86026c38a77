using System.Runtime;
using System.Runtime.InteropServices;

namespace Snapper.Benchmarks.Measurement;

/// <summary>What a number depends on besides the code.</summary>
public sealed record MachineFacts(
    int Cores, string Cpu, string OperatingSystem, string Dotnet, string GeneratorGc, double LoadAverage, DateTimeOffset MeasuredAt, string Commit)
{
    /// <summary>Facts of this machine, now.</summary>
    public static MachineFacts Read(string repositoryRoot) => new(
        Environment.ProcessorCount,
        CpuModel(),
        RuntimeInformation.OSDescription,
        RuntimeInformation.FrameworkDescription,
        GCSettings.IsServerGC ? "server" : "workstation",
        LoadAverageNow(),
        TimeProvider.System.GetUtcNow(),
        CommitOf(repositoryRoot));

    private static string CpuModel()
    {
        foreach (var line in File.ReadLines("/proc/cpuinfo"))
        {
            if (line.StartsWith("model name", StringComparison.Ordinal))
            {
                return line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim();
            }
        }

        return "unknown";
    }

    private static double LoadAverageNow() =>
        double.Parse(File.ReadAllText("/proc/loadavg").Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture);

    private static string CommitOf(string root)
    {
        var answer = Systems.Command.TryRead("git", ["-C", root, "rev-parse", "--short", "HEAD"]);
        return answer ?? "unknown";
    }
}
