using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Finds what lies beside the program.</summary>
internal static class Repository
{
    /// <summary>The clone that this program was built in; null when it runs elsewhere (a container image).</summary>
    public static string? Find()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Snapper.Dapr.sln"))) return folder.FullName;
        }

        return null;
    }

    /// <summary>The folder with Dapr's component files: <c>SNAPPER_COMPONENTS</c>, beside the program, or at the root of the clone; null: none.</summary>
    /// <exception cref="StartupException">The variable names a folder that is not there.</exception>
    public static string? Components()
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_COMPONENTS") is { Length: > 0 } named)
        {
            return Directory.Exists(named) ? Path.GetFullPath(named) : throw new StartupException($"SNAPPER_COMPONENTS names {named}, which is not a folder; {FixHints.Variable}");
        }

        var beside = Path.Combine(AppContext.BaseDirectory, "components");
        if (Directory.Exists(beside)) return beside;
        return Find() is { } root && Directory.Exists(Path.Combine(root, "components")) ? Path.Combine(root, "components") : null;
    }
}
