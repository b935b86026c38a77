using System.Globalization;
using System.Runtime.CompilerServices;
using Snapper.TransactionLog.Remembering;

namespace Snapper.TransactionLog.Files;

/// <summary>
/// A log in a local folder: segment files of frames, one frame per group, flushed to disk before an append returns.
/// Opening it raises the epoch in a file; a writer that was passed, in this process or another, finds out at its next append,
/// because each one reads the epoch under a lock that all share.
/// </summary>
/// <remarks>
/// Files: <c>meta.json</c> (epoch, first sequence, watermarks), <c>log-N.seg</c> (N: number of the first record), <c>log.lock</c>.
/// A torn frame at the very end of the last segment is dropped; damage anywhere else is a <see cref="CorruptLogException"/>.
/// </remarks>
public sealed class FileTransactionLog : IIdentifiedLog
{
    private const string LockName = "log.lock";
    private readonly LogFolder _folder;
    private readonly FileLogOptions _options;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private byte[] _frame = [];
    private ILogFile? _active;
    private long _activeFirst;
    private long _activeLength;
    private uint _activeSalt;
    private long _next;
    private bool _tailUnsure;

    /// <summary>A log in a folder, which is created when it is missing.</summary>
    public FileTransactionLog(string folder, FileLogOptions? options = null)
        : this(folder, options ?? new FileLogOptions(), PhysicalFileSystem.Instance)
    {
    }

    internal FileTransactionLog(string folder, FileLogOptions options, ILogFileSystem files)
    {
        _folder = new LogFolder(folder, files);
        _options = options;
    }

    /// <inheritdoc/>
    public string Kind => "file";

    /// <inheritdoc/>
    public string Id { get; private set; } = "";

    /// <inheritdoc/>
    public long AcknowledgedNext => Volatile.Read(ref _next);

    internal LogFolder Folder => _folder;

    // Flushing to disk blocks its thread for as long as the disk takes, so each call takes one of the pool's.

    /// <inheritdoc/>
    public Task<LogStanding?> Look(CancellationToken cancellation) => Task.Run(LookNow, cancellation);

