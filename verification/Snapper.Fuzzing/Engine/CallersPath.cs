namespace Snapper.Fuzzing.Engine;

/// <summary>
/// Paths as the caller means them. <c>./snapper</c> starts this program in the root of the repository, whose SDK and settings its build needs, and says in the
/// environment where it was called.
/// </summary>
internal static class CallersPath
{
    /// <summary>Set by <c>./snapper</c>.</summary>
    public const string Variable = "SNAPPER_CALLED_FROM";

    private static string Folder => Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } folder ? folder : Environment.CurrentDirectory;

    /// <summary>The path that the caller has given, in full.</summary>
    public static string Of(string given) => Path.GetFullPath(given, Folder);

    /// <summary>A path of ours as the caller can use it.</summary>
    public static string Show(string ours) => Path.GetRelativePath(Folder, Path.GetFullPath(ours));
}
