namespace Snapper.Benchmarks.Systems;

/// <summary>The HTTP addresses of a silo.</summary>
public static class OrleansDoor
{
    private static readonly string[] s_paths =
        [.. Enum.GetValues<OrleansWork>().Select(static work => $"/{work.ToString().ToLowerInvariant()}")];

    /// <summary>Where to send it.</summary>
    public static string PathOf(OrleansWork work) => s_paths[(int)work];

    /// <summary>What is done there; null: nothing.</summary>
    public static OrleansWork? WorkOf(string? path) =>
        Array.IndexOf(s_paths, path) is >= 0 and var work ? (OrleansWork)work : null;
}
