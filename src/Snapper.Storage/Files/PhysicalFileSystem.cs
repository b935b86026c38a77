using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace Snapper.Storage.Files;

/// <summary>The operating system's files.</summary>
internal sealed class PhysicalFileSystem : ILogFileSystem
{
    private const int AccessDenied = 13;

    public static PhysicalFileSystem Instance { get; } = new();

    public bool HasFolder(string folder) => Directory.Exists(folder);

    public void CreateFolder(string folder) => Directory.CreateDirectory(folder);

    public IReadOnlyList<string> List(string folder, string pattern)
    {
        var names = Array.ConvertAll(Directory.GetFiles(folder, pattern), path => Path.GetFileName(path));
        Array.Sort(names, StringComparer.Ordinal);
        return names;
    }

    public ILogFile Open(string path, bool create) =>
        new PhysicalFile(File.OpenHandle(path, create ? FileMode.OpenOrCreate : FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete));

    public byte[]? ReadAll(string path)
    {
        try
        {
            return File.ReadAllBytes(path);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public void Rename(string source, string target) => File.Move(source, target, overwrite: true);

    public void Delete(string path) => File.Delete(path);

    public void FlushFolder(string folder)
    {
        // Windows makes names durable with the file; elsewhere the folder is a file of its own, which .NET does not open.
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        var descriptor = OpenFolder(Encoding.UTF8.GetBytes(folder + "\0"), 0);
        if (descriptor < 0)
        {
            var error = Marshal.GetLastPInvokeError();
            var problem = $"Folder {folder} cannot be opened to flush it: error {error}.";
            throw error == AccessDenied ? new UnauthorizedAccessException(problem) : new IOException(problem, error);
        }

        try
        {
            if (FlushDescriptor(descriptor) != 0)
            {
                // With its number, so that "no space" is known for what it is.
                var error = Marshal.GetLastPInvokeError();
                throw new IOException($"Folder {folder} cannot be flushed: error {error}.", error);
            }
        }
        finally
        {
            _ = CloseDescriptor(descriptor);
        }
    }

    public IDisposable? TryLock(string path)
    {
        try
        {
            // Without sharing: an flock on Unix, a share mode on Windows. The kernel lets go when the process ends.
            return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, bufferSize: 0);
        }
        catch (IOException) when (File.Exists(path))
        {
            return null;
        }
    }

    public TimeProvider Time => TimeProvider.System;

    public void Wait(TimeSpan time) => Thread.Sleep(time);

    // Flushing to disk blocks its thread for as long as the disk takes, so each call takes one of the pool's.
    public Task<T> Run<T>(object by, Func<T> work, CancellationToken cancellation) => Task.Run(work, cancellation);

    [DllImport("libc", EntryPoint = "open", SetLastError = true)]
    private static extern int OpenFolder(byte[] path, int flags);

    [DllImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static extern int FlushDescriptor(int descriptor);

    [DllImport("libc", EntryPoint = "close")]
    private static extern int CloseDescriptor(int descriptor);

    private sealed class PhysicalFile(SafeFileHandle handle) : ILogFile
    {
        public long Length => RandomAccess.GetLength(handle);

        public int Read(Span<byte> into, long position)
        {
            var read = 0;
            while (read < into.Length)
            {
                var more = RandomAccess.Read(handle, into[read..], position + read);
                if (more == 0)
                {
                    break;
                }

                read += more;
            }

            return read;
        }

        public void Write(ReadOnlySpan<byte> bytes, long position) => RandomAccess.Write(handle, bytes, position);

        public void Truncate(long length) => RandomAccess.SetLength(handle, length);

        public void Flush() => RandomAccess.FlushToDisk(handle);

        public void Dispose() => handle.Dispose();
    }
}
