namespace Snapper.Live.Harness;

/// <summary>The programs that the real system needs, looked for where the command line looks: the variable, PATH, Dapr's own folder.</summary>
internal static class ServerPrograms
{
    private static readonly (string Program, string Variable)[] Needed =
        [("redis-server", "SNAPPER_REDIS_SERVER"), ("daprd", "SNAPPER_DAPRD"), ("placement", "SNAPPER_PLACEMENT")];

    /// <summary>Null when all are there; otherwise names each that is not.</summary>
    public static string? Missing { get; } = FindMissing();

    /// <summary>True where a test that cannot run must fail.</summary>
    public static bool MustBeThere { get; } = string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase);

    /// <summary>Where a program is.</summary>
    /// <exception cref="InvalidOperationException">It is not there.</exception>
    public static string PathOf(string program) => Find(program, Needed.Single(needed => needed.Program == program).Variable)
        ?? throw new InvalidOperationException($"{program} is not there.");

    private static string? FindMissing()
    {
        var missing = Needed.Where(needed => Find(needed.Program, needed.Variable) is null).Select(needed => $"{needed.Program} ({needed.Variable}, PATH or ~/.dapr/bin)").ToArray();
        return missing.Length == 0 ? null : $"not run, for want of {string.Join(", ", missing)}";
    }

    private static string? Find(string program, string variable)
    {
        if (Environment.GetEnvironmentVariable(variable) is { Length: > 0 } named)
        {
            return File.Exists(named) ? named : null;
        }

        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Append(Path.Combine(Environment.GetEnvironmentVariable("DAPR_RUNTIME_PATH") is { Length: > 0 } runtime ? runtime : Home, ".dapr", "bin"))
            .Append(Path.Combine(Home, ".dapr", "bin"));
        return folders.Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists);
    }

    private static string Home => Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
}
