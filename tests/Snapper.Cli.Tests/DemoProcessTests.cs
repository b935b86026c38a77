using System.Diagnostics;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The demo as a user runs it: on the stand-ins, on the real servers, and the commands that it says to try next.</summary>
public sealed class DemoProcessTests : IDisposable
{
    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    private UpProcess Demo(params string[] options) =>
        UpProcess.Start("demo", _temp.Path, _ports[0] - 1, _ports[1], ["--seconds", "1", "--accounts", "50", "--concurrency", "8", .. options]);

    [Fact]
    public async Task On_the_stand_ins_it_ends_well_and_says_what_it_ran_on_and_a_second_run_finds_the_money()
    {
        for (var run = 1; run <= 2; run++)
        {
            await using var demo = Demo("--embedded");
            await demo.Ready();
            Assert.True(await demo.Exit() == 0, demo.AllText);
            Assert.Contains("50 accounts hold 1,000,000.00 together", demo.AllText);
            Assert.Contains("all accounts still hold 1,000,000.00 together", demo.AllText);
            Assert.Contains("not for production, and its numbers are no benchmark", demo.AllText);
        }
    }

    [NeedsServersFact]
    public async Task On_Redis_and_Dapr_it_ends_well_and_every_command_that_it_names_works()
    {
        await using var demo = Demo("--stay");
        await demo.Ready();
        await Eventually.True("the demo has ended and stays up", () => demo.HasExited || demo.ErrorText.Contains("staying up", StringComparison.Ordinal));
        Assert.False(demo.HasExited, demo.AllText);
        Assert.Contains("no money appeared or vanished", demo.AllText);
        Assert.DoesNotContain("embedded", demo.AllText);

        string[] commands = [.. demo.Output.Select(l => l.Trim()).Where(l => l.StartsWith("curl ", StringComparison.Ordinal))];
        Assert.True(commands.Length >= 5, demo.AllText);
        foreach (var command in commands)
        {
            var (exit, answer) = await Shell(command.Replace("curl -s", "curl -sS --fail --max-time 20", StringComparison.Ordinal));
            Assert.True(exit == 0, $"{command}\nended with {exit}: {answer}");
            Assert.StartsWith("{", answer);
            if (command.Contains("Transfer", StringComparison.Ordinal)) Assert.Contains("\"committed\"", answer);
        }

        demo.Remember();
        demo.Signal(Posix.Terminate);
        Assert.Equal(0, await demo.Exit());
    }

    private static async Task<(int Exit, string Output)> Shell(string command)
    {
        using var shell = Process.Start(new ProcessStartInfo("/bin/sh", ["-c", command + " 2>&1"]) { RedirectStandardOutput = true })!;
        var output = await shell.StandardOutput.ReadToEndAsync();
        await shell.WaitForExitAsync();
        return (shell.ExitCode, output);
    }
}
