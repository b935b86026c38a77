using System.Diagnostics;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Runs <c>dotnet</c> as a developer of another tree does.</summary>
internal static class DotnetCommand
{
    /// <summary>Seconds where the machine is idle; a build beside builds of others takes many times as long.</summary>
    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(8);

    /// <summary>Runs it to its end, which must be a success.</summary>
    /// <param name="folder">Where.</param>
    /// <param name="home">Where templates are installed; null: in the user's home.</param>
    /// <param name="arguments">The command line.</param>
    public static async Task Run(string folder, string? home, params string[] arguments)
    {
        var (code, said) = await End(folder, home, arguments);
        Assert.True(code == 0, $"dotnet {string.Join(' ', arguments)}: {said}");
    }

    /// <summary>Runs it to its end, which must be a failure.</summary>
    /// <param name="folder">Where.</param>
    /// <param name="home">Where templates are installed; null: in the user's home.</param>
    /// <param name="arguments">The command line.</param>
    /// <returns>What it says.</returns>
    public static async Task<string> Refused(string folder, string? home, params string[] arguments)
    {
        var (code, said) = await End(folder, home, arguments);
        Assert.True(code == 1, $"dotnet {string.Join(' ', arguments)}: {said}");
        return said;
    }

    private static async Task<(int Code, string Said)> End(string folder, string? home, string[] arguments)
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
        try
        {
            await process.WaitForExitAsync().WaitAsync(s_longest);
        }
        catch (TimeoutException)
        {
            process.Kill(entireProcessTree: true); // else it goes on in a folder that is being deleted
            throw;
        }

        return (process.ExitCode, await output + await errors);
    }
}
