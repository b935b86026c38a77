using System.Globalization;

namespace Snapper.Manifests.Tests;

/// <summary>What the Dockerfile says.</summary>
internal static class ContainerImage
{
    /// <summary>Its instructions in order, continuation lines joined, comments left out.</summary>
    public static IReadOnlyList<(string Name, string Value)> Instructions { get; } =
        [.. Tree.Read("Dockerfile").Replace("\\\n", " ", StringComparison.Ordinal).Split('\n').Where(line => line.Length > 0 && line[0] != '#').Select(line => line.Split(' ', 2)).Select(words => (words[0], words[1].Trim()))];

    /// <summary>User and group that the images run as; all name the same.</summary>
    public static (int?, int?) User { get; } = Instructions.Where(one => one.Name == "USER").Select(one => one.Value.Split(':').Select(number => (int?)int.Parse(number, CultureInfo.InvariantCulture)).ToArray()).Select(pair => (pair[0], pair[1])).Distinct().Single();

    /// <summary>The instructions of a stage.</summary>
    public static IReadOnlyList<(string Name, string Value)> Stage(string name)
    {
        var from = Instructions.Select((one, i) => (one, i)).First(pair => pair.one.Name == "FROM" && pair.one.Value.EndsWith(" AS " + name, StringComparison.Ordinal)).i;
        return [.. Instructions.Skip(from + 1).TakeWhile(one => one.Name != "FROM")];
    }
}

/// <summary>The files of this tree.</summary>
internal static class Tree
{
    /// <summary>Its root.</summary>
    public static string Root { get; } = Find();

    public static string Path(params string[] parts) => System.IO.Path.Combine([Root, .. parts]);

    public static string Read(params string[] parts) => File.ReadAllText(Path(parts));

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(System.IO.Path.Combine(folder.FullName, "Snapper.Dapr.sln"))) folder = folder.Parent ?? throw new InvalidOperationException("The tests do not run inside the tree.");
        return folder.FullName;
    }
}
