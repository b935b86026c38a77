using System.Globalization;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>The query parameter <c>limit</c>: how many entries of a list are wanted at most.</summary>
internal static class LimitParameter
{
    /// <summary>The most that can be asked for.</summary>
    public const int Most = 1000;

    /// <summary>What is said of a wrong one.</summary>
    public const string Rule = "limit must be a whole number, 1 to 1000";

    /// <summary>Reads it.</summary>
    /// <param name="context">The request.</param>
    /// <param name="usual">Without it.</param>
    /// <returns>Null: it is wrong.</returns>
    public static int? Read(HttpContext context, int usual = 50)
    {
        if (!context.Request.Query.TryGetValue("limit", out var text))
        {
            return usual;
        }

        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var limit) && limit is >= 1 and <= Most ? limit : null;
    }
}
