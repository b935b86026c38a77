using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api;

/// <summary>
/// The door that the HTTP surface knows for the life of the process. Behind it stands the worker's real door, or nothing
/// while the worker starts and recovers: requests are then refused with 503 and were not executed. Of a caller's id an
/// earlier incarnation may have an outcome, which only the recovered log tells: that is in doubt. A worker that stops
/// refuses by itself.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class LifecycleGate : ITransactionService
{
    private const string Starting = "The worker is starting.";

    private volatile ITransactionService? _door;

    /// <summary>Why requests are refused now; null when they are let through.</summary>
    public string? ClosedBecause => _door is null ? Starting : null;

    /// <summary>Lets requests through to a door.</summary>
    public void Open(ITransactionService door)
    {
        ArgumentNullException.ThrowIfNull(door);
        _door = door;
    }

    /// <inheritdoc/>
    public Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _door is { } door
            ? door.Submit(request, cancellation)
            : Task.FromResult(request.Id is { } id ? InDoubt(id, request.Mode) : Refused(string.Empty, request.Mode));
    }

    /// <inheritdoc/>
    /// <remarks>While closed the answer is a refusal, not null: null would say that nothing is known of the id.</remarks>
    public Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation) =>
        _door is { } door
            ? door.Find(id, cancellation)
            : Task.FromResult<TransactionEnvelope?>(Refused(id, TransactionMode.Pact));

    private static TransactionEnvelope InDoubt(string id, TransactionMode mode) =>
        new() { Id = id, Outcome = Outcome.InDoubt, Mode = mode, Doubt = Starting };

    private TransactionEnvelope Refused(string id, TransactionMode mode) => new()
    {
        Id = id,
        Outcome = Outcome.Rejected,
        Mode = mode,
        Rejection = new Rejection(RejectionKind.Unavailable, Starting, TimeSpan.FromSeconds(1)),
    };
}
