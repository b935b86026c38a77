using System.Diagnostics;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Runs <c>dotnet</c> as a developer of another tree does.</summary>
internal static class DotnetCommand
{
    /// <summary>Runs it to its end, which must be a success.</summary>
    /// <param name="folder">Where.</param>
    /// <param name="home">Where templates are installed; null: in the user's home.</param>
    /// <param name="arguments">The command line.</param>
    public static async Task Run(string folder, string? home, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", arguments)
        {
            WorkingDirectory = folder, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        if (home is not null)
        {
            start.Environment["DOTNET_CLI_HOME"] = home;
        }

        using var process = Process.Start(start)!;
        var (output, errors) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        await process.WaitForExitAsync().WaitAsync(TimeSpan.FromMinutes(3));
        Assert.True(process.ExitCode == 0, $"dotnet {string.Join(' ', arguments)}: {await output}{await errors}");
    }
}
