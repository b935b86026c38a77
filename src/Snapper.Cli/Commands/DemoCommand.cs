using Snapper.Cli.Demo;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Processes;

namespace Snapper.Cli.Commands;

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
        TimeSpan? length = arguments.Text("--for") is null ? null : TimeSpan.FromSeconds(arguments.Number("--for", 0, 0, 86_400));
        if (length is not null && options.Workers == 1) throw new UsageException("--for is for several workers: with one, transfers do not go on.");
        using var signals = new StopSignals();
        return await UpCommand.Supervised(options, errors, signals, async deployment =>
        {
            output.WriteLine(deployment.Ready.ToLine());
            output.Flush();
            using var bank = new BankClient(
                () => [.. deployment.Workers.Select(w => new Uri(w.Sidecar))], Environment.GetEnvironmentVariable("DAPR_API_TOKEN"), options.AppId);
            bool passed;
            try
            {
                var run = new DemoRun(settings, bank, output);
                passed = await run.Run(signals.Stop);
                if (passed && options.Workers > 1)
                {
                    NextSteps.Write(output, deployment, options);
                    passed = await GoOn(run, deployment, length ?? TimeSpan.FromDays(365), output, signals.Stop);
                    return passed ? ExitCode.Success : ExitCode.Failure;
                }
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

            if (passed) NextSteps.Write(output, deployment.Ready, options, arguments.Flag("--stay"));
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

    private static async Task<bool> GoOn(DemoRun run, Deployment deployment, TimeSpan length, TextWriter output, CancellationToken cancellation)
    {
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        using var watch = new DemoWatch(deployment, output, Environment.GetEnvironmentVariable("APP_API_TOKEN"));
        var watching = watch.Run(over.Token);
        try
        {
            var going = run.GoOn(length, cancellation);
            return await Task.WhenAny(going, deployment.GivenUp) == going ? await going : await Failed(deployment.GivenUp);
        }
        finally
        {
            await over.CancelAsync();
            await watching;
        }

        static async Task<bool> Failed(Task givenUp)
        {
            await givenUp;
            return false;
        }
    }
}