    /// <inheritdoc/>
    public Task<LogOpening> Open(CancellationToken cancellation) => Task.Run(OpenNow, cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
        Task.Run(() => AppendNow(epoch, firstSequence, count, group.Span), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => Task.Run(() => CheckNow(epoch), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        Task.Run(() => TrimNow(epoch, keepFrom, watermarks), cancellation);

    /// <inheritdoc/>
    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        List<long> segments;
        long end, activeFirst, activeEnd;
        lock (_gate)
        {
            if (_active is null)
            {
                throw new InvalidOperationException("The log must be opened before it is read.");
            }

            segments = Segments();
            end = _next;
            activeFirst = _activeFirst;
            activeEnd = _activeLength;
        }

        await Task.CompletedTask;
        long? expected = null;
        for (var i = 0; i < segments.Count && segments[i] < end; i++)
        {
            if (i + 1 < segments.Count && segments[i + 1] <= fromSequence)
            {
                continue;
            }

            var name = _folder.PathOf(SegmentName(segments[i]));
            ILogFile file;
            try
            {
                file = _folder.Files.Open(name, create: false);
            }
            catch (FileNotFoundException) when (expected is null)
            {
                // Trimmed since the segments were listed: the log begins later now.
                continue;
            }

            using (file)
            {
                if (expected is not null && expected != segments[i])
                {
                    throw new CorruptLogException($"Records {expected} to {segments[i] - 1} are missing: segment {name} begins with {segments[i]}.");
                }

                expected = segments[i];
                var reader = new FrameFileReader(file, name, segments[i] == activeFirst ? Math.Min(activeEnd, file.Length) : file.Length);
                if (!reader.Start())
                {
                    throw new CorruptLogException($"File {name}, offset 0: the header is cut off.");
                }

                while (ReadGroup(reader, name, fromSequence, ref expected, out var group))
                {
                    cancellation.ThrowIfCancellationRequested();
                    if (group is { } read)
                    {
                        yield return read;
                    }
                }
            }
        }

        if ((expected ?? end) < end)
        {
            throw new CorruptLogException($"Records {expected} to {end - 1} are missing at the end of the log in {_folder.Path}.");
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _active?.Dispose();
            _active = null;
        }

        return ValueTask.CompletedTask;
    }

    private static string SegmentName(long first) => string.Create(CultureInfo.InvariantCulture, $"log-{first:D19}.seg");

    private static bool ReadGroup(FrameFileReader reader, string name, long from, ref long? expected, out LogGroup? group)
    {
        group = null;
        if (!reader.Next(mayBeTorn: false, h => h.Number + h.Count > from, out var payload))
        {
            return false;
        }

        var header = reader.Header;
        CheckSequence(header, expected!.Value, name, reader.FrameStart);
        expected = header.Number + header.Count;
        if (header.Number + header.Count > from)
        {
            group = new LogGroup(header.Number, header.Count, payload.ToArray());
        }

        return true;
    }

    private static void CheckSequence(FrameHeader header, long expected, string name, long offset)
    {
        if (header.Number != expected || header.Count < 1)
        {
            throw new CorruptLogException($"File {name}, offset {offset}: a group with records from {header.Number} on ({header.Count}) where record {expected} should follow.");
        }
    }

    private List<long> Segments()
    {
        var segments = new List<long>();
        foreach (var name in _folder.Files.List(_folder.Path, "log-*.seg"))
        {
            if (!long.TryParse(name.AsSpan(4, name.Length - 8), NumberStyles.None, CultureInfo.InvariantCulture, out var first) || first < 1)
            {
                throw new CorruptLogException($"File {_folder.PathOf(name)} is named like a segment, but not by a record number.");
            }

            segments.Add(first);
        }

        segments.Sort();
        return segments;
    }

    private LogStanding? LookNow()
    {
        try
        {
            // How far it goes is known only once its last segment is read.
            return _folder.ReadMeta() is { } meta ? new LogStanding(meta.Id, meta.Epoch, null) : null;
        }
        catch (DirectoryNotFoundException)
        {
            return null;
        }
    }

    private LogOpening OpenNow()
    {
        lock (_gate)
        {
            _folder.Files.CreateFolder(_folder.Path);
            using var between = _folder.Lock(LockName);
            var segments = Segments();
            var meta = _folder.ReadMeta();
            if (meta is null && segments.Count > 0)
            {
                throw new CorruptLogException($"Folder {_folder.Path} has segments of a log but no meta.json with its epoch.");
            }

            // The epoch rises first (fence), then absence can be read (R2).
            meta ??= LogFolderMeta.None;
            meta = meta with { Epoch = meta.Epoch + 1, Id = meta.Id.Length > 0 ? meta.Id : Guid.NewGuid().ToString("N") };
            _folder.WriteMeta(meta);
            Id = meta.Id;

            if (segments.Count == 0)
            {
                NewSegment(meta.FirstSequence);
            }
            else
            {
                OpenLastSegment(segments);
            }

            if (_next < meta.FirstSequence)
            {
                throw new CorruptLogException($"The log in {_folder.Path} ends before record {_next}, but it was trimmed up to {meta.FirstSequence}.");
            }

            var oldest = segments.Count == 0 ? _next : segments[0];
            return new LogOpening(meta.Epoch, _next, Math.Max(oldest, meta.FirstSequence), meta.Watermarks);
        }
    }

    private void OpenLastSegment(List<long> segments)
    {
        _active?.Dispose();
        _active = null;
        var first = segments[^1];
        var name = _folder.PathOf(SegmentName(first));
        var file = _folder.Files.Open(name, create: false);
        try
        {
            var length = file.Length;
            var reader = new FrameFileReader(file, name, length);
            if (!reader.Start())
            {
                // A crash while the segment was made: nothing was ever in it.
                file.Dispose();
                NewSegment(first);
                return;
            }

            var expected = first;
            while (reader.Next(mayBeTorn: true, static _ => true, out _))
            {
                CheckSequence(reader.Header, expected, name, reader.FrameStart);
                expected += reader.Header.Count;
            }

            _active = file;
            _activeFirst = first;
            _activeLength = reader.Position;
            _activeSalt = reader.Salt;
            _next = expected;
            _tailUnsure = reader.Position < length;
            DropUnsureTail();
        }
        catch
        {
            _active = null;
            file.Dispose();
            throw;
        }
    }

    private AppendResult AppendNow(long epoch, long firstSequence, int count, ReadOnlySpan<byte> group)
    {
        lock (_gate)
        {
            if (_active is null)
            {
                throw new InvalidOperationException("The log must be opened before it is written.");
            }

            using var between = _folder.Lock(LockName);
            if (_folder.Fence(epoch, out _) is { } fenced)
            {
                return fenced;
            }

            var position = AppendPosition.Of(_next, firstSequence, count);
            if (position.Status != AppendStatus.Appended)
            {
                return position;
            }

            try
            {
                Write(firstSequence, count, group);
                return position;
            }
            catch (IOException error) when (DiskFull.Is(error))
            {
                // Without the partial bytes it is certain that nothing was appended.
                DropUnsureTail();
                return new AppendResult(AppendStatus.Refused, $"no room in {_folder.Path}: {error.Message}");
            }
        }
    }

    private void Write(long firstSequence, int count, ReadOnlySpan<byte> group)
    {
        DropUnsureTail();
        if (_activeLength >= _options.SegmentBytes)
        {
            NewSegment(firstSequence);
        }

        var size = FrameHeader.Bytes + group.Length;
        if (_frame.Length < size)
        {
            _frame = new byte[Math.Max(size, 64 * 1024)];
        }

        FrameHeader.Write(_frame, _activeSalt, firstSequence, count, group);
        group.CopyTo(_frame.AsSpan(FrameHeader.Bytes));

        // After a failed write or flush nobody knows which pages reached the disk: the next try starts from a clean tail
        // and writes all of it again, it never trusts what an earlier flush may have dropped.
        _tailUnsure = true;
        _active!.Write(_frame.AsSpan(0, size), _activeLength);
        _active.Flush();
        _tailUnsure = false;
        _activeLength += size;
        _next = firstSequence + count;
    }

    private void DropUnsureTail()
    {
        if (_tailUnsure)
        {
            _active!.Truncate(_activeLength);
            _active.Flush();
            _tailUnsure = false;
        }
    }

    private void NewSegment(long first)
    {
        var salt = (uint)Random.Shared.NextInt64(1, uint.MaxValue);
        Span<byte> header = stackalloc byte[FileHeader.Bytes];
        FileHeader.Write(header, salt);
        var file = _folder.Files.Open(_folder.PathOf(SegmentName(first)), create: true);
        try
        {
            file.Truncate(0);
            file.Write(header, 0);
            file.Flush();
            _folder.Files.FlushFolder(_folder.Path);
        }
        catch
        {
            file.Dispose();
            throw;
        }

        _active?.Dispose();
        _active = file;
        _activeFirst = first;
        _activeLength = FileHeader.Bytes;
        _activeSalt = salt;
        _next = first;
        _tailUnsure = false;
    }

    private AppendResult CheckNow(long epoch)
    {
        using var between = _folder.Lock(LockName);
        return _folder.Fence(epoch, out _) ?? new AppendResult(AppendStatus.Appended);
    }

    private AppendResult TrimNow(long epoch, long keepFrom, LogWatermarks watermarks)
    {
        lock (_gate)
        {
            using var between = _folder.Lock(LockName);
            if (_folder.Fence(epoch, out var meta) is { } fenced)
            {
                return fenced;
            }

            try
            {
                keepFrom = Math.Min(keepFrom, _next);
                if (keepFrom == _next && _activeLength > Math.Min(_options.SegmentBytes, 1024 * 1024))
                {
                    // Nothing in the last segment is needed: a new one lets it go, and a restart has nothing to read.
                    DropUnsureTail();
                    NewSegment(_next);
                }

                // First the numbers, then the files: a crash between leaves files that the next trim removes.
                _folder.WriteMeta(meta with { FirstSequence = Math.Max(meta.FirstSequence, keepFrom), Watermarks = meta.Watermarks.Max(watermarks) });
                var segments = Segments();
                for (var i = 0; i + 1 < segments.Count && segments[i + 1] <= keepFrom; i++)
                {
                    _folder.Files.Delete(_folder.PathOf(SegmentName(segments[i])));
                }

                return new AppendResult(AppendStatus.Appended);
            }
            catch (IOException error) when (DiskFull.Is(error))
            {
                return new AppendResult(AppendStatus.Refused, $"no room in {_folder.Path}: {error.Message}");
            }
        }
    }
}
