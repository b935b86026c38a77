using Microsoft.AspNetCore.Http;

namespace Snapper.Sidecar.Hosting;

/// <summary>
/// What a sidecar's actor calls arrive at. Thread-safe: calls to one actor arrive in parallel, in no order, and possibly
/// more than once (a sidecar repeats calls when the hosts of a type change).
/// </summary>
public interface IActorHost
{
    /// <summary>
    /// Actor types served here, at least one, each once. The sidecar asks once, when it first reaches the app; a later change is not seen.
    /// </summary>
    IReadOnlyList<string> ActorTypes { get; }

    /// <summary>What counts the bytes of a call that is about to be read; null: nothing does.</summary>
    /// <param name="actorType">One of <see cref="ActorTypes"/>.</param>
    IBodyRoom? RoomOf(string actorType) => null;

    /// <summary>Runs a call. The answer reaches the caller with HTTP 200 unless it names another status.</summary>
    /// <param name="call">The call, to one of <see cref="ActorTypes"/>. Its body lives only until the returned task completes.</param>
    /// <param name="cancellation">
    /// The caller went away, or the sidecar gave the call up and may send it again.
    /// </param>
    /// <exception cref="OperationCanceledException">Allowed once <paramref name="cancellation"/> is signalled; no caller waits for an answer.</exception>
    /// <remarks>Any other exception is a defect: it is logged, and the caller gets the sidecar's bare 500.</remarks>
    ValueTask<ActorReply> Invoke(ActorCall call, CancellationToken cancellation);

    /// <summary>
    /// The sidecar dropped its entry for an actor (it was idle, its host stops, or its type moves). A hint without
    /// weight: calls to the actor may still run, and more may follow.
    /// </summary>
    ValueTask Deactivate(string actorType, string actorId, CancellationToken cancellation);
}

/// <summary>One call to an actor.</summary>
public readonly struct ActorCall
{
    /// <summary>One of <see cref="IActorHost.ActorTypes"/>.</summary>
    public required string ActorType { get; init; }

    /// <summary>Any non-empty text, decoded; as it stood in the address when <see cref="IdIsUnreadable"/>.</summary>
    public required string ActorId { get; init; }

    /// <summary>The id in the address is no percent-encoded UTF-8: it names no actor. Answer as 400 would.</summary>
    public bool IdIsUnreadable { get; init; }

    /// <summary>
    /// The address has an escape that no encoder makes: most likely the caller wrote an id with a <c>%</c> and encoded it once, daprd
    /// passed the <c>%</c> on as it is, and <see cref="ActorId"/> is another actor's. Answer as 400 would.
    /// </summary>
    public bool IdIsDoubtful { get; init; }

    /// <summary>Method name, decoded, or as it stood in the address when it is no percent-encoded UTF-8; not checked against anything.</summary>
    public required string Method { get; init; }

    /// <summary>The request body; empty when there is none or <see cref="BodyTooLarge"/>. Valid until the call's task completes: copy what is kept.</summary>
    public ReadOnlyMemory<byte> Body { get; init; }

    /// <summary>The body is over <see cref="DaprHostOptions.MaxBodyBytes"/> and was thrown away; answer as 413 would.</summary>
    public bool BodyTooLarge { get; init; }

    /// <summary>What <see cref="IActorHost.RoomOf"/> gave for it.</summary>
    public IBodyRoom? Room { get; init; }

    /// <summary>There was no room for the body, and it was thrown away; answer as 503 would.</summary>
    public bool NoRoom { get; init; }

    /// <summary>Reentrancy id; daprd puts a random one where the caller sent none. Null when the call did not come through a sidecar.</summary>
    public string? ReentrancyId { get; init; }

    /// <summary>W3C <c>traceparent</c>, as sent; null without.</summary>
    public string? TraceParent { get; init; }

    /// <summary>W3C <c>tracestate</c>, as sent; null without.</summary>
    public string? TraceState { get; init; }

    /// <summary>App id that the call claims to come from; null without. Callers can set it freely: for traces, not for rights.</summary>
    public string? CallerAppId { get; init; }

    /// <summary><c>Authorization</c> header, as sent; null without.</summary>
    public string? Authorization { get; init; }

    /// <summary><c>Idempotency-Key</c> header, as sent; null without.</summary>
    public string? IdempotencyKey { get; init; }

    /// <summary>The call is of a typed proxy of Dapr's .NET SDK (<see cref="ActorRemoting"/>).</summary>
    public bool IsRemoting { get; init; }

    /// <summary><see cref="DaprHeaders.Envelope"/> asks for an envelope, whatever the outcome.</summary>
    public bool WantsEnvelope { get; init; }
}

/// <summary>The answer to an actor call.</summary>
/// <param name="Body">Sent as it is; may be empty. It must not change until it is sent, which is soon after the call's task completes.</param>
/// <param name="ContentType">Media type of the body.</param>
public readonly record struct ActorReply(ReadOnlyMemory<byte> Body, string ContentType = "application/json")
{
    /// <summary>HTTP status. daprd makes a bare 500 of every other one than 200.</summary>
    public int Status { get; init; } = StatusCodes.Status200OK;

    /// <summary>Text of <see cref="ActorRemoting.ErrorHeader"/>; null: no exception.</summary>
    public string? ErrorHeader { get; init; }
}
