namespace Snapper.Simulation.Tests;

/// <summary>The clone that the tests run in.</summary>
internal static class RepositoryFolder
{
    public static string Path { get; } = Find();

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(System.IO.Path.Combine(folder.FullName, "Snapper.Dapr.sln")))
        {
            folder = folder.Parent;
        }

        return folder?.FullName ?? throw new InvalidOperationException("The tests run in a clone of the repository.");
    }
}
