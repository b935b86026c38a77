using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Runtime.Door;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// The actor types that this worker serves to its sidecar: each public type is a relay (DESIGN 2), and each type pinned to
/// this worker, <c>Account@w1</c>, leads to the same door, so that calls that do arrive there find the directory.
/// </summary>
internal sealed class SidecarActorHost(
    string worker, IReadOnlyList<string> types, ITransactionService door, ApiOptions options, MailboxEndpoint mailbox,
    AuthorizationMiddleware? gate = null, Func<string, string, bool>? hasResult = null,
    Func<string, string, bool>? takesList = null) : IActorHost
{
    private readonly MethodEndpoint _methods = new(
        door, options, hasResult ?? (static (_, _) => true), takesList ?? (static (_, _) => false));
    private readonly string _pinned = "@" + worker;
    private readonly string _mailboxType = MailboxEndpoint.ActorType + "@" + worker;

    /// <summary>What a worker of this name registers: each type, each type pinned to it, and its mailbox.</summary>
    public static IReadOnlyList<string> TypesOf(string worker, IReadOnlyList<string> types) =>
        [.. types, .. types.Append(MailboxEndpoint.ActorType).Select(type => $"{type}@{worker}")];

    public IReadOnlyList<string> ActorTypes { get; } = TypesOf(worker, types);

    /// <summary>Of packets between workers nothing is counted: what is under way ends by them.</summary>
    public IBodyRoom? RoomOf(string actorType) => actorType == _mailboxType ? null : options.Bytes.Open(null);

    public async ValueTask<ActorReply> Invoke(Sidecar.Hosting.ActorCall call, CancellationToken cancellation)
    {
        if (call.ActorType == _mailboxType)
        {
            return await mailbox.Call(call);
        }

        var held = (HeldBytes?)call.Room;
        if (call.NoRoom && held?.Refused is { } noRoom)
        {
            return await Refuse(call, noRoom);
        }

        using var place = options.Places?.TakeOfSidecar();
        if (place?.Refused is { } full)
        {
            return await Refuse(call, full);
        }

        RequestCaller? caller = null;
        if (gate?.OfActorCall(call.Authorization, out caller) is { } refused)
        {
            return await Refuse(call, refused);
        }

        if (held is not null && caller is not null && !held.BelongsTo(caller))
        {
            return await Refuse(call, held.Refused!);
        }

        if (call.IdIsUnreadable)
        {
            return await Refuse(call, new Rejection(RejectionKind.Invalid, ActorEndpoint.IsUnreadable(call.ActorId)));
        }

        var type = call.ActorType.EndsWith(_pinned, StringComparison.Ordinal) ? call.ActorType[..^_pinned.Length] : call.ActorType;
        var origin = RequestOrigin.Of(caller?.Name, call.TraceParent, call.TraceState, caller?.Apart);
        if (call.Method != ActorEndpoint.Method)
        {
            return await _methods.Call(call, type, IsTooLarge(call), origin, caller, held, cancellation);
        }

        return new ActorReply(await ActorEndpoint.Call(
            door, options, type, call.ActorId, call.IdIsDoubtful, call.Body.Span, IsTooLarge(call),
                origin, caller, held, call.IdempotencyKey, cancellation));
    }

    private async ValueTask<ActorReply> Refuse(Sidecar.Hosting.ActorCall call, Rejection refusal) =>
        call.Method == ActorEndpoint.Method
        ? new ActorReply(await ActorEndpoint.Refuse(options, refusal))
        : _methods.Refuse(call, refusal);

    /// <summary>Packets of a mailbox may be larger than requests, and the transport has one limit for all.</summary>
    private bool IsTooLarge(in Sidecar.Hosting.ActorCall call) => call.BodyTooLarge || call.Body.Length > options.TransactionBodyBytesMax;

    /// <summary>A hint without weight: actors live in the worker's memory by its own rules (L8).</summary>
    public ValueTask Deactivate(string actorType, string actorId, CancellationToken cancellation) => ValueTask.CompletedTask;
}
