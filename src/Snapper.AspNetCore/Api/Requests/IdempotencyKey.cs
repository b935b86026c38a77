using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>The header <c>Idempotency-Key</c>: the id of a transaction, as its field <c>id</c> says it.</summary>
internal static class IdempotencyKey
{
    private const string Header = "Idempotency-Key";

    /// <summary>Gives the request the id that the header says, if there is one.</summary>
    /// <param name="headers">Of the HTTP request.</param>
    /// <param name="request">The transaction.</param>
    /// <returns>Why it is refused; null: it is not.</returns>
    public static RequestRefusal? Apply(IHeaderDictionary headers, ref TransactionRequest request)
    {
        var values = headers[Header];
        return Apply(values.Count switch { 0 => null, 1 => values[0], _ => "" }, ref request);
    }

    /// <summary>Gives the request the id that the header's text says.</summary>
    /// <param name="header">Null: there is no header.</param>
    /// <param name="request">The transaction.</param>
    /// <returns>Why it is refused; null: it is not.</returns>
    public static RequestRefusal? Apply(string? header, ref TransactionRequest request)
    {
        if (header is null)
        {
            return null;
        }

        var key = Read(header, out var wrong);
        if (wrong is not null)
        {
            return new RequestRefusal(RejectionKind.Invalid, wrong, request.Id);
        }

        if (request.Id is { } id && id != key)
        {
            return Refused("and the field \"id\" differ: give one of them", id);
        }

        request = request with { Id = key };
        return null;
    }

    /// <summary>The id that the header's text says.</summary>
    /// <param name="header">The text.</param>
    /// <param name="wrong">Why it is none, as a sentence; null: it is one.</param>
    private static string Read(string header, out string? wrong)
    {
        // The quoted form is the one of the IETF's draft; most clients send the bare one.
        var text = header.Trim();
        var key = text is ['"', .. var inner, '"'] ? inner : text;
        wrong = NameRules.RequestIdError(key) is null ? null : $"{Header} has 1 to 128 printable characters, once.";
        return key;
    }

    /// <summary>Why the header cannot stand with a batch; null: there is none.</summary>
    public static RequestRefusal? OfBatch(IHeaderDictionary headers) => headers.ContainsKey(Header)
        ? Refused("is for one transaction: each of a batch has a field \"id\" of its own", null)
        : null;

    private static RequestRefusal Refused(string why, string? id) => new(RejectionKind.Invalid, $"{Header} {why}.", id);
}
