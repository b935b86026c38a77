using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Where the programs that we start come from. The seams exist for tests.</summary>
/// <param name="environment">Reads an environment variable.</param>
/// <param name="home">The user's home folder.</param>
internal sealed class ExecutableFinder(Func<string, string?> environment, string home)
{
    /// <summary>The real machine.</summary>
    public static readonly ExecutableFinder System = new(Environment.GetEnvironmentVariable, Environment.GetFolderPath(Environment.SpecialFolder.UserProfile));

    /// <summary>All candidates in order of preference: the variable alone when it is set, else PATH, then Dapr's own folder for its programs.</summary>
    /// <param name="name">The program's file name.</param>
    /// <param name="variable">The environment variable that names its path.</param>
    /// <returns>Absolute paths of executable files; empty: not found.</returns>
    /// <exception cref="StartupException">The variable is set and names no executable file: a wrong order is not silently replaced by a guess.</exception>
    public IReadOnlyList<string> Find(string name, string variable)
    {
        if (environment(variable) is { Length: > 0 } named)
        {
            return IsExecutable(named) ? [Path.GetFullPath(named)] : throw new StartupException($"{variable} names {named}, which is not an executable file; {FixHints.Variable}");
        }

        var folders = (environment("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries).ToList();
        if (name is "daprd" or "placement")
        {
            if (environment("DAPR_RUNTIME_PATH") is { Length: > 0 } runtime) folders.Add(Path.Combine(runtime, ".dapr", "bin"));
            if (home.Length > 0) folders.Add(Path.Combine(home, ".dapr", "bin"));
        }

        return [.. folders.Select(f => Path.GetFullPath(Path.Combine(f, name))).Where(IsExecutable).Distinct(StringComparer.Ordinal)];
    }

    private static bool IsExecutable(string path)
    {
        const UnixFileMode execute = UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;
        return File.Exists(path) && (OperatingSystem.IsWindows() || (File.GetUnixFileMode(path) & execute) != 0);
    }
}
