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
        if (values.Count == 0)
        {
            return null;
        }

        // The quoted form is the one of the IETF's draft; most clients send the bare one.
        var text = values.Count == 1 ? values[0]!.Trim() : "";
        var key = text is ['"', .. var inner, '"'] ? inner : text;
        if (NameRules.RequestIdError(key) is not null)
        {
            return Refused("has 1 to 128 printable characters, once", request.Id);
        }

        if (request.Id is { } id && id != key)
        {
            return Refused("and the field \"id\" differ: give one of them", id);
        }

        request = request with { Id = key };
        return null;
    }

    /// <summary>Why the header cannot stand with a batch; null: there is none.</summary>
    public static RequestRefusal? OfBatch(IHeaderDictionary headers) => headers.ContainsKey(Header)
        ? Refused("is for one transaction: each of a batch has a field \"id\" of its own", null)
        : null;

    private static RequestRefusal Refused(string why, string? id) => new(RejectionKind.Invalid, $"{Header} {why}.", id);
}
