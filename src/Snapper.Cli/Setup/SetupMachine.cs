using System.Runtime.InteropServices;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Setup;

/// <summary>The machine that is set up.</summary>
/// <param name="Finder">Finds programs.</param>
/// <param name="Variable">Reads an environment variable.</param>
/// <param name="Answers">Where a person answers.</param>
/// <param name="IsRoot">No sudo is needed.</param>
/// <param name="Platform">In the words of Dapr's release page, as <c>linux_amd64</c>; null: none that Dapr is released for as a tar.gz.</param>
internal sealed record SetupMachine(ExecutableFinder Finder, Func<string, string?> Variable, TextReader Answers, bool IsRoot, string? Platform)
{
    /// <summary>The real one.</summary>
    public static SetupMachine This(TextReader answers) =>
        new(ExecutableFinder.System, Environment.GetEnvironmentVariable, answers, Environment.IsPrivilegedProcess, ThisPlatform());

    private static string? ThisPlatform()
    {
        var system = OperatingSystem.IsLinux() ? "linux" : OperatingSystem.IsMacOS() ? "darwin" : null;
        var processor = RuntimeInformation.OSArchitecture switch
        {
            Architecture.X64 => "amd64",
            Architecture.Arm64 => "arm64",
            Architecture.Arm when system == "linux" => "arm",
            _ => null,
        };
        return system is null || processor is null ? null : $"{system}_{processor}";
    }
}
