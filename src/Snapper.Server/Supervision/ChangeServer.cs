namespace Snapper.Server.Supervision;

/// <summary>Does what other processes ask of a running deployment through <see cref="ChangeFiles"/>.</summary>
internal static class ChangeServer
{
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(200);

    /// <summary>Until cancelled. Requests of before are forgotten: whoever sent them has given up.</summary>
    public static async Task Run(Deployment deployment, ChangeFiles files, CancellationToken cancellation)
    {
        files.Take();
        while (!cancellation.IsCancellationRequested)
        {
            try
            {
                if (files.Take() is { } request) files.Answer(await Do(deployment, request, cancellation));
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                deployment.Say($"a request to change what runs cannot be read or answered: {problem.Message}");
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(LookEvery, cancellation).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
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
