using System.CommandLine;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.TestRunner;

var filter = new Option<string?>("--filter") { HelpName = "EXPRESSION", Description = "only these tests, as 'dotnet test --filter'" };
var core = new Option<bool>("--core") { Description = "only the assemblies that start no servers, browsers or workers" };
var serial = new Option<bool>("--serial") { Description = "one assembly after another; without it several at once" };
var command = new RootCommand("all tests, the same as CI; the solution must have been built") { filter, core, serial };
command.SetAction(async (parsed, _) => await Run(parsed.GetValue(filter), parsed.GetValue(core), parsed.GetValue(serial)));
return await command.Parse(args).InvokeAsync();

static async Task<int> Run(string? filter, bool coreOnly, bool serial)
{
    if (Repository.Find() is not { } root)
    {
        Console.Error.WriteLine("snapper: Snapper.Dapr.sln was not found; 'test' runs in a clone of the repository.");
        return ExitCode.Failure;
    }

    using var signals = new StopSignals();
    var messages = new MessageWriter(Console.Error);
    var servers = await TestServers.Find(ExecutableFinder.System, messages);
    foreach (var missing in servers.Missing)
    {
        messages.Say(missing);
    }

    var results = Directory.CreateTempSubdirectory("snapper-tests-");
    try
    {
        var run = new TestRun(root, results.FullName, servers, filter, signals, Console.Out);
        var passed = await run.Run(coreOnly, serial);
        var strict = string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase);
        var summary = TestSummary.Read(results.FullName, testRunFailed: !passed, failOnSkipped: strict);
        foreach (var line in summary.Details)
        {
            Console.WriteLine(line);
        }

        Console.WriteLine(summary.LastLine);
        return summary.Succeeded ? ExitCode.Success : ExitCode.Failure;
    }
    finally
    {
        results.Delete(recursive: true);
    }
}
