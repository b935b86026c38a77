using System.CommandLine;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Starts everything, says <c>ready</c>, stays in the foreground until told to stop.</summary>
internal static class UpCommand
{
    /// <summary><c>up</c>.</summary>
    public static readonly Command Command = CommandLines.Command(
        "up", "starts Redis, Dapr and the server in the foreground, and keeps them running", Run, UpOptions.All);

    /// <summary>The options of a line.</summary>
    /// <exception cref="UsageException">The line is wrong.</exception>
    internal static UpOptions Parse(params IEnumerable<string> options) => UpOptions.From(CommandLines.Parse(Command, options));

    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var options = UpOptions.From(line);
        using var signals = new StopSignals();
        return await Supervised(options, errors, signals, async deployment =>
        {
            output.WriteLine(deployment.Ready.ToLine());
            output.Flush();
            deployment.Say("ready; Ctrl-C stops everything");
            await await Task.WhenAny(signals.Stopped, deployment.GivenUp);
            return ExitCode.Success;
        });
    }

    /// <summary>Starts a deployment, runs <paramref name="body"/> beside it, stops it in order whatever happens.</summary>
    internal static async Task<int> Supervised(UpOptions options, TextWriter errors, StopSignals signals, Func<Deployment, Task<int>> body)
    {
        var messages = new MessageWriter(errors);
        Deployment? deployment = null;
        try
        {
            deployment = new Deployment(options, messages);
            await deployment.Start(signals.Stop);
            using var over = CancellationTokenSource.CreateLinkedTokenSource(signals.Stop);
            var changes = ChangeServer.Run(deployment, new ChangeFiles(DataDirectory.RunIn(options.DataDirectory)), over.Token);
            try
            {
                return await body(deployment);
            }
            finally
            {
                await over.CancelAsync();
                await changes;
            }
        }
        catch (StartupException problem)
        {
            messages.Say(problem.Message);
            return problem.ExitCode;
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            messages.Say(problem.Message);
            return ExitCode.Failure;
        }
        catch (OperationCanceledException) when (signals.Stop.IsCancellationRequested)
        {
            return ExitCode.Success;
        }
        finally
        {
            if (deployment is not null) await deployment.Stop(signals.Force);
        }
    }
}
