namespace Snapper.Server.Supervision;

/// <summary>Who may look into a data directory: what we make there is for our own account, what somebody else made is left as it is.</summary>
internal static class DataRights
{
    private const string LockFile = "up.lock";

    // Made by 'up' and the workers, whatever the version: nobody else has business there.
    private static readonly string[] s_folders = ["logs", "run", "redis", "workers", "audit", DataDirectory.RememberedFolder];
    private static readonly string[] s_files = [LockFile, "up.pid", "log-kind", PrivateRedisSecret.FileName];

    /// <summary>Closes to others what earlier versions left open: our folders and files, and the directory itself if it is ours.</summary>
    /// <param name="root">It exists, and its lock is held.</param>
    /// <returns>What was open; empty: nothing.</returns>
    /// <exception cref="UnauthorizedAccessException">Something of it belongs to another account.</exception>
    public static IReadOnlyList<string> Close(string root)
    {
        var closed = new List<string>();
        if (IsOfEarlierVersion(root) && OwnerOnly.Close(root)) closed.Add(root);
        closed.AddRange(CloseFolders(root));
        foreach (var file in s_files) OwnerOnly.Close(Path.Combine(root, file));
        return closed;
    }

    /// <summary>The same for our folders alone.</summary>
    /// <exception cref="UnauthorizedAccessException">One belongs to another account.</exception>
    public static IReadOnlyList<string> CloseFolders(string root) => [.. s_folders.Select(folder => Path.Combine(root, folder)).Where(OwnerOnly.Close)];

    /// <summary>What others may look into or change, in words; null: nothing, or there is no directory yet.</summary>
    public static string? Open(string root)
    {
        if (!Directory.Exists(root)) return null;
        if (OwnerOnly.IsWritable(root) && !IsOfEarlierVersion(root)) return $"other accounts may change {root}, and put what they like in the place of its folders";
        string[] open = [.. s_folders.Select(folder => Path.Combine(root, folder)).Prepend(root).Where(path => Directory.Exists(path) && OwnerOnly.IsOpen(path))];
        return open.Length == 0 ? null
            : IsOfEarlierVersion(root) ? $"other accounts may look into {string.Join(", ", open)}, which an earlier version left open"
            : $"other accounts may look into {string.Join(", ", open)}";
    }

    /// <summary>Made by a version that left folders open. We make the lock for ourselves alone, so an open one is older; and nothing else is in a directory that nobody uses for anything else.</summary>
    public static bool IsOfEarlierVersion(string root)
    {
        var held = Path.Combine(root, LockFile);
        if (!File.Exists(held) || !OwnerOnly.IsOpen(held)) return false;
        return Path.GetFileName(root) == ".snapper" || Directory.EnumerateFileSystemEntries(root).Select(Path.GetFileName).All(name => s_folders.Contains(name) || s_files.Contains(name));
    }
}
