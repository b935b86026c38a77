using Snapper.Storage.Files;

namespace Snapper.Fuzzing.Storage;

/// <summary>A file system in memory: fast enough for thousands of logs a second, and every byte can be looked at and broken. Flushing does nothing.</summary>
internal sealed class MemoryFiles : ILogFileSystem
{
    private readonly SortedDictionary<string, Content> _files = new(StringComparer.Ordinal);

    /// <summary>Names (without folder) of all files but the locks.</summary>
    public IReadOnlyList<string> Names => [.. _files.Keys.Select(path => Path.GetFileName(path)).Where(name => !name.EndsWith(".lock", StringComparison.Ordinal))];

    /// <summary>Bytes of a file; null: there is none.</summary>
    public byte[]? this[string name]
    {
        get => _files.TryGetValue(PathOf(name), out var file) ? file.Bytes[..file.Length] : null;
        set
        {
            if (value is null)
            {
                _files.Remove(PathOf(name));
            }
            else
            {
                _files[PathOf(name)] = new Content { Bytes = [.. value], Length = value.Length };
            }
        }
    }

    /// <summary>All files, copied.</summary>
    public Dictionary<string, byte[]> Snapshot() => Names.ToDictionary(name => name, name => this[name]!, StringComparer.Ordinal);

    public TimeProvider Time => TimeProvider.System;

    public bool HasFolder(string folder) => true;

    public void CreateFolder(string folder)
    {
    }

    public void Wait(TimeSpan time) => Thread.Sleep(time);

    public Task<T> Run<T>(object by, Func<T> work, CancellationToken cancellation)
    {
        try
        {
            return Task.FromResult(work()); // nothing here waits
        }
        catch (Exception exception)
        {
            return Task.FromException<T>(exception);
        }
    }

    public IReadOnlyList<string> List(string folder, string pattern)
    {
        var star = pattern.IndexOf('*', StringComparison.Ordinal);
        var (begin, end) = (pattern[..star], pattern[(star + 1)..]);
        return [.. Names.Where(name => name.Length >= begin.Length + end.Length && name.StartsWith(begin, StringComparison.Ordinal) && name.EndsWith(end, StringComparison.Ordinal))];
    }

    public ILogFile Open(string path, bool create)
    {
        if (!_files.TryGetValue(path, out var file))
        {
            _files[path] = file = create ? new Content() : throw new FileNotFoundException("There is no file " + path, path);
        }

        return new OpenFile(file);
    }

    public byte[]? ReadAll(string path) => this[Path.GetFileName(path)];

    public void Rename(string source, string target)
    {
        _files[target] = _files[source];
        _files.Remove(source);
    }

    public void Delete(string path) => _files.Remove(path);

    public void FlushFolder(string folder)
    {
    }

    public IDisposable? TryLock(string path) => new OpenFile(new Content());

    private static string PathOf(string name) => Path.Combine(Folder, name);

    /// <summary>The one folder there is.</summary>
    public static string Folder { get; } = Path.GetFullPath(Path.Combine(Path.DirectorySeparatorChar.ToString(), "memory"));

    private sealed class Content
    {
        public byte[] Bytes { get; set; } = [];

        public int Length { get; set; }
    }

    private sealed class OpenFile(Content content) : ILogFile
    {
        public long Length => content.Length;

        public int Read(Span<byte> into, long position)
        {
            var size = (int)Math.Max(0, Math.Min(into.Length, content.Length - position));
            if (size > 0)
            {
                content.Bytes.AsSpan((int)position, size).CopyTo(into);
            }

            return size;
        }

        public void Write(ReadOnlySpan<byte> bytes, long position)
        {
            Truncate(Math.Max(content.Length, position + bytes.Length));
            bytes.CopyTo(content.Bytes.AsSpan((int)position));
        }

        public void Truncate(long length)
        {
            if (length > content.Bytes.Length)
            {
                var larger = new byte[Math.Max(length, content.Bytes.Length * 2)];
                content.Bytes.AsSpan(0, content.Length).CopyTo(larger);
                content.Bytes = larger;
            }
            else if (length < content.Length)
            {
                content.Bytes.AsSpan((int)length, content.Length - (int)length).Clear();
            }

            content.Length = (int)length;
        }

        public void Flush()
        {
        }

        public void Dispose()
        {
        }
    }
}
