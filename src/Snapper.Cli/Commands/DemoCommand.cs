using System.CommandLine;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Demo;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary><c>up</c>, transfers, the check that no money appeared or vanished, and where to look next.</summary>
internal static class DemoCommand
{
    private static readonly Option<bool> s_stay = Options.Flag("--stay", "stay up afterwards, until Ctrl-C");

    private static readonly Option<int?> s_for = Options.Of<int?>(
        "--for", "SECONDS", "with several workers: how long transfers go on afterwards (default: until Ctrl-C)",
        static text => Values.Whole(0, 86_400)(text));

    private static readonly Option<int> s_seconds = Options.Whole("--seconds", "N", "length of each phase", 3, 1, 3600);
    private static readonly Option<int> s_accounts = Options.Whole("--accounts", "N", "number of accounts", 1000, 8, 100_000);
    private static readonly Option<int> s_concurrency = Options.Whole("--concurrency", "N", "requests under way at once", 32, 1, 1000);

    /// <summary><c>demo</c>; with <c>--stay</c> it stays up until a signal, and a wrong sum is still the exit code then.</summary>
    public static readonly Command Command = CommandLines.Command(
        "demo", "up, then bank transfers through the sidecar, and a check that no money was lost", Run,
        [.. UpOptions.All, s_stay, s_for, s_seconds, s_accounts, s_concurrency]);

    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var options = UpOptions.From(line);
        if (!options.Hosted.Types.Contains("Account"))
        {
            throw new UsageException("demo transfers between accounts: --apps must have smallbank.");
        }

        var settings = new DemoSettings
        {
            AppId = options.AppId,
            Accounts = line.GetValue(s_accounts),
            Concurrency = line.GetValue(s_concurrency),
            PhaseLength = TimeSpan.FromSeconds(line.GetValue(s_seconds)),
        };
        TimeSpan? length = line.GetValue(s_for) is { } seconds ? TimeSpan.FromSeconds(seconds) : null;
        if (length is not null && options.Workers == 1) throw new UsageException("--for is for several workers: with one, transfers do not go on.");
        using var signals = new StopSignals();
        return await UpCommand.Supervised(options, errors, signals, async deployment =>
        {
            output.WriteLine(deployment.Ready.ToLine());
            output.Flush();
            await using var bank = new Bank(() => [.. deployment.Workers.Select(w => new Uri(w.Sidecar))], settings);
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

            if (passed) NextSteps.Write(output, deployment.Ready, options, line.GetValue(s_stay));
            else deployment.Say($"demo: failed; the parts' own messages are in {Path.Combine(options.DataDirectory, "logs")}");
            output.Flush();
            if (line.GetValue(s_stay))
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
