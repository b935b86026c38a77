using Snapper.AspNetCore.Api.Answers;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>Which query parameters an address takes, each once: one that was misspelt and ignored would have the answer to another question taken for its own.</summary>
internal static class QueryNames
{
    /// <summary>What is wrong with a query's names, a sentence without its full stop; null: nothing.</summary>
    /// <param name="query">The query.</param>
    /// <param name="known">The names; their case does not count.</param>
    public static string? Problem(IQueryCollection query, params string[] known)
    {
        foreach (var (name, values) in query)
        {
            if (!known.Contains(name, StringComparer.OrdinalIgnoreCase))
            {
                var there = known.Length == 0 ? "none is known" : "known are " + string.Join(" and ", known);
                return $"There is no query parameter {ClippedText.Of(name)} here: {there}";
            }

            if (values.Count > 1)
            {
                return $"The query parameter {name} is repeated";
            }
        }

        return null;
    }
}
