using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Extensions.Primitives;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// Refuses queries that hold a token, which every log on the way would show. Anybody may send a query, before it is known who, so it is looked at by names and by what our tokens begin with, once, and never compared with
/// the tokens themselves.
/// </summary>
internal static class QuerySecrets
{
    public const int ValuesMax = 16;

    /// <summary>Most values of a query for a stream of events, which names many views; how many those may be it says itself.</summary>
    public const int EventValuesMax = 128;

    private const string EventsPattern = "/v1/events";
    private const string ViewParameter = "view";

    private static readonly HashSet<string> s_names = new(
        ["token", "api-token", "api_token", "apitoken", "access_token", "auth_token", "apikey", "api_key", "api-key", "dapr-api-token", "authorization", "bearer"], StringComparer.OrdinalIgnoreCase);

    /// <summary>What is wrong with a request's query.</summary>
    /// <param name="context">The request.</param>
    /// <param name="row">Of its address; null: it has none.</param>
    /// <returns>Null: nothing.</returns>
    public static Problem? ProblemOf(HttpContext context, AccessRow? row)
    {
        if (!context.Request.QueryString.HasValue)
        {
            return null;
        }

        // Counted before it is read: reading costs more than counting.
        var isEvents = row?.Pattern == EventsPattern;
        var most = isEvents ? EventValuesMax : ValuesMax;
        if (context.Request.QueryString.Value.AsSpan(1).Count('&') >= most)
        {
            return Problem.Invalid($"The query has more than {most} values.");
        }

        return Shows(context.Request.Query, isEvents)
            ? Problem.Invalid("The address holds a token, which every log on the way would show. Send it in the header Authorization: Bearer, and make a new one: this one is not secret any more.")
            : null;
    }

    private static bool Shows(IEnumerable<KeyValuePair<string, StringValues>> query, bool hasViews)
    {
        foreach (var (name, values) in query)
        {
            if (s_names.Contains(name) || IsToken(name)) return true;
            foreach (var value in values)
            {
                if (value is not null && (IsToken(value) || (hasViews && name == ViewParameter && ViewShows(value)))) return true;
            }
        }

        return false;
    }

    /// <summary>A view of a stream of events has a query of its own.</summary>
    private static bool ViewShows(string view) =>
        view.IndexOf('?', StringComparison.Ordinal) is >= 0 and var at && Shows(QueryHelpers.ParseQuery(view[at..]), hasViews: false);

    private static bool IsToken(string text) => text.Contains(TokenHash.Prefix, StringComparison.Ordinal);
}
