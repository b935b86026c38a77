using System.Diagnostics;
using Snapper.Server.Supervision;

namespace Snapper.Server.Cli.Testing;

/// <summary>All tests, the same as CI: finds or installs the servers they need, runs them, adds up what every project reports.</summary>
internal static class TestCommand
{
    /// <summary>Arguments of <c>test</c>.</summary>
    public static readonly CommandSyntax Syntax = new("test", "all tests, the same as CI",
    [
        new("--filter", "EXPRESSION", "only these, as 'dotnet test --filter'"),
        new("--no-build", null, "the solution is built already"),
    ]);

    /// <summary>Runs them. The last line on <paramref name="output"/> is <c>N passed, N failed</c>, with <c>, N skipped</c> when some were.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        if (Repository.Find() is not { } root)
        {
            errors.WriteLine("snapper: Snapper.Dapr.sln was not found; 'test' runs in a clone of the repository.");
            return ExitCode.Failure;
        }

        using var signals = new StopSignals();
        var messages = new MessageWriter(errors);
        var servers = await TestServers.Find(ExecutableFinder.System, messages);
        foreach (var missing in servers.Missing) messages.Say(missing);

        var results = Directory.CreateTempSubdirectory("snapper-tests-");
        try
        {
            var exit = await ForwardedProcess.Run(DotnetTest(root, results.FullName, arguments, servers), signals);
            var strict = string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase);
            var summary = TestSummary.Read(results.FullName, testRunFailed: exit != 0, failOnSkipped: strict);
            foreach (var line in summary.Details) output.WriteLine(line);
            output.WriteLine(summary.LastLine);
            output.Flush();
            return summary.Succeeded ? ExitCode.Success : ExitCode.Failure;
        }
        finally
        {
            results.Delete(recursive: true);
        }
    }

    private static ProcessStartInfo DotnetTest(string root, string results, ParsedArguments arguments, TestServers servers)
    {
        var start = new ProcessStartInfo("dotnet") { UseShellExecute = false, WorkingDirectory = root };
        string[] command = ["test", "Snapper.Dapr.sln", "-c", "Release", "--nologo", "--logger", "trx;LogFilePrefix=results", "--results-directory", results];
        foreach (var argument in command) start.ArgumentList.Add(argument);
        if (arguments.Flag("--no-build")) start.ArgumentList.Add("--no-build");
        if (arguments.Text("--filter") is { } filter)
        {
            start.ArgumentList.Add("--filter");
            start.ArgumentList.Add(filter);
        }

        foreach (var (name, value) in servers.Environment) start.Environment[name] = value;

        // Build servers that stay behind would hold the caller's pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";

        // One project after the other: result files are named by the second, and process tests would slow each other down.
        start.ArgumentList.Add("-m:1");
        return start;
    }
}
