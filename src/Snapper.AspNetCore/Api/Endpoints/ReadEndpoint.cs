using System.Globalization;
using System.Text.Json;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>
/// The states of several actors at one point in the order of all transactions: a PACT that reads, over exactly these
/// actors.
/// </summary>
internal sealed class ReadEndpoint(ITransactionService door, ApiOptions options, Func<IClusterControl?> control)
{
    /// <summary>POST /v1/reads.</summary>
    public async Task Read(HttpContext context)
    {
        EnvelopeAnswer.NameWorker(context, control());
        var caller = context.Features.Get<RequestCaller>() ?? RequestCaller.Everybody;
        using var held = options.Bytes.Open(caller);
        using var body = await PooledBody.Read(context.Request, options, held, holdsTransactions: false);
        if (body.Refused is { } unread)
        {
            await Respond.SendUnread(context, unread, options.RetryAfter);
            return;
        }

        var (request, wrong) = Parse(body.Bytes, RequestOrigin.Of(context));
        if (request is null)
        {
            await Respond.Send(context, Problem.Invalid(wrong!));
            return;
        }

        if (options.Rights?.ReadRefusal(caller, request) is { } refusal)
        {
            await Respond.Send(context, Problem.Of(refusal, options.RetryAfter));
            return;
        }

        using var place = options.Places?.Take(caller, 1);
        if (place?.Refused is { } full)
        {
            await Respond.Send(context, Problem.Of(full, options.RetryAfter));
            return;
        }

        var envelope = await door.Submit(request, context.RequestAborted);
        held.Hold(envelope.Result.Length);
        if (envelope.Outcome != Outcome.Committed)
        {
            await EnvelopeAnswer.Send(context, envelope, options);
            return;
        }

        using var buffer = JsonBuffer.Rent();
        Write(buffer.Json, envelope);
        await Respond.Send(context, StatusCodes.Status200OK, Respond.Json, buffer.Written);
    }

    private (TransactionRequest? Request, string? Wrong) Parse(ReadOnlySpan<byte> body, RequestOrigin origin)
    {
        ReadsRequest? asked;
        try
        {
            asked = JsonSerializer.Deserialize(body, ContractJson.Strict.ReadsRequest);
        }
        catch (JsonException wrong)
        {
            return (null, BodyErrors.Words(wrong, "actors ([{type, id}]), timeoutMs"));
        }

        if (asked?.Actors is not { Count: > 0 and <= ApiOptions.AccessActorsMax } actors)
        {
            return (null,
                string.Create(CultureInfo.InvariantCulture,
                $"actors must hold 1 to {ApiOptions.AccessActorsMax} actors; there are {asked?.Actors?.Count ?? 0}."));
        }

        for (var i = 0; i < actors.Count; i++)
        {
            var error = actors[i] is not { Type: not null, Id: not null } ? "it must be an object with type and id"
                : NameRules.ActorTypeError(actors[i].Type) ?? NameRules.ActorIdError(actors[i].Id);
            if (error is not null)
            {
                return (null, string.Create(CultureInfo.InvariantCulture, $"actors[{i}]: {error}."));
            }
        }

        if (asked.TimeoutMs is < 1 or > 300_000)
        {
            return (null, "timeoutMs must be a whole number of milliseconds, 1 to 300000.");
        }

        ActorKey[] keys = [.. actors.Select(static actor => new ActorKey(actor.Type, actor.Id)).Distinct()];
        return (
            new TransactionRequest
            {
                Actor = keys[0],
                Method = StateMethods.ReadAll,
                Input = JsonSerializer.SerializeToUtf8Bytes(new ReadsRequest { Actors = actors },
                    ContractJson.Default.ReadsRequest),
                Mode = TransactionMode.Pact,
                Access = [.. keys.Select(static key => new DeclaredAccess(key, 1))],
                Timeout = asked.TimeoutMs is { } milliseconds ? TimeSpan.FromMilliseconds(milliseconds)
                    : options.DefaultTimeout,
                Caller = origin.Caller,
                CountedFor = origin.CountedFor,
                TraceParent = origin.TraceParent,
                TraceState = origin.TraceState,
            },
            null);
    }

    private static void Write(Utf8JsonWriter json, TransactionEnvelope envelope)
    {
        json.WriteStartObject();
        json.WriteStartObject("asOf"u8);
        json.WriteNumber("transaction"u8, envelope.Transaction);
        json.WriteEndObject();
        json.WritePropertyName("actors"u8);

        // Our own serializer made it: {"actors":[...]}. States are not parsed once more, however deep they are.
        var result = envelope.Result.Span;
        json.WriteRawValue(result["{\"actors\":".Length..^1], skipInputValidation: true);
        json.WriteEndObject();
    }
}
