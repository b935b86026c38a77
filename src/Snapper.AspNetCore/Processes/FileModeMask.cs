namespace Snapper.AspNetCore.Processes;

/// <summary>Files and folders that their owner alone can look into (and root, always). On Windows nothing of it: there the folder's own rights hold.</summary>
internal static class FileModeMask
{
    private const UnixFileMode FileRights = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode FolderRights = FileRights | UnixFileMode.UserExecute;
    private const UnixFileMode Others =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherWrite | UnixFileMode.OtherExecute;

    /// <summary>Whatever this process makes from now on, and whatever its children make, is its owner's alone, unless it says otherwise.</summary>
    public static void FromNowOn()
    {
        if (!OperatingSystem.IsWindows()) Posix.SetFileModeMask((int)Others);
    }

    /// <summary>Makes a folder, and those above it that are missing, for its owner alone; one that is there stays as it is.</summary>
    public static void MakeFolder(string path)
    {
        if (OperatingSystem.IsWindows()) Directory.CreateDirectory(path);
        else Directory.CreateDirectory(path, FolderRights);
    }

    /// <summary>How to open a file that is made for its owner alone; one that is there keeps its rights.</summary>
    public static FileStreamOptions Options(FileMode mode, FileAccess access, FileShare share)
    {
        var options = new FileStreamOptions { Mode = mode, Access = access, Share = share };
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = FileRights;
        return options;
    }

    /// <summary>Replaces a file, durably: a crash leaves the old one or the new one, and nobody else can ever read the new one.</summary>
    public static void Replace(string path, string text)
    {
        var next = path + ".next";
        File.Delete(next);
        using (var file = new FileStream(next, Options(FileMode.CreateNew, FileAccess.Write, FileShare.None)))
        {
            file.Write(System.Text.Encoding.UTF8.GetBytes(text));
            file.Flush(flushToDisk: true);
        }

        File.Move(next, path, overwrite: true);
    }

    /// <summary>Other accounts have some right to it. Not for one that is not there.</summary>
    public static bool IsOpen(string path) => !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & Others) != 0;

    /// <summary>Other accounts may change what is there. Not for one that is not there.</summary>
    public static bool IsWritable(string path) => !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & (UnixFileMode.GroupWrite | UnixFileMode.OtherWrite)) != 0;

    /// <summary>It is a link, whatever it points to, or to nothing.</summary>
    public static bool IsLink(string path) => new FileInfo(path).LinkTarget is not null;

    /// <summary>Takes from others what rights they have. Not through a link: whoever made it could name what is not his.</summary>
    /// <returns>Whether they had some. A file or folder that is not there has none.</returns>
    /// <exception cref="UnauthorizedAccessException">It belongs to another account.</exception>
    /// <exception cref="IOException">It is on a disk that cannot be written.</exception>
    public static bool Close(string path)
    {
        if (OperatingSystem.IsWindows() || (!File.Exists(path) && !Directory.Exists(path)) || IsLink(path) || !IsOpen(path)) return false;
        File.SetUnixFileMode(path, File.GetUnixFileMode(path) & ~Others);
        return true;
    }
}
