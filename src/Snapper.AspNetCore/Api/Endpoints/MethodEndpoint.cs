using System.Globalization;
using System.Text.Json;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>
/// The actor door for callers that call a method by its own name, as the actor proxies of Dapr's SDKs do: the call is a
/// transaction with that root, and the answer is the bare
/// result.
/// </summary>
/// <param name="door">Where requests go.</param>
/// <param name="options">Limits.</param>
/// <param name="hasResult">
/// Whether a method of an actor type answers with a value; one that is not known here does.
/// </param>
/// <param name="takesList">
/// Whether the input of a method is an array: then one element alone is no argument list.
/// </param>
internal sealed class MethodEndpoint(ITransactionService door, ApiOptions options, Func<string, string, bool> hasResult,
    Func<string, string, bool> takesList)
{
    /// <summary>The exception's type that a typed proxy shows.</summary>
    private const string ExceptionType = "Snapper.Transaction";

    /// <summary>Runs one call.</summary>
    /// <param name="call">Its address and body.</param>
    /// <param name="type">The actor's type, without a worker's name.</param>
    /// <param name="isTooLarge">The body is over the limit.</param>
    /// <param name="origin">The caller.</param>
    /// <param name="caller">The authenticated caller; null: callers are not authenticated.</param>
    /// <param name="held">What the call holds; null: it is not counted.</param>
    /// <param name="cancellation">The caller went away.</param>
    public async ValueTask<ActorReply> Call(
        ActorCall call, string type, bool isTooLarge, RequestOrigin origin, RequestCaller? caller, HeldBytes? held,
            CancellationToken cancellation)
    {
        if (TryRead(call, type, isTooLarge, origin, out var request) is { } problem)
        {
            return Refuse(call, problem);
        }

        caller ??= RequestCaller.Everybody;
        if (options.Rights?.Refusal(caller, request) is { } refusal)
        {
            return Refuse(call, Problem.Of(refusal, options.RetryAfter));
        }

        using var place = options.Places?.Take(caller, 1);
        if (place?.Refused is { } full)
        {
            return Refuse(call, Problem.Of(full, options.RetryAfter));
        }

        var envelope = await door.Submit(request, cancellation);
        held?.Hold(envelope.Result.Length);
        return Reply(call, request, envelope);
    }

    /// <summary>What a call answers that is refused before it is read.</summary>
    public ActorReply Refuse(in ActorCall call, Rejection refusal) =>
        Refuse(call, Problem.Of(refusal, options.RetryAfter));

    private ActorReply Refuse(in ActorCall call, in Problem problem)
    {
        if (call.WantsEnvelope)
        {
            using var envelope = JsonBuffer.Rent();
            EnvelopeWriter.WriteRejected(envelope.Json, null, problem);
            return new ActorReply(envelope.Written.ToArray());
        }

        return Failed(call, problem, abort: null);
    }

    private Problem? TryRead(
        in ActorCall call, string type, bool isTooLarge, RequestOrigin origin, out TransactionRequest request)
    {
        request = null!;
        var unfit = ActorEndpoint.AddressRefusal(
            options, type, call.ActorId, call.Method, call.IdIsDoubtful, isTooLarge);
        if (unfit is not null)
        {
            return Problem.Of(unfit, options.RetryAfter);
        }

        if (TryReadInput(call, type, out var input) is { } unreadable)
        {
            return unreadable;
        }

        request = new TransactionRequest
        {
            Actor = new ActorKey(type, call.ActorId),
            Method = call.Method,
            Input = input.ToArray(), // the body is not there any more when the method runs again
            Mode = TransactionMode.Act,
            AccessSource = AccessSource.Open,
            Timeout = options.DefaultTimeout,
            Caller = origin.Caller,
            CountedFor = origin.CountedFor,
            TraceParent = origin.TraceParent,
            TraceState = origin.TraceState,
        };
        return IdempotencyKey.Apply(call.IdempotencyKey, ref request) is { } badKey
            ? Problem.Of(badKey, options.RetryAfter)
            : null;
    }

    private Problem? TryReadInput(in ActorCall call, string type, out ReadOnlyMemory<byte> input)
    {
        input = call.Body;
        if (call.IsRemoting)
        {
            var isXml = !input.IsEmpty && input.Span[0] != (byte)'{';
            return ActorRemoting.TryReadArgument(call.Body, out input) is not { } why ? null
                : isXml ? new Problem(415, "urn:snapper:unsupported-media-type", "Unsupported media type", why)
                : Problem.Invalid(why);
        }

        try
        {
            input = OnlyElement(call.Body, takesList(type, call.Method));
            return null;
        }
        catch (JsonException wrong)
        {
            return Problem.Invalid(JsonProblem.Of(wrong));
        }
    }

    // The SDK for JavaScript sends an array of its arguments.
    private static ReadOnlyMemory<byte> OnlyElement(ReadOnlyMemory<byte> body, bool isList)
    {
        if (body.IsEmpty)
        {
            return body;
        }

        var json = new Utf8JsonReader(body.Span);
        json.Read();
        var input = body;
        if (json.TokenType == JsonTokenType.StartArray && json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            var isArgument = !isList || json.TokenType == JsonTokenType.StartArray;
            var start = (int)json.TokenStartIndex;
            json.Skip();
            var first = body[start..(int)json.BytesConsumed];
            input = json.Read() && json.TokenType == JsonTokenType.EndArray && isArgument ? first : body;
        }

        while (json.Read())
        {
            // Throws where the body is not one JSON value.
        }

        return input;
    }

    private ActorReply Reply(in ActorCall call, TransactionRequest request, TransactionEnvelope envelope)
    {
        if (call.WantsEnvelope)
        {
            using var buffer = JsonBuffer.Rent();
            EnvelopeWriter.Write(buffer.Json, envelope, options.RetryAfter);
            return new ActorReply(buffer.Written.ToArray());
        }

        if (Problem.Of(envelope, options.RetryAfter) is { } problem)
        {
            return Failed(
                call, problem.Status == 400 ? OfArguments(problem, call, request.Actor.Type) : problem, envelope.Abort);
        }

        if (envelope.IsResultDropped)
        {
            const string dropped =
                "The transaction has committed, and its result was too large to be kept for a repetition.";
            return Failed(call, new Problem(410, "urn:snapper:result-dropped", "Result dropped", dropped), abort: null);
        }

        var result = envelope.Result.IsEmpty ? "null"u8.ToArray() : envelope.Result;
        return !call.IsRemoting ? new ActorReply(result)
            : hasResult(request.Actor.Type, request.Method) ? new ActorReply(ActorRemoting.Result(result.Span))
            : new ActorReply(ReadOnlyMemory<byte>.Empty);
    }

    // An array is the whole input where a method reads one. Where it does not, arguments were meant.
    private Problem OfArguments(in Problem problem, in ActorCall call, string type)
    {
        var arguments = takesList(type, call.Method) ? 0 : Elements(call.Body.Span);
        return arguments <= 1 ? problem : Problem.Invalid(string.Create(
            CultureInfo.InvariantCulture,
            $"The call has {arguments} arguments, and a method of a transactional actor takes one, or none "
            + $"({problem.Detail})"));
    }

    // Of a body that was read already.
    private static int Elements(ReadOnlySpan<byte> body)
    {
        var json = new Utf8JsonReader(body);
        var count = 0;
        if (!body.IsEmpty && json.Read() && json.TokenType == JsonTokenType.StartArray)
        {
            for (; json.Read() && json.TokenType != JsonTokenType.EndArray; count++)
            {
                json.Skip();
            }
        }

        return count;
    }

    // A typed proxy rethrows what comes as an exception. Of all other failures daprd makes a bare 500.
    private static ActorReply Failed(in ActorCall call, in Problem problem, AbortDetails? abort)
    {
        var reason = abort is null ? problem.Type[(problem.Type.LastIndexOf(':') + 1)..]
            : AbortReasons.Name(abort.Reason);
        if (call.IsRemoting)
        {
            var code = abort?.Code is { } given ? $"{reason} {given.Code}" : reason;
            var advice = abort is { Retryable: true } || problem.RetryAfter is not null ? " [retryable]" : "";
            return new ActorReply(
                ActorRemoting.Error(ExceptionType, $"{code}: {problem.Detail}{advice}"), "application/octet-stream")
            {
                ErrorHeader = ActorRemoting.ErrorHeaderText,
            };
        }

        using var buffer = JsonBuffer.Rent();
        buffer.Json.WriteStartObject();
        problem.WriteFields(buffer.Json);
        buffer.Json.WriteString("reason"u8, reason);
        if (abort is not null)
        {
            EnvelopeWriter.WriteAbort(buffer.Json, abort);
        }

        buffer.Json.WriteEndObject();
        buffer.Json.Flush();
        return new ActorReply(buffer.Written.ToArray(), "application/problem+json") { Status = problem.Status };
    }

    // A problem without a type of its own has its title.
    private static string ReasonOf(in Problem problem) => problem.Type == "about:blank"
        ? problem.Title.ToLowerInvariant().Replace(' ', '-')
        : problem.Type[(problem.Type.LastIndexOf(':') + 1)..];
}
