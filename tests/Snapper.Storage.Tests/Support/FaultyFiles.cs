using Snapper.Storage.Files;

namespace Snapper.Storage.Tests.Support;

/// <summary>A file system with a limit on its bytes and flushes that can fail, over real files.</summary>
internal sealed class FaultyFiles : ILogFileSystem
{
    private readonly PhysicalFileSystem _real = PhysicalFileSystem.Instance;

    /// <summary>Bytes that may still be added to files before it is full.</summary>
    public long Room { get; set; } = long.MaxValue;

    /// <summary>Flushes of files that fail with an I/O error, after which what was written since the last one is gone.</summary>
    public int FailingFlushes { get; set; }

    /// <summary>Flushes of folders that fail with an I/O error; what was renamed has its new name.</summary>
    public int FailingFolderFlushes { get; set; }

    public bool HasFolder(string folder) => _real.HasFolder(folder);

    public void CreateFolder(string folder) => _real.CreateFolder(folder);

    public IReadOnlyList<string> List(string folder, string pattern) => _real.List(folder, pattern);

    public ILogFile Open(string path, bool create) => new FaultyFile(this, _real.Open(path, create));

    public byte[]? ReadAll(string path) => _real.ReadAll(path);

    public void Rename(string source, string target) => _real.Rename(source, target);

    public void Delete(string path) => _real.Delete(path);

    public void FlushFolder(string folder)
    {
        FailFolderFlush();
        _real.FlushFolder(folder);
    }

    public IDisposable? TryLock(string path) => _real.TryLock(path);

    public TimeProvider Time => _real.Time;

    public void Wait(TimeSpan time) => _real.Wait(time);

    public Task<T> Run<T>(object by, Func<T> work, CancellationToken cancellation) => _real.Run(by, work, cancellation);

    private void FailFolderFlush()
    {
        if (FailingFolderFlushes > 0)
        {
            FailingFolderFlushes--;
            throw new IOException("Input/output error", 5);
        }
    }

    private sealed class FaultyFile(FaultyFiles files, ILogFile real) : ILogFile
    {
        private readonly List<(long Position, int Length)> _unflushed = [];

        public long Length => real.Length;

        public int Read(Span<byte> into, long position) => real.Read(into, position);

        public void Write(ReadOnlySpan<byte> bytes, long position)
        {
            var more = Math.Max(0, position + bytes.Length - real.Length);
            if (more > files.Room)
            {
                // As a real one does it: what fits is written.
                real.Write(bytes[..(int)(bytes.Length - (more - files.Room))], position);
                files.Room = 0;
                throw new IOException("No space left on device", DiskFull.NoSpace);
            }

            files.Room -= more;
            real.Write(bytes, position);
            _unflushed.Add((position, bytes.Length));
        }

        public void Truncate(long length)
        {
            files.Room += Math.Max(0, real.Length - length);
            real.Truncate(length);
        }

        public void Flush()
        {
            if (files.FailingFlushes > 0)
            {
                files.FailingFlushes--;
                foreach (var (position, length) in _unflushed)
                {
                    real.Write(new byte[length], position);
                }

                _unflushed.Clear();
                throw new IOException("Input/output error", 5);
            }

            _unflushed.Clear();
            real.Flush();
        }

        public void Dispose() => real.Dispose();
    }
}
