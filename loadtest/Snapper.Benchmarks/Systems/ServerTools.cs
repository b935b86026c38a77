namespace Snapper.Benchmarks.Systems;

/// <summary>A server that a benchmark needs is not on this machine; the message says where it was looked for.</summary>
public sealed class MissingToolException(string message) : Exception(message);

/// <summary>Finds the servers: environment variable, PATH, <c>~/.dapr/bin</c>, in this order.</summary>
public static class ServerTools
{
    /// <summary>Path of <c>daprd</c> (<c>SNAPPER_DAPRD</c>).</summary>
    public static string Daprd() => Find("daprd", "SNAPPER_DAPRD");

    /// <summary>Path of Dapr's <c>placement</c> (<c>SNAPPER_PLACEMENT</c>).</summary>
    public static string Placement() => Find("placement", "SNAPPER_PLACEMENT");

    /// <summary>Path of <c>redis-server</c> (<c>SNAPPER_REDIS_SERVER</c>).</summary>
    public static string RedisServer() => Find("redis-server", "SNAPPER_REDIS_SERVER");

    /// <summary>Version of daprd, or "unknown".</summary>
    public static string DaprVersion() => Command.TryRead(Daprd(), ["--version"]) ?? "unknown";

    /// <summary>Looks for a program.</summary>
    /// <exception cref="MissingToolException">It is nowhere, or the variable names a file that is not there.</exception>
    public static string Find(string program, string variable)
    {
        var named = Environment.GetEnvironmentVariable(variable);
        if (!string.IsNullOrEmpty(named))
        {
            return File.Exists(named) ? named : throw new MissingToolException($"{variable} names \"{named}\", and there is no such file.");
        }

        var places = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Append(Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".dapr", "bin"));
        foreach (var place in places)
        {
            var path = Path.Combine(place, program);
            if (File.Exists(path))
            {
                return path;
            }
        }

        throw new MissingToolException($"{program} was not found: looked at {variable}, PATH and ~/.dapr/bin.");
    }

    /// <summary>The directory with <c>Snapper.Dapr.sln</c>, at or above the program's own or the current one.</summary>
    /// <exception cref="MissingToolException">There is none.</exception>
    public static string RepositoryRoot()
    {
        foreach (var start in new[] { Environment.CurrentDirectory, AppContext.BaseDirectory })
        {
            for (var directory = new DirectoryInfo(start); directory is not null; directory = directory.Parent)
            {
                if (File.Exists(Path.Combine(directory.FullName, "Snapper.Dapr.sln")))
                {
                    return directory.FullName;
                }
            }
        }

        throw new MissingToolException("Snapper.Dapr.sln was not found at or above the current directory: run this inside the repository.");
    }
}
