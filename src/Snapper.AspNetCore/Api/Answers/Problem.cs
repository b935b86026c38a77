using System.Diagnostics;
using System.Text.Json;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>A failure as RFC 9457 says it.</summary>
/// <param name="Status">HTTP status.</param>
/// <param name="Type">URI of the kind of problem: programs compare it. Two problems with one status differ here.</param>
/// <param name="Title">The kind in words, always the same.</param>
/// <param name="Detail">This case in words.</param>
/// <param name="RetryAfter">When trying again unchanged makes sense; null: not because of time.</param>
internal readonly record struct Problem(
    int Status, string Type, string Title, string Detail, TimeSpan? RetryAfter = null)
{
    /// <summary>400: what was sent cannot be understood.</summary>
    public static Problem Invalid(string detail) => new(400, "urn:snapper:invalid-request", "Invalid request", detail);

    /// <summary>401: nobody knows who sends it.</summary>
    public static Problem Unauthorized(string detail) => new(401, "about:blank", "Unauthorized", detail);

    /// <summary>403: whoever sends it may not.</summary>
    public static Problem Forbidden(string detail) => new(403, "urn:snapper:forbidden", "Forbidden", detail);

    /// <summary>404: there is no such thing.</summary>
    public static Problem NotFound(string detail) => new(404, "urn:snapper:not-found", "Not found", detail);

    /// <summary>429: there is too much to do, or the caller has its part of it.</summary>
    public static Problem Overloaded(string detail, TimeSpan retryAfter) =>
        new(429, "urn:snapper:overloaded", "Overloaded", detail, retryAfter);

    /// <summary>The problem that an answer is; null when it is none (committed).</summary>
    public static Problem? Of(TransactionEnvelope envelope, TimeSpan retryAfter)
    {
        ArgumentNullException.ThrowIfNull(envelope);
        return envelope.Outcome switch
        {
            Outcome.Committed => null,
            Outcome.Aborted => Of(envelope.Abort ?? throw new UnreachableException("An aborted envelope says why."), retryAfter),
            Outcome.InDoubt => new Problem(504, "urn:snapper:in-doubt", "Outcome unknown yet", "The outcome is not known yet; ask by id, or send the request again with the same id." + (envelope.Doubt is { } why ? " " + why : "")),
            Outcome.Running => new Problem(504, "urn:snapper:running", "Still running", "The transaction is still running; ask by id."),
            Outcome.Rejected => Of(envelope.Rejection ?? throw new UnreachableException("A rejected envelope says why."), retryAfter),
            _ => throw new UnreachableException($"No status for {envelope.Outcome}."),
        };
    }

    /// <summary>The problem that a refused request is.</summary>
    public static Problem Of(RequestRefusal refusal, TimeSpan retryAfter)
    {
        ArgumentNullException.ThrowIfNull(refusal);
        return Of(new Rejection(refusal.Kind, refusal.Detail), retryAfter);
    }

    /// <summary>The problem that a rejection is.</summary>
    public static Problem Of(Rejection rejection, TimeSpan retryAfter)
    {
        ArgumentNullException.ThrowIfNull(rejection);
        var detail = rejection.Detail;
        return rejection.Kind switch
        {
            RejectionKind.Invalid => Invalid(detail),
            RejectionKind.NotFound => NotFound(detail),
            RejectionKind.IdConflict => new Problem(409, "urn:snapper:id-conflict", "Id already used by another request", detail),
            RejectionKind.TooLarge => new Problem(413, "urn:snapper:too-large", "Too large", detail),
            RejectionKind.TooMany => new Problem(422, "urn:snapper:too-many", "Too many actors or keys", detail),
            RejectionKind.Overloaded => Overloaded(detail, rejection.RetryAfter ?? retryAfter),
            RejectionKind.Unauthorized => Unauthorized(detail),
            RejectionKind.Forbidden => Forbidden(detail),
            RejectionKind.Full => new Problem(
                503, "urn:snapper:full", "Full", detail, rejection.RetryAfter ?? retryAfter),
            RejectionKind.Unavailable => new Problem(503, "urn:snapper:unavailable", "Unavailable", detail, rejection.RetryAfter ?? retryAfter),
            _ => throw new UnreachableException($"No status for {rejection.Kind}."),
        };
    }

    /// <summary>Writes type, title, status, detail and, where there is one, <c>retryAfterMs</c> into the object begun by the caller.</summary>
    public void WriteFields(Utf8JsonWriter json)
    {
        ArgumentNullException.ThrowIfNull(json);
        json.WriteString("type"u8, Type);
        json.WriteString("title"u8, Title);
        json.WriteNumber("status"u8, Status);
        json.WriteString("detail"u8, Detail);
        if (RetryAfter is { } after)
        {
            json.WriteNumber("retryAfterMs"u8, (long)after.TotalMilliseconds);
        }
    }

    private static Problem Of(AbortDetails abort, TimeSpan retryAfter) => abort.Reason == AbortReason.Overloaded
        ? Overloaded(abort.Message, retryAfter)
        : new Problem(409, "urn:snapper:aborted", "Aborted", abort.Message);
}
