using Snapper.Server.Api.Access;

namespace Snapper.Server.Api.Events;

/// <summary>A view that streams of events can carry.</summary>
/// <param name="Pattern">As its own address is mapped.</param>
/// <param name="Handler">Answers at that address.</param>
/// <param name="Row">What that address asks of its callers.</param>
internal sealed record ViewRoute(string Pattern, RequestDelegate Handler, AccessRow Row)
{
    /// <summary>The name of its parameter, when that is one part of the path; null: it has none, or takes the rest.</summary>
    public string? PartName { get; } = Pattern.Contains("{**", StringComparison.Ordinal) || !Pattern.EndsWith('}') ? null : Pattern[(Pattern.IndexOf('{', StringComparison.Ordinal) + 1)..^1];

    private bool IsExact => Row.Prefix.Length == Pattern.Length;

    /// <summary>It is at this path.</summary>
    public bool Takes(string path) => IsExact
        ? path == Pattern
        : path.Length > Row.Prefix.Length && path.StartsWith(Row.Prefix, StringComparison.Ordinal) && (PartName is null || path.IndexOf('/', Row.Prefix.Length) < 0);
}

/// <summary>The views that streams of events can carry, each made by the handler of its own address. Nothing else can be asked for.</summary>
internal sealed class ViewTable
{
    private readonly List<ViewRoute> _routes = [];

    /// <summary>All of them, as they are written in the documentation.</summary>
    public string Names => string.Join(", ", _routes.Select(route => route.Pattern.Replace("{**", "{", StringComparison.Ordinal)));

    /// <summary>Adds one; of two that take a path the one that was added first has it.</summary>
    /// <exception cref="NotSupportedException">Its address has no row in the table of rights.</exception>
    public void Add(string pattern, RequestDelegate handler)
    {
        var row = AccessTable.Rows.FirstOrDefault(row => row.Method == HttpMethods.Get && row.Pattern == pattern);
        _routes.Add(new ViewRoute(pattern, handler, row ?? throw new NotSupportedException($"{pattern} has no row in the table of rights.")));
    }

    /// <summary>The view at a path, which is taken as it is written: no escapes in its fixed part, and its case counts. Null: there is none.</summary>
    public ViewRoute? Find(string path) => _routes.Find(route => route.Takes(path));
}
