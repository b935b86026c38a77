namespace Snapper.Dashboard.Workers;

/// <summary>Paths of the workers' API whose parts come from elsewhere.</summary>
public static class WorkerPaths
{
    /// <summary>One actor.</summary>
    public static string Actor(string type, string id) => $"/v1/actors/{Segment(type)}/{Segment(id)}";

    /// <summary>A name as one segment of a path. Of "." and ".." whoever reads paths makes another path, escaped or not: their dots are escaped twice.</summary>
    public static string Segment(string name) => name is "." or ".." ? name.Replace(".", "%252E", StringComparison.Ordinal) : Uri.EscapeDataString(name);

    /// <summary>A page of the stored actors of a type.</summary>
    /// <param name="type">Their type.</param>
    /// <param name="limit">At most so many.</param>
    /// <param name="search">What their ids begin with; null or empty: anything.</param>
    /// <param name="after">The id behind which the page begins; null or empty: from the first.</param>
    public static string Actors(string type, int limit, string? search, string? after) =>
        FormattableString.Invariant($"/v1/actors?type={Uri.EscapeDataString(type)}&limit={limit}{Query("search", search)}{Query("after", after)}");

    /// <summary>A further query parameter; nothing for one that is null or empty.</summary>
    public static string Query(string name, string? value) => string.IsNullOrEmpty(value) ? "" : $"&{name}={Uri.EscapeDataString(value)}";
}
