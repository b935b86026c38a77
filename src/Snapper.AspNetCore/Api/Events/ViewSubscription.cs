using System.Globalization;
using Snapper.AspNetCore.Api.Answers;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>What a stream of views was asked for: <c>view</c>, once for each, and <c>every</c>.</summary>
/// <param name="Views">Path and query of each, and what makes it.</param>
/// <param name="Every">Between two looks at them.</param>
internal sealed record ViewSubscription(IReadOnlyList<(string View, ViewRoute Route)> Views, TimeSpan Every)
{
    /// <summary>Most views of one stream.</summary>
    public const int ViewsMax = 64;

    /// <summary>Longest path and query of a view.</summary>
    public const int ViewLengthMax = 2048;

    /// <summary>Shortest and longest <c>every</c>, in milliseconds.</summary>
    public const int EveryMsMin = 500, EveryMsMax = 10_000;

    private const int EveryMsUsual = 1000;

    /// <summary>Reads the query.</summary>
    /// <param name="query">Of the request.</param>
    /// <param name="table">The views that there are.</param>
    /// <param name="problem">What is wrong with it; null: nothing.</param>
    /// <returns>Null: something is wrong, or no view is named, which asks for the worker's own events.</returns>
    public static ViewSubscription? Read(IQueryCollection query, ViewTable table, out string? problem)
    {
        problem = null;
        foreach (var name in query.Keys)
        {
            if (name is "view" or "every") continue;
            problem = $"There is no query parameter {ClippedText.Of(name)} here; there are view and every.";
            return null;
        }

        if (!query.TryGetValue("view", out var asked))
        {
            problem = query.Count > 0 ? "every says how often views are looked at, and no view is named." : null;
            return null;
        }

        var everyMs = EveryMsUsual;
        if (query.TryGetValue("every", out var text) && !(int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out everyMs) && everyMs is >= EveryMsMin and <= EveryMsMax))
        {
            problem = $"every must be a whole number of milliseconds, {EveryMsMin} to {EveryMsMax}.";
            return null;
        }

        if (asked.Count > ViewsMax)
        {
            problem = $"A stream has at most {ViewsMax} views; these are {asked.Count}.";
            return null;
        }

        var views = new List<(string, ViewRoute)>(asked.Count);
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (var one in asked)
        {
            var view = one ?? "";
            if (ProblemOf(view, seen, table, out var route) is { } wrong)
            {
                problem = wrong;
                return null;
            }

            views.Add((view, route!));
        }

        return new ViewSubscription(views, TimeSpan.FromMilliseconds(everyMs));
    }

    private static string? ProblemOf(string view, HashSet<string> seen, ViewTable table, out ViewRoute? route)
    {
        route = null;
        if (view.Length > ViewLengthMax) return $"view: {ClippedText.Of(view)} has {view.Length} characters; at most {ViewLengthMax} are taken.";
        if (view.AsSpan().ContainsAnyExceptInRange('!', '~') || view.Contains('#', StringComparison.Ordinal)) return $"view: {ClippedText.Of(view)} must be a path and query as in a request: visible ASCII, everything else percent-encoded.";
        route = table.Find(PathOf(view));
        return route is null ? $"view: there is no view {ClippedText.Of(view)}; there are {table.Names}."
            : seen.Add(view) ? null
            : $"view: {ClippedText.Of(view)} is repeated.";
    }

    /// <summary>A view without its query.</summary>
    public static string PathOf(string view) => view.IndexOf('?', StringComparison.Ordinal) is >= 0 and var query ? view[..query] : view;
}
