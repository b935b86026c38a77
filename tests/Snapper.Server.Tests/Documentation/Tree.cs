using Snapper.Cli.Supervision;

namespace Snapper.Server.Tests.Documentation;

/// <summary>The text files of the repository.</summary>
internal static class Tree
{
    private static readonly string[] s_folders =
        ["src", "verification", "tests", "dashboard", "loadtest", "docs", "k8s", "components", "telemetry", "samples"];
    private static readonly string[] s_kinds = [".cs", ".razor", ".md", ".txt", ".yaml", ".js", ".csproj", ".props"];

    public static string Root { get; } = Repository.Find()!;

    public static string Read(params string[] path) => File.ReadAllText(Path.Combine([Root, .. path]));

    /// <summary>Paths from the root, in order, without what a build writes.</summary>
    public static IEnumerable<string> Files() => s_folders
        .SelectMany(folder => Directory.EnumerateFiles(Path.Combine(Root, folder), "*", SearchOption.AllDirectories))
        .Concat(Directory.EnumerateFiles(Root))
        .Select(file => Path.GetRelativePath(Root, file).Replace('\\', '/'))
        .Where(file => s_kinds.Contains(Path.GetExtension(file)) && !IsBuilt(file))
        .Order(StringComparer.Ordinal);

    public static IEnumerable<string> Documents() => Files().Where(file => file.EndsWith(".md", StringComparison.Ordinal));

    private static bool IsBuilt(string file) => file.StartsWith("docs/api/", StringComparison.Ordinal) ||
        file.Split('/') is var parts && (parts.Contains("bin") || parts.Contains("obj") || parts.Contains("TestResults") || parts.Contains("node_modules"));
}
