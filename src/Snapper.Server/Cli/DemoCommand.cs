using Snapper.Server.Demo;
using Snapper.Server.Supervision;

namespace Snapper.Server.Cli;

/// <summary><c>up</c>, transfers, the check that no money appeared or vanished, and where to look next.</summary>
internal static class DemoCommand
{
    /// <summary>Runs the demo; with <c>--stay</c> it stays up until told to stop, and a wrong sum is still the exit code then.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        var options = UpOptions.From(arguments);
        var settings = new DemoSettings
        {
            Accounts = arguments.Number("--accounts", 1000, 8, 100_000),
            Concurrency = arguments.Number("--concurrency", 32, 1, 1000),
            PhaseLength = TimeSpan.FromSeconds(arguments.Number("--seconds", 3, 1, 3600)),
        };
        using var signals = new StopSignals();
        return await UpCommand.Supervised(options, errors, signals, async deployment =>
        {
            output.WriteLine(deployment.Ready.ToLine());
            output.Flush();
            var worker = deployment.Ready.Workers[0];
            using var bank = new BankClient(new Uri(worker.Sidecar), Environment.GetEnvironmentVariable("DAPR_API_TOKEN"));
            bool passed;
            try
            {
                passed = await new DemoRun(settings, bank, output).Run(signals.Stop);
            }
            catch (DemoFailedException problem)
            {
                deployment.Say($"demo: {problem.Message}");
                passed = false;
            }
            catch (OperationCanceledException)
            {
                deployment.Say("demo: stopped before the check; nothing is known about the sum");
                return ExitCode.Failure;
            }

            if (passed) WhereNext.Write(output, deployment.Ready, options, arguments.Flag("--stay"));
            else deployment.Say($"demo: failed; the parts' own messages are in {Path.Combine(options.DataDirectory, "logs")}");
            output.Flush();
            if (arguments.Flag("--stay"))
            {
                deployment.Say("staying up; Ctrl-C stops everything");
                await await Task.WhenAny(signals.Stopped, deployment.GivenUp);
            }

            return passed ? ExitCode.Success : ExitCode.Failure;
        });
    }
}
