using Microsoft.Extensions.Logging;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Links;

/// <summary>Keeps a link to one incarnation of a worker: makes it, and makes it again whenever it has ended.</summary>
internal sealed class PeerLink : IAsyncDisposable
{
    private readonly CancellationTokenSource _ending = new();
    private readonly ILogger _logger;
    private readonly Incarnation _own;
    private readonly DirectLinkOptions _options;
    private readonly string _system;
    private readonly Task _keeping;
    private volatile OutgoingLink? _link;
    private volatile string? _problem;

    /// <param name="own">This worker.</param>
    /// <param name="to">The incarnation.</param>
    /// <param name="address">Where it listens.</param>
    /// <param name="system">Id of the directory that both belong to.</param>
    /// <param name="options">How workers link.</param>
    /// <param name="logger">For lines.</param>
    public PeerLink(Incarnation own, Incarnation to, LinkAddress address, string system, DirectLinkOptions options,
        ILogger logger)
    {
        (_own, To, Address, _system, _options, _logger) = (own, to, address, system, options, logger);
        using (ExecutionContext.IsFlowSuppressed() ? default(AsyncFlowControl?) : ExecutionContext.SuppressFlow())
        {
            _keeping = Task.Run(Keep);
        }
    }

    public Incarnation Own => _own;

    public Incarnation To { get; }

    public LinkAddress Address { get; }

    /// <summary>The link; null: there is none now.</summary>
    public OutgoingLink? Link => _link;

    /// <summary>Why there is none; null: there is, or it is just being made.</summary>
    public string? Problem => _problem;

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync().ConfigureAwait(false);
        _link?.Dispose();
        await _keeping.ConfigureAwait(false);
        _ending.Dispose();
    }

    private async Task Keep()
    {
        var pause = _options.RetryDelay;
        var since = TimeProvider.System.GetTimestamp();
        var isSaid = false;
        while (!_ending.IsCancellationRequested)
        {
            try
            {
                using var link = await OutgoingLink.Connect(_own, To, Address, _system, _options,
                    _ending.Token).ConfigureAwait(false);
                (_link, _problem, isSaid, pause) = (link, null, false, _options.RetryDelay);
                LinkLog.Made(_logger, To.ToString(), Address.Place);
                if (_ending.IsCancellationRequested)
                {
                    return;
                }

                _problem = await link.Run().ConfigureAwait(false);
                _link = null;
                since = TimeProvider.System.GetTimestamp();
            }
            catch (IOException exception)
            {
                _problem = exception.Message;
            }
            catch (OperationCanceledException) when (_ending.IsCancellationRequested)
            {
                return;
            }

            if (!isSaid && TimeProvider.System.GetElapsedTime(since) >= _options.Patience)
            {
                isSaid = true;
                LinkLog.ThroughSidecar(_logger, To.ToString(), _problem!);
            }

            await Task.Delay(pause * (0.5 + (Random.Shared.NextDouble() * 0.5)),
                _ending.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            pause = pause * 2 < _options.RetryDelayMax ? pause * 2 : _options.RetryDelayMax;
        }
    }
}
