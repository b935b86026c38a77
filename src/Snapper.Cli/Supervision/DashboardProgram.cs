using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Finds the dashboard, which is a program of its own.</summary>
internal static class DashboardProgram
{
    private const string File = "Snapper.Dashboard.dll";

    /// <summary>
    /// <c>SNAPPER_DASHBOARD_PROGRAM</c>, beside this program or in <c>dashboard</c> there, or what <c>./snapper</c> has
    /// built in the clone; null: none.
    /// </summary>
    /// <exception cref="StartupException">The variable names a file that is not there.</exception>
    public static string? Find()
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_DASHBOARD_PROGRAM") is { Length: > 0 } named)
        {
            return System.IO.File.Exists(named) ? Path.GetFullPath(named) : throw new StartupException($"SNAPPER_DASHBOARD_PROGRAM names {named}, which is not a file");
        }

        IEnumerable<string> places =
            [Path.Combine(AppContext.BaseDirectory, File), Path.Combine(AppContext.BaseDirectory, "dashboard", File)];
        if (Repository.Find() is { } root) places = places.Append(Path.Combine(root, "dashboard", "Snapper.Dashboard", "bin", "Release", "net10.0", File));
        return places.FirstOrDefault(System.IO.File.Exists);
    }
}
