using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Does what other processes ask of a running deployment through <see cref="ChangeFiles"/>.</summary>
internal static class ChangeServer
{
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(200);

    /// <summary>Until cancelled. Earlier requests are forgotten: their callers have given up.</summary>
    public static async Task Run(Deployment deployment, ChangeFiles files, CancellationToken cancellation)
    {
        files.Forget();
        while (!cancellation.IsCancellationRequested)
        {
            ChangeRequest? request = null;
            try
            {
                request = files.Take();
                if (request is not null) files.Answer(await Do(deployment, request, cancellation));
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                deployment.Say($"a request to change what runs cannot be read or answered: {problem.Message}");
                if (request is null) Refuse(deployment, files, problem.Message);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(LookEvery, cancellation).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private static void Refuse(Deployment deployment, ChangeFiles files, string why)
    {
        try
        {
            files.Answer(new ChangeAnswer(ChangeAnswer.ToWhoeverAsked, $"the running system cannot read the request: {why.TrimEnd('.')}; ask as the account that it runs as", null));
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            deployment.Say($"a request to change what runs cannot be answered: {problem.Message}");
        }
    }

    private static async Task<ChangeAnswer> Do(Deployment deployment, ChangeRequest request, CancellationToken cancellation)
    {
        try
        {
            switch (request.Verb)
            {
                case "join":
                    return new ChangeAnswer(request.Id, null, await deployment.Join(cancellation));
                case "leave" when request.Worker is { } name:
                    await deployment.Leave(name, cancellation);
                    return new ChangeAnswer(request.Id, null, null);
                default:
                    return new ChangeAnswer(request.Id, $"a supervisor can let workers join and leave, not '{request.Verb}'", null);
            }
        }
        catch (StartupException problem)
        {
            return new ChangeAnswer(request.Id, problem.Message, null);
        }
    }
}
