using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Processes;

namespace Snapper.Cli.Commands;

/// <summary>Starts everything, says <c>ready</c>, stays in the foreground until told to stop.</summary>
internal static class UpCommand
{
    /// <summary>Runs until SIGINT, SIGTERM or SIGHUP.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        var options = UpOptions.From(arguments);
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
