using System.Security.Cryptography;

namespace Snapper.Fuzzing.Engine;

/// <summary>Inputs in files: those that are kept in the repository, and those that a run leaves behind.</summary>
internal static class Corpus
{
    /// <summary>Largest file that is kept.</summary>
    public const int FileBytesMax = 64 * 1024;

    /// <summary>Where the kept inputs of a target are, beside the program.</summary>
    public static string FolderOf(string target) => Path.Combine(AppContext.BaseDirectory, "Corpus", target);

    /// <summary>The kept inputs of a target, by name.</summary>
    public static IReadOnlyList<(string Name, byte[] Input)> Of(string target)
    {
        var folder = FolderOf(target);
        return Directory.Exists(folder)
            ? [.. Directory.GetFiles(folder).Order(StringComparer.Ordinal).Select(path => (Path.GetFileName(path), File.ReadAllBytes(path)))]
            : [];
    }

    /// <summary>Writes an input to a folder under a name made of its content.</summary>
    public static string Save(string folder, FuzzTarget target, byte[] input)
    {
        Directory.CreateDirectory(folder);
        var name = Convert.ToHexStringLower(SHA256.HashData(input))[..12];
        var path = Path.Combine(folder, $"{target.Name}-{name}.{(target.IsText ? "txt" : "bin")}");
        File.WriteAllBytes(path, input);
        return path;
    }
}
