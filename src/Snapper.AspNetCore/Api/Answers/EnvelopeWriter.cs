using System.Diagnostics;
using System.Text.Json;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>Writes answers: the envelope of the contract, alone or as a problem with the envelope's fields.</summary>
internal static class EnvelopeWriter
{
    /// <summary>The envelope as an object; a rejected one says why in <c>problem</c>.</summary>
    /// <param name="json">Where to.</param>
    /// <param name="envelope">What.</param>
    /// <param name="retryAfter">When a refused caller may come back, unless the envelope says so.</param>
    public static void Write(Utf8JsonWriter json, TransactionEnvelope envelope, TimeSpan retryAfter)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(envelope);
        json.WriteStartObject();
        WriteFields(json, envelope);
        if (envelope.Outcome == Outcome.Rejected)
        {
            WriteProblemMember(json, Problem.Of(envelope, retryAfter)!.Value);
        }

        json.WriteEndObject();
    }

    /// <summary>The envelope without a result that would be too large; <c>problem</c> says so.</summary>
    internal static void WriteShortened(Utf8JsonWriter json, TransactionEnvelope envelope, in Problem omission)
    {
        json.WriteStartObject();
        WriteFields(json, envelope, withResult: false);
        WriteProblemMember(json, omission);
        json.WriteEndObject();
    }

    /// <summary>The envelope of a request that could not be read: <c>id</c> (or null), <c>outcome</c> and <c>problem</c>.</summary>
    public static void Write(Utf8JsonWriter json, RequestRefusal refusal, TimeSpan retryAfter)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(refusal);
        WriteRejected(json, refusal.Id, Problem.Of(refusal, retryAfter));
    }

    /// <summary>A rejected envelope with this problem.</summary>
    public static void WriteRejected(Utf8JsonWriter json, string? id, in Problem problem)
    {
        ArgumentNullException.ThrowIfNull(json);
        json.WriteStartObject();
        json.WriteString("id"u8, id);
        json.WriteString("outcome"u8, "rejected"u8);
        WriteProblemMember(json, problem);
        json.WriteEndObject();
    }

    /// <summary>
    /// The envelope of a request that the worker failed on unexpectedly: what became of it is unknown, and saying
    /// anything else could be wrong.
    /// </summary>
    public static void WriteUnknown(Utf8JsonWriter json, TransactionRequest request)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(request);
        json.WriteStartObject();
        json.WriteString("id"u8, request.Id);
        json.WriteString("outcome"u8, "inDoubt"u8);
        json.WriteString("mode"u8, Name(request.Mode));
        json.WriteNumber("transaction"u8, 0);
        json.WriteNumber("batch"u8, 0);
        json.WriteNumber("attempts"u8, 0);
        json.WriteEndObject();
    }

    /// <summary>A problem object that carries the envelope's fields.</summary>
    public static void WriteProblem(Utf8JsonWriter json, in Problem problem, TransactionEnvelope envelope)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(envelope);
        json.WriteStartObject();
        problem.WriteFields(json);
        WriteFields(json, envelope);
        json.WriteEndObject();
    }

    /// <summary>A problem object for a request that could not be read: with <c>id</c> (or null) and <c>outcome</c>.</summary>
    public static void WriteProblem(Utf8JsonWriter json, in Problem problem, RequestRefusal refusal)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(refusal);
        json.WriteStartObject();
        problem.WriteFields(json);
        json.WriteString("id"u8, refusal.Id);
        json.WriteString("outcome"u8, "rejected"u8);
        json.WriteEndObject();
    }

    private static void WriteFields(Utf8JsonWriter json, TransactionEnvelope envelope, bool withResult = true)
    {
        // A request that never reached a worker has an id only if the caller gave one.
        json.WriteString("id"u8, envelope.Id.Length == 0 ? null : envelope.Id);
        json.WriteString("outcome"u8, Name(envelope.Outcome));
        json.WriteString("mode"u8, Name(envelope.Mode));
        json.WriteNumber("transaction"u8, envelope.Transaction);
        json.WriteNumber("batch"u8, envelope.Batch);
        json.WriteNumber("attempts"u8, envelope.Attempts);
        if (envelope.Worker is { } worker)
        {
            json.WriteString("worker"u8, worker);
        }

        if (envelope.IsResultDropped)
        {
            json.WriteBoolean("resultDropped"u8, true);
        }
        else if (withResult && envelope.Outcome == Outcome.Committed)
        {
            json.WritePropertyName("result"u8);
            // The worker's own serializer made it; checking it again would cost as much as writing the rest.
            json.WriteRawValue(envelope.Result.IsEmpty ? "null"u8 : envelope.Result.Span, skipInputValidation: true);
        }

        if (envelope.Abort is { } abort)
        {
            WriteAbort(json, abort);
        }

        if (envelope.Touched is { } touched)
        {
            WriteTouched(json, touched);
        }
    }

    /// <summary>The field <c>abort</c>.</summary>
    internal static void WriteAbort(Utf8JsonWriter json, AbortDetails abort)
    {
        json.WriteStartObject("abort"u8);
        json.WriteString("reason"u8, abort.Reason is AbortReason.None or AbortReason.Undone
            ? throw new UnreachableException($"{abort.Reason} is never shown to a client.")
            : AbortReasons.Name(abort.Reason));
        json.WriteString("message"u8, abort.Message);
        json.WriteBoolean("retryable"u8, abort.Retryable);
        if (abort.Actor is { } actor)
        {
            json.WriteStartObject("actor"u8);
            json.WriteString("type"u8, actor.Type);
            json.WriteString("id"u8, actor.Id);
            json.WriteEndObject();
        }

        if (abort.Code is { } code)
        {
            json.WriteString("code"u8, code.Code);
            if (code.Details is { } details)
            {
                json.WritePropertyName("details"u8);
                json.WriteRawValue(details, skipInputValidation: true); // the serializer made it
            }
        }

        json.WriteEndObject();
    }

    /// <summary>In the shape of a request's access, so that it can be pasted there: type -> id -> count.</summary>
    private static void WriteTouched(Utf8JsonWriter json, DeclaredAccess[] touched)
    {
        json.WriteStartObject("touched"u8);
        for (var first = 0; first < touched.Length; first++)
        {
            var type = touched[first].Actor.Type;
            if (IsNamedBefore(touched, first, type))
            {
                continue;
            }

            json.WriteStartObject(type);
            for (var i = first; i < touched.Length; i++)
            {
                if (touched[i].Actor.Type == type)
                {
                    json.WriteNumber(touched[i].Actor.Id, touched[i].Calls);
                }
            }

            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static bool IsNamedBefore(DeclaredAccess[] touched, int end, string type)
    {
        for (var i = 0; i < end; i++)
        {
            if (touched[i].Actor.Type == type)
            {
                return true;
            }
        }

        return false;
    }

    private static void WriteProblemMember(Utf8JsonWriter json, in Problem problem)
    {
        json.WriteStartObject("problem"u8);
        problem.WriteFields(json);
        json.WriteEndObject();
    }

    private static ReadOnlySpan<byte> Name(TransactionMode mode) => mode == TransactionMode.Pact ? "pact"u8 : "act"u8;

    private static ReadOnlySpan<byte> Name(Outcome outcome) => outcome switch
    {
        Outcome.Committed => "committed"u8,
        Outcome.Aborted => "aborted"u8,
        Outcome.InDoubt => "inDoubt"u8,
        Outcome.Running => "running"u8,
        Outcome.Rejected => "rejected"u8,
        _ => throw new UnreachableException($"No name for {outcome}."),
    };
}
