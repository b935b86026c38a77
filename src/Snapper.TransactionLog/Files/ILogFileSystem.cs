namespace Snapper.TransactionLog.Files;

/// <summary>What the file log needs of a file system; a seam, so that tests can make it full or broken.</summary>
internal interface ILogFileSystem
{
    void CreateFolder(string folder);

    /// <summary>Names (without folder) of the files that match, in ordinal order.</summary>
    IReadOnlyList<string> List(string folder, string pattern);

    /// <summary>Opens for reading and writing; creates the file when asked to and it is missing.</summary>
    ILogFile Open(string path, bool create);

    /// <summary>The whole file; null: there is none.</summary>
    byte[]? ReadAll(string path);

    /// <summary>Puts a file in the place of another, or none, so that a crash leaves one or the other; durable on return.</summary>
    void Replace(string source, string target);

    /// <summary>Deletes if it is there.</summary>
    void Delete(string path);

    /// <summary>Makes names that were created, renamed or deleted in the folder durable.</summary>
    void FlushFolder(string folder);

    /// <summary>Takes an exclusive lock that other processes see and that ends with this process; null: another one has it.</summary>
    IDisposable? TryLock(string path);
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
