using Snapper.Runtime.Door;

namespace Snapper.Server.Api;

/// <summary>
/// The door that the HTTP surface knows for the life of the process. Behind it stands the worker's real door, or nothing
/// while the worker starts, recovers or stops: requests are then refused with 503 and were not executed.
/// </summary>
/// <remarks>Thread-safe. A request that has passed the switch stays with the door it met.</remarks>
public sealed class LifecycleGate(TimeSpan retryAfter) : ITransactionService
{
    private volatile Position _position = new(null, "The worker is starting.");

    /// <summary>Closed, with "starting" as the reason; refused callers are told to come back after one second.</summary>
    public LifecycleGate()
        : this(TimeSpan.FromSeconds(1))
    {
    }

    /// <summary>Why requests are refused now; null when they are let through.</summary>
    public string? ClosedBecause => _position is { IsOpen: false } closed ? closed.Reason : null;

    /// <summary>Lets requests through to a door.</summary>
    public void Open(ITransactionService door)
    {
        ArgumentNullException.ThrowIfNull(door);
        _position = new Position(door, string.Empty);
    }

    /// <summary>
    /// Refuses requests from now on. Those that have an id are refused by the door behind, which is closed now or soon:
    /// it alone knows whether the id has run (I2).
    /// </summary>
    /// <param name="reason">A sentence for the caller, e.g. <c>The worker is stopping.</c></param>
    public void Close(string reason)
    {
        ArgumentException.ThrowIfNullOrEmpty(reason);
        _position = new Position(_position.Door, reason);
    }

    /// <inheritdoc/>
    public Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(request);
        var position = _position;
        return position.Door is { } door && (position.IsOpen || request.Id is not null)
            ? door.Submit(request, cancellation)
            : Task.FromResult(Refused(request.Id ?? string.Empty, request.Mode, position.Reason));
    }

    /// <inheritdoc/>
    /// <remarks>While closed the answer is a refusal, not null: null would say that nothing is known of the id.</remarks>
    public Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation)
    {
        var position = _position;
        return position is { IsOpen: true, Door: { } door }
            ? door.Find(id, cancellation)
            : Task.FromResult<TransactionEnvelope?>(Refused(id, TransactionMode.Pact, position.Reason));
    }

    private TransactionEnvelope Refused(string id, TransactionMode mode, string reason) => new()
    {
        Id = id,
        Outcome = Outcome.Rejected,
        Mode = mode,
        Rejection = new Rejection(RejectionKind.Unavailable, reason, retryAfter),
    };

    private sealed record Position(ITransactionService? Door, string Reason)
    {
        public bool IsOpen => Reason.Length == 0;
    }
}
