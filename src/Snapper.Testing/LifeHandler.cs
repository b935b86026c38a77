namespace Snapper.Testing;

/// <summary>
/// What stands for the network between the client and the worker: it leads to the life that there is.
/// </summary>
internal sealed class LifeHandler : HttpMessageHandler
{
    private volatile TestLife? _life;

    /// <summary>Null: the worker is down.</summary>
    public TestLife? Life
    {
        set => _life = value;
    }

    /// <inheritdoc/>
    /// <exception cref="HttpRequestException">
    /// As from sockets: the worker is down, or has crashed.
    /// </exception>
    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request,
        CancellationToken cancellationToken)
    {
        if (_life is not { } life)
        {
            throw new HttpRequestException(HttpRequestError.ConnectionError, "The worker is down.");
        }

        request.Headers.TryAddWithoutValidation(TestLife.RawTargetHeader, request.RequestUri!.PathAndQuery);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, life.Crashed);
        try
        {
            return await life.Door.SendAsync(request, either.Token).ConfigureAwait(false);
        }
        catch (Exception broken) when (life.Crashed.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new HttpRequestException(HttpRequestError.ResponseEnded, "The worker crashed.", broken);
        }
    }
}
