using System.Globalization;

namespace Snapper.AspNetCore.Processes;

/// <summary>
/// Which process has a folder: it holds a file locked, and a second file names it, since a locked one cannot be opened,
/// not even for reading. The kernel lets go when the process ends, however it ends.
/// </summary>
internal static class FolderHolder
{
    /// <summary>Takes the lock.</summary>
    /// <exception cref="IOException">Another process has it; or the file cannot be made.</exception>
    public static FileStream Lock(string folder, string lockFile) => new(
        Path.Combine(folder, lockFile),
        FileModeMask.Options(FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None));

    /// <summary>Names this process, which has the lock.</summary>
    public static void Sign(string folder, string holderFile) => File.WriteAllText(
        Path.Combine(folder, holderFile), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));

    /// <summary>The process id of the last one that had the lock; null: none is known.</summary>
    public static string? Read(string folder, string holderFile)
    {
        try
        {
            return File.ReadAllText(Path.Combine(folder, holderFile)) is { Length: > 0 } pid ? pid : null;
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            // Then the lock failed for another reason, which the caller reports.
            return null;
        }
    }
}
