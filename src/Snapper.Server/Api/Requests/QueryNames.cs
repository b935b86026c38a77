using Snapper.Server.Api.Answers;

namespace Snapper.Server.Api.Requests;

/// <summary>Which query parameters an address takes, each once: one that was misspelt and ignored would have the answer to another question taken for its own.</summary>
internal static class QueryNames
{
    /// <summary>What is wrong with a query's names, a sentence without its full stop; null: nothing.</summary>
    /// <param name="query">The query.</param>
    /// <param name="known">The names, two or more; their case counts.</param>
    public static string? Problem(IQueryCollection query, params string[] known)
    {
        foreach (var (name, values) in query)
        {
            if (values.Count != 1 || !known.Contains(name, StringComparer.Ordinal))
            {
                return $"There is no query parameter {ClippedText.Of(name)} here, or it is repeated; there are {string.Join(", ", known[..^1])} and {known[^1]}";
            }
        }

        return null;
    }
}
