namespace Snapper.Storage.Files;

/// <summary>
/// What the file log needs of a file system, and of the threads that wait for it; a seam, so that tests can make it full or broken, and a simulator can lose
/// what was not flushed and let one process stand still between two steps of another.
/// </summary>
internal interface ILogFileSystem
{
    bool HasFolder(string folder);

    /// <summary>Creates a folder; its name is durable once the one above it is flushed (<see cref="DurableNames.MakeFolder"/>).</summary>
    void CreateFolder(string folder);

    /// <summary>Names (without folder) of the files that match, in ordinal order.</summary>
    IReadOnlyList<string> List(string folder, string pattern);

    /// <summary>Opens for reading and writing; creates the file when asked to and it is missing.</summary>
    ILogFile Open(string path, bool create);

    /// <summary>The whole file; null: there is none.</summary>
    byte[]? ReadAll(string path);

    /// <summary>Gives a file another name, in the place of a file that had it, or none; durable once the folder is flushed (<see cref="DurableNames.Replace"/>).</summary>
    void Rename(string source, string target);

    /// <summary>Deletes if it is there.</summary>
    void Delete(string path);

    /// <summary>Makes names that were created, renamed or deleted in the folder durable.</summary>
    void FlushFolder(string folder);

    /// <summary>Takes an exclusive lock that other processes see and that ends with this process; null: another one has it.</summary>
    IDisposable? TryLock(string path);

    /// <summary>The clock by which waiting for a lock is measured.</summary>
    TimeProvider Time { get; }

    /// <summary>Blocks the thread for about so long.</summary>
    void Wait(TimeSpan time);

    /// <summary>Runs work that blocks its thread on the disk, away from the caller's thread.</summary>
    /// <param name="by">Whose work it is: where one thread does everything, one work at a time is begun for each, so that no gate is ever waited for.</param>
    /// <param name="work">The work.</param>
    /// <param name="cancellation">Keeps work from beginning, and ends none.</param>
    Task<T> Run<T>(object by, Func<T> work, CancellationToken cancellation);
}

/// <summary>Changes of names that survive a crash of the machine.</summary>
internal static class DurableNames
{
    private const int Levels = 3;

    /// <summary>Makes a folder whose name, and those of the folders above, survive whatever is flushed into it later.</summary>
    /// <param name="files">The file system.</param>
    /// <param name="folder">The folder.</param>
    /// <param name="isNew">
    /// Nothing is in it yet that counts. Should an earlier start have died between making and flushing, the names are there and nobody knows whether they last:
    /// three levels, up to the data folder, may be ours and are flushed again.
    /// </param>
    public static void MakeFolder(this ILogFileSystem files, string folder, bool isNew)
    {
        var above = Path.GetDirectoryName(folder);
        var isMissing = !files.HasFolder(folder);
        if (above is null || (!isMissing && !isNew))
        {
            return;
        }

        if (!files.HasFolder(above))
        {
            files.MakeFolder(above, isNew: false);
        }

        if (isMissing)
        {
            files.CreateFolder(folder);
        }

        files.FlushFolder(above);
        for (var level = 2; isNew && level <= Levels && Path.GetDirectoryName(above) is { } top; level++)
        {
            above = top;
            try
            {
                files.FlushFolder(top);
            }
            catch (UnauthorizedAccessException)
            {
                return; // it is not ours, so we did not make what is in it
            }
        }
    }

    /// <summary>Puts a flushed file in the place of another, or none, so that a crash leaves one or the other; durable on return.</summary>
    public static void Replace(this ILogFileSystem files, string source, string target)
    {
        files.Rename(source, target);
        files.FlushFolder(Path.GetDirectoryName(target)!);
    }
}

/// <summary>An open file. Positions are from its start.</summary>
internal interface ILogFile : IDisposable
{
    long Length { get; }

    /// <summary>Reads until the span is full or the file ends; says how many bytes it read.</summary>
    int Read(Span<byte> into, long position);

    void Write(ReadOnlySpan<byte> bytes, long position);

    void Truncate(long length);

    /// <summary>Returns when everything written is on disk.</summary>
    void Flush();
}
