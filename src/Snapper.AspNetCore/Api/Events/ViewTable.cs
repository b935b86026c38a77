using Snapper.AspNetCore.Api.Access;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>A view that streams of events can carry.</summary>
/// <param name="Handler">Answers at that address.</param>
/// <param name="Row">What that address asks of its callers.</param>
internal sealed record ViewRoute(RequestDelegate Handler, AccessRow Row)
{
    /// <summary>The name of its parameter, when that is one part of the path; null: it has none, or takes the rest.</summary>
    public string? PartName { get; } =
        Row.Pattern.EndsWith('}') && !Row.Pattern.Contains("{**", StringComparison.Ordinal)
            ? Row.Pattern[Row.Prefix.Length..].Trim('{', '}')
            : null;

    private bool IsExact => Row.Prefix.Length == Row.Pattern.Length;

    public bool Takes(string path) => IsExact
        ? path == Row.Pattern
        : path.Length > Row.Prefix.Length && path.StartsWith(Row.Prefix, StringComparison.Ordinal) && (PartName is null || path.IndexOf('/', Row.Prefix.Length) < 0);
}

/// <summary>The views that streams of events can carry, each made by the handler of its own address. Nothing else can be asked for.</summary>
internal sealed class ViewTable
{
    private readonly List<ViewRoute> _routes = [];

    /// <summary>All of them, as they are written in the documentation.</summary>
    public string Names =>
        string.Join(", ", _routes.Select(route => route.Row.Pattern.Replace("{**", "{", StringComparison.Ordinal)));

    /// <summary>Adds one; of two that take a path the one that was added first has it.</summary>
    public void Add(RequestDelegate handler, AccessRow row) => _routes.Add(new ViewRoute(handler, row));

    /// <summary>The view at a path, which is taken as it is written: no escapes in its fixed part, and its case counts. Null: there is none.</summary>
    public ViewRoute? Find(string path) => _routes.Find(route => route.Takes(path));
}
