using System.Collections.Concurrent;
using Snapper.Client;
using Snapper.Client.Messages;

namespace Snapper.Cli.Demo;

/// <summary>The bank as the demo sees it: <see cref="SnapperClient"/>s through the sidecars, in turn.</summary>
/// <param name="sidecars">Those that are there now, at least one.</param>
/// <param name="settings">How to send.</param>
internal sealed class Bank(Func<IReadOnlyList<Uri>> sidecars, DemoSettings settings) : IAsyncDisposable
{
    private const int ConcurrentRequestsMax = 256;

    private readonly ConcurrentDictionary<(Uri Sidecar, int PerRequest), SnapperClient> _clients = new();
    private uint _next;

    /// <summary>Brings a transaction to an outcome; one whose answer is lost is asked for, and sent again with its id.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="perRequest">Most transactions that share a request.</param>
    /// <param name="cancellation">Ends the wait.</param>
    public Task<TransactionReply> Submit(TransactionRequestMessage transaction, int perRequest, CancellationToken cancellation)
    {
        var all = sidecars();
        var sidecar = all[(int)(Interlocked.Increment(ref _next) % (uint)all.Count)];
        return _clients.GetOrAdd((sidecar, perRequest), key => new SnapperClient(new SnapperClientOptions
        {
            Sidecar = key.Sidecar,
            AppId = settings.AppId,
            Timeout = settings.Timeout,
            MaxBatch = key.PerRequest,
            MaxConcurrentRequests = Math.Min(settings.Concurrency, ConcurrentRequestsMax),
            RepeatsAborted = false, // they are counted
        })).Submit(transaction, cancellation);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _clients.Values) await client.DisposeAsync();
    }
}
