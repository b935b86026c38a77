namespace Snapper.Sidecar.Embedded;

/// <summary>Who may call one actor now, as daprd decides it.</summary>
/// <remarks>
/// A queue of flights in order of arrival; the first one runs. A call joins the flight of its reentrancy id, wherever in
/// the queue that is, and counts as one more level of depth; without one it opens a flight at the end. Nothing but the
/// text of the id counts, so that calls with one constant id run side by side, and every other call waits until none is left.
/// </remarks>
internal sealed class ActorLock(int maxDepth)
{
    private readonly LinkedList<Flight> _flights = new();

    /// <summary>Takes part in the flight of an id and waits for it to start.</summary>
    /// <returns>Completes when the call may run; then <see cref="Release"/> must be called once.</returns>
    /// <exception cref="ActorStackDepthException">Too many calls with this id; nothing is held.</exception>
    /// <exception cref="OperationCanceledException">Cancelled while waiting; nothing is held.</exception>
    public async ValueTask<Flight> Enter(string reentrancyId, CancellationToken cancellation)
    {
        var flight = Join(reentrancyId);
        try
        {
            await flight.Started.WaitAsync(cancellation);
            return flight;
        }
        catch (OperationCanceledException)
        {
            Release(flight);
            throw;
        }
    }

    /// <summary>Takes part in the flight of an id; the call may run once <see cref="Flight.Started"/> completes.</summary>
    public Flight Join(string reentrancyId)
    {
        lock (_flights)
        {
            var flight = Find(reentrancyId) ?? Open(reentrancyId);
            if (flight.Depth >= maxDepth)
            {
                // daprd forgets to undo the level here, and the actor stays locked for good; that is not worth imitating.
                throw new ActorStackDepthException();
            }

            flight.Depth++;
            return flight;
        }
    }

    /// <summary>Ends one call of a flight; the last one lets the next flight start.</summary>
    public void Release(Flight flight)
    {
        lock (_flights)
        {
            if (--flight.Depth > 0)
            {
                return;
            }

            _flights.Remove(flight);
            _flights.First?.Value.Start();
        }
    }

    private Flight? Find(string reentrancyId)
    {
        foreach (var flight in _flights)
        {
            if (flight.Id == reentrancyId)
            {
                return flight;
            }
        }

        return null;
    }

    private Flight Open(string reentrancyId)
    {
        var flight = new Flight(reentrancyId);
        _flights.AddLast(flight);
        if (_flights.First!.Value == flight)
        {
            flight.Start();
        }

        return flight;
    }

    /// <summary>The calls of one reentrancy id that are under way or wait.</summary>
    internal sealed class Flight(string id)
    {
        private readonly TaskCompletionSource _started = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public string Id { get; } = id;

        public int Depth { get; set; }

        /// <summary>Completes when the flight is the first in the queue.</summary>
        public Task Started => _started.Task;

        public void Start() => _started.TrySetResult();
    }
}

/// <summary>The reentrancy limit that the app announced is reached.</summary>
internal sealed class ActorStackDepthException() : Exception("maximum stack depth exceeded");
