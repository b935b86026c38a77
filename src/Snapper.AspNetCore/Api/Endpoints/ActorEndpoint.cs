using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>
/// The actor door: what <c>.../actors/{type}/{id}/method/StartTransaction</c> answers. Always an envelope for HTTP 200,
/// because Dapr turns every other status of an app into a bare 500.
/// </summary>
internal static class ActorEndpoint
{
    public const string Method = "StartTransaction";

    /// <summary>Runs one call of the door.</summary>
    /// <param name="door">Where requests go.</param>
    /// <param name="options">Limits.</param>
    /// <param name="actorType">From the address, decoded; any text.</param>
    /// <param name="actorId">From the address, decoded; any text.</param>
    /// <param name="idIsDoubtful">The caller most likely meant another actor: rejected with 400.</param>
    /// <param name="body">A request without <c>actor</c>; may be reused when this method has returned its task.</param>
    /// <param name="tooLarge">The transport refused to read the body because of its length; <paramref name="body"/> is ignored.</param>
    /// <param name="origin">Who calls.</param>
    /// <param name="caller">The authenticated caller; null: callers are not authenticated.</param>
    /// <param name="held">What the call holds; null: it is not counted.</param>
    /// <param name="idempotencyKey">The header of that name; null: there is none.</param>
    /// <param name="cancellation">The caller went away.</param>
    /// <remarks>Throws only what <see cref="ITransactionService.Submit"/> throws: what became of the transaction is then unknown.</remarks>
    /// <returns>The envelope as UTF-8 JSON; what was refused has outcome <c>rejected</c> and a <c>problem</c>.</returns>
    public static Task<ReadOnlyMemory<byte>> Call(
        ITransactionService door, ApiOptions options, string actorType, string actorId, bool idIsDoubtful,
            ReadOnlySpan<byte> body,
        bool tooLarge, RequestOrigin origin, RequestCaller? caller, HeldBytes? held, string? idempotencyKey,
            CancellationToken cancellation)
    {
        if (AddressRefusal(options, actorType, actorId, Method, idIsDoubtful, tooLarge) is { } unfit)
        {
            return Refused(new RequestRefusal(unfit.Kind, unfit.Detail, null), options);
        }

        var parsed = TransactionRequestReader.ReadForActor(body, new ActorKey(actorType, actorId), origin, options);
        if (parsed.Request is not { } request)
        {
            return Refused(parsed.Refusal!, options);
        }

        if (IdempotencyKey.Apply(idempotencyKey, ref request) is { } badKey)
        {
            return Refused(badKey, options);
        }

        caller ??= RequestCaller.Everybody;
        return options.Rights?.Refusal(caller, request) is { } refusal
            ? Refused(new RequestRefusal(refusal.Kind, refusal.Detail, request.Id), options)
            : Run(door, request, options, caller, held, cancellation);
    }

    /// <summary>Looks at a call before its body is read.</summary>
    /// <returns>Null: it can be read.</returns>
    public static Rejection? AddressRefusal(
        ApiOptions options, string actorType, string actorId, string method, bool idIsDoubtful, bool tooLarge)
    {
        var wrong = NameRules.ActorTypeError(actorType) ?? NameRules.ActorIdError(actorId)
            ?? NameRules.MethodError(method);
        return wrong is not null ? new Rejection(RejectionKind.Invalid, $"The address is wrong: {wrong}.")
            : idIsDoubtful ? new Rejection(RejectionKind.Invalid, IsDoubtful(actorId))
            : tooLarge ? new Rejection(RejectionKind.TooLarge, TransactionRequestReader.TooLarge(options))
            : null;
    }

    // The id was encoded in another way than encoders do.
    private static string IsDoubtful(string actorId) =>
        $"The address is wrong: it arrived as the actor {ClippedText.Of(actorId)}, but with an escape "
        + "that no encoder makes. "
        + "Encode an id that contains a % twice.";

    /// <summary>What is wrong with an address whose id cannot be decoded, as a sentence.</summary>
    public static string IsUnreadable(string escapedId) =>
        $"The address is wrong: it arrived with the actor id {ClippedText.Of(escapedId)}, "
        + "which is not percent-encoded UTF-8.";

    /// <summary>What a call answers that is refused before it is read.</summary>
    /// <param name="options">Limits.</param>
    /// <param name="refusal">Why.</param>
    /// <returns>The envelope as UTF-8 JSON, with outcome <c>rejected</c>.</returns>
    public static Task<ReadOnlyMemory<byte>> Refuse(ApiOptions options, Rejection refusal)
    {
        using var buffer = JsonBuffer.Rent();
        EnvelopeWriter.WriteRejected(buffer.Json, null, Problem.Of(refusal, options.RetryAfter));
        return Task.FromResult<ReadOnlyMemory<byte>>(buffer.Written.ToArray());
    }

    private static async Task<ReadOnlyMemory<byte>> Run(
        ITransactionService door, TransactionRequest request, ApiOptions options, RequestCaller caller, HeldBytes? held,
        CancellationToken cancellation)
    {
        using var place = options.Places?.Take(caller, 1);
        if (place?.Refused is { } full)
        {
            return await Refuse(options, full);
        }

        var envelope = await door.Submit(request, cancellation);
        held?.Hold(envelope.Result.Length);
        using var buffer = JsonBuffer.Rent();
        EnvelopeWriter.Write(buffer.Json, envelope, options.RetryAfter);
        return buffer.Written.ToArray();
    }

    private static Task<ReadOnlyMemory<byte>> Refused(RequestRefusal refusal, ApiOptions options)
    {
        using var buffer = JsonBuffer.Rent();
        EnvelopeWriter.Write(buffer.Json, refusal, options.RetryAfter);
        return Task.FromResult<ReadOnlyMemory<byte>>(buffer.Written.ToArray());
    }
}
