namespace Snapper.AspNetCore.Processes;

/// <summary>Who may look into a data directory: what we make there is for our own account, what somebody else made is left as it is.</summary>
internal static class DataDirectoryPermissions
{
    // Made by 'up' and the workers, whatever the version: nobody else has business there.
    private static readonly string[] s_folders = [DataDirectory.LogsFolder, DataDirectory.RunFolder, DataDirectory.RedisFolder, DataDirectory.WorkersFolder, DataDirectory.AuditFolder, DataDirectory.RememberedFolder];
    private static readonly string[] s_files =
    [
        DataDirectory.LockFile, DataDirectory.HolderFile, DataDirectory.LogKindFile, PrivateRedisSecret.FileName, DataDirectory.MailboxSecretFile,
    ];

    /// <summary>Closes to others what earlier versions left open: our folders and files, and the directory itself if it is ours.</summary>
    /// <param name="root">It exists, and its lock is held.</param>
    /// <param name="failed">Told why one stays open: it belongs to another account, or cannot be written. The others are closed all the same.</param>
    /// <returns>What was open; empty: nothing.</returns>
    public static IReadOnlyList<string> Close(string root, Action<string> failed)
    {
        var closed = new List<string>();
        if (IsOfEarlierVersion(root) && Close(root)) closed.Add(root);
        closed.AddRange(CloseFolders(root, failed));
        foreach (var file in s_files) Close(Path.Combine(root, file));
        return closed;

        bool Close(string path) => CloseOne(path, failed);
    }

    /// <summary>The same for our folders alone.</summary>
    public static IReadOnlyList<string> CloseFolders(string root, Action<string> failed) => [.. s_folders.Select(folder => Path.Combine(root, folder)).Where(path => CloseOne(path, failed))];

    /// <summary>Others must not be able to put something of theirs in the place of what we trust.</summary>
    /// <exception cref="StartupException">The directory, or something of it, belongs to another account, or others may change it.</exception>
    public static void Require(string root)
    {
        if (Refusal(root) is var (why, remedy)) throw new StartupException($"the data directory {root} cannot be used: {why}; {remedy}");
    }

    /// <summary>Why <c>up</c> does not start on a directory, and what helps; null: it does, or there is none yet.</summary>
    public static (string Why, string Remedy)? Refusal(string root)
    {
        if (OperatingSystem.IsWindows() || !Directory.Exists(root)) return null;
        var us = Posix.EffectiveUser();
        string[] trusted =
        [
            root, .. s_folders.Concat(s_files).Select(name => Path.Combine(root, name)), DataDirectory.RunStateIn(root), Path.Combine(DataDirectory.RunIn(root), PrivateRedisSecret.ConfigurationName),
        ];
        foreach (var path in trusted)
        {
            // Root's links are as good as ours.
            if (Posix.OwnerOf(path, follow: false) is { } link && link != us && (link != 0 || !FileModeMask.IsLink(path)))
            {
                return ($"{path} belongs to another account (uid {link}, this one is {us})", FixHints.Owner);
            }

            if (Posix.OwnerOf(path, follow: true) is { } owner && owner != us) return ($"what {path} points to belongs to another account (uid {owner}, this one is {us})", FixHints.Owner);
        }

        foreach (var folder in s_folders)
        {
            if (Planted(Path.Combine(root, folder), us) is { } planted) return planted;
        }

        // What an earlier version left open is closed at once.
        return FileModeMask.IsWritable(root) && (!IsOfEarlierVersion(root) || FileModeMask.IsLink(root)) && !IsSticky(root)
            ? ($"other accounts may change {root}, and put what they like in the place of its folders", FixHints.Rights)
            : null;
    }

    /// <summary>What others may look into or change, in words; null: nothing, or there is no directory yet.</summary>
    public static string? Open(string root)
    {
        if (!Directory.Exists(root)) return null;
        if (Refusal(root) is { } refusal) return refusal.Why;
        string[] open = [.. s_folders.Select(folder => Path.Combine(root, folder)).Prepend(root).Where(path => Directory.Exists(path) && FileModeMask.IsOpen(path))
            .Select(path => FileModeMask.IsLink(path) ? $"{path} (a link, which 'up' leaves as it is)" : path)];
        return open.Length == 0 ? null
            : IsOfEarlierVersion(root) ? $"other accounts may look into {string.Join(", ", open)}, which an earlier version left open"
            : $"other accounts may look into {string.Join(", ", open)}";
    }

    /// <summary>Made by a version that left folders open. We make the lock for ourselves alone, so an open one is older; and nothing else is in a directory that nobody uses for anything else.</summary>
    public static bool IsOfEarlierVersion(string root)
    {
        var held = Path.Combine(root, DataDirectory.LockFile);
        if (!File.Exists(held) || !FileModeMask.IsOpen(held)) return false;
        return Path.GetFileName(root) == ".snapper" || Directory.EnumerateFileSystemEntries(root).Select(Path.GetFileName).All(name => s_folders.Contains(name) || s_files.Contains(name));
    }

    /// <summary>What somebody put into one of our folders while others could: links that would have us write elsewhere, and files that we would take for our own. Root's are as good as ours.</summary>
    private static (string Why, string Remedy)? Planted(string folder, int us)
    {
        // A folder that is a link was looked at, and is not followed further than to its owner.
        if (!Directory.Exists(folder) || FileModeMask.IsLink(folder)) return null;
        foreach (var path in Directory.EnumerateFileSystemEntries(folder))
        {
            var owner = Posix.OwnerOf(path, follow: false);
            if (owner is not null && owner != us && owner != 0) return ($"{path} belongs to another account (uid {owner}, this one is {us})", FixHints.Planted);
            if (owner == us && Directory.Exists(path) && Planted(path, us) is { } within) return within;
        }

        return null;
    }

    /// <summary>A folder above it in which everybody may put something of his in the place of what is not his, in words; null: there is none. Some containers come so: it is told, and not refused.</summary>
    public static string? OpenParent(string root)
    {
        if (OperatingSystem.IsWindows()) return null;
        for (var parent = Path.GetDirectoryName(Path.GetFullPath(root)); parent is not null; parent = Path.GetDirectoryName(parent))
        {
            if ((File.GetUnixFileMode(parent) & (UnixFileMode.OtherWrite | UnixFileMode.StickyBit)) == UnixFileMode.OtherWrite)
            {
                return $"every account may change {parent}, and so put what it likes in the place of {root}";
            }
        }

        return null;
    }

    // Nobody can replace there what is not his.
    private static bool IsSticky(string root) => !OperatingSystem.IsWindows() && (File.GetUnixFileMode(root) & UnixFileMode.StickyBit) != 0;

    private static bool CloseOne(string path, Action<string> failed)
    {
        try
        {
            return FileModeMask.Close(path);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            failed(problem.Message);
            return false;
        }
    }
}
