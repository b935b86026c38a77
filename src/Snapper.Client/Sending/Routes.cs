using Snapper.Protocol.Identity;

namespace Snapper.Client.Sending;

/// <summary>
/// All addresses of the workers, and which of them takes a transaction: the one whose worker owned the root when it was last heard of; else they take turns. One that does not
/// answer is passed over for a while. Thread-safe.
/// </summary>
internal sealed class Routes : IDisposable
{
    private readonly Route[] _routes;
    private readonly OwnerCache? _owners;
    private int _turn;

    public Routes(SnapperClientOptions options, CancellationPool giveUps)
    {
        var addresses = options.TransactionsUris;
        _routes = new Route[addresses.Length];
        for (var i = 0; i < addresses.Length; i++)
        {
            var door = new ServiceEndpoint(options, addresses[i], learnsWorker: addresses.Length > 1, giveUps);
            _routes[i] = new Route(addresses[i], door, new BatchSender(door, options.MaxBatch, options.MaxConcurrentRequests));
        }

        _owners = addresses.Length > 1 && options.RememberedActors > 0 ? new OwnerCache(options.RememberedActors) : null;
    }

    /// <summary>Number of addresses.</summary>
    public int Count => _routes.Length;

    /// <summary>Number of actors whose worker is remembered.</summary>
    public int Remembered => _owners?.Count ?? 0;

    public IReadOnlyList<Route> All => _routes;

    /// <summary>What of an actor helps to find its worker; null: there is but one address.</summary>
    public ActorKey? KeyOf(string type, string id) => _owners is null ? null : new ActorKey(type, id);

    /// <summary>Where to send, or to ask.</summary>
    /// <param name="root">See <see cref="KeyOf"/>.</param>
    /// <param name="now"><see cref="Environment.TickCount64"/>.</param>
    public Route Pick(ActorKey? root, long now)
    {
        if (_routes.Length == 1)
        {
            return _routes[0];
        }

        if (root is not null && _owners!.Find(root) is { } owner)
        {
            foreach (var route in _routes)
            {
                if (route.Worker == owner && route.AwayUntil <= now)
                {
                    return route;
                }
            }
        }

        var turn = (uint)Interlocked.Increment(ref _turn);
        var best = _routes[turn % _routes.Length];
        for (var i = 1u; i < _routes.Length && best.AwayUntil > now; i++)
        {
            // All away: the one that will be asked again first.
            var other = _routes[(turn + i) % _routes.Length];
            best = other.AwayUntil < best.AwayUntil ? other : best;
        }

        return best;
    }

    /// <summary>Takes note of how a sending went.</summary>
    /// <returns>True: another address may take it at once.</returns>
    public bool Note(Route route, ActorKey? root, in Attempt attempt)
    {
        if (_routes.Length == 1)
        {
            return false;
        }

        var now = Environment.TickCount64;
        switch (attempt.End)
        {
            case AttemptEnd.Answered:
                route.IsThere();
                if (root is not null && attempt.Reply!.Worker is { } owner)
                {
                    _owners!.Learn(root, owner);
                }

                return false;
            case AttemptEnd.Refused when attempt.Rejection!.Status == 503:
            case AttemptEnd.Lost:
                route.IsAway(now);
                return Pick(null, now).AwayUntil <= now;
            default:
                return false;
        }
    }

    public void Dispose()
    {
        foreach (var route in _routes)
        {
            route.Door.Dispose();
        }
    }
}
