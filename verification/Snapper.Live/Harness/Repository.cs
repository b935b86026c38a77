using System.Diagnostics;

namespace Snapper.Live.Harness;

/// <summary>Where the repository is, seen from the test's own folder.</summary>
internal static class Repository
{
    public static string Root { get; } = Find();

    /// <summary>Runs a command of <c>./snapper</c> to its end.</summary>
    /// <returns>Its exit code and what it said.</returns>
    public static async Task<(int Exit, string Said)> Snapper(params string[] arguments)
    {
        var start = new ProcessStartInfo(Path.Combine(Root, "snapper"), arguments) { WorkingDirectory = Root, RedirectStandardOutput = true, RedirectStandardError = true };
        using var command = Process.Start(start)!;
        var said = Task.WhenAll(command.StandardOutput.ReadToEndAsync(), command.StandardError.ReadToEndAsync());
        await command.WaitForExitAsync();
        return (command.ExitCode, string.Concat(await said).Trim());
    }

    private static string Find()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Snapper.Dapr.sln")))
            {
                return folder.FullName;
            }
        }

        throw new InvalidOperationException($"No folder above {AppContext.BaseDirectory} holds Snapper.Dapr.sln.");
    }
}
