using System.Runtime.CompilerServices;
using Snapper.Storage.Log;

namespace Snapper.Storage.Files;

/// <summary>
/// A log in a local folder: segment files of frames, one frame per group, flushed to disk before an append returns.
/// Opening it raises the epoch in a file; a writer that was passed, in this process or another, finds out at its next append,
/// because each one reads the epoch under a lock that all share.
/// </summary>
/// <remarks>
/// Files: <c>meta.json</c> (epoch, first sequence, watermarks, newest known data file of states), <c>log-N.seg</c> (N: number of the first record;
/// with <c>.new</c> behind it while it is being made), <c>log.lock</c>. A torn frame at the very end of the last segment is dropped; damage anywhere else is a
/// <see cref="CorruptLogException"/>.
/// </remarks>
public sealed class FileTransactionLog : IIdentifiedLog
{
    private const int ReadBytes = 1024 * 1024;

    private readonly LogFolder _folder;
    private readonly LogSegments _segments;
    private readonly FileLogOptions _options;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private readonly SegmentWriter _writer;

    /// <summary>A log in a folder, which is created when it is missing.</summary>
    public FileTransactionLog(string folder, FileLogOptions? options = null)
        : this(folder, options ?? new FileLogOptions(), PhysicalFileSystem.Instance)
    {
    }

    internal FileTransactionLog(string folder, FileLogOptions options, ILogFileSystem files)
    {
        _folder = new LogFolder(folder, files);
        _options = options;
        _segments = new LogSegments(_folder);
        _writer = new SegmentWriter(_folder, _segments, options.SegmentBytes);
    }

    /// <inheritdoc/>
    public string Kind => "file";

    /// <inheritdoc/>
    public string Id { get; private set; } = "";

    /// <inheritdoc/>
    public long AcknowledgedNext => _writer.Next;

    internal LogFolder Folder => _folder;

    internal FileLogOptions Options => _options;

    /// <inheritdoc/>
    public Task<LogStanding?> Look(CancellationToken cancellation) => _folder.Files.Run(this, LookNow, cancellation);

    /// <inheritdoc/>
    public Task<LogOpening> Open(CancellationToken cancellation) => _folder.Files.Run(this, OpenNow, cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
        _folder.Files.Run(this, () => AppendNow(epoch, firstSequence, count, group.Span), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => _folder.Files.Run(this, () => CheckNow(epoch), cancellation);

    /// <inheritdoc/>
    public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
        _folder.Files.Run(this, () => TrimNow(epoch, keepFrom, watermarks), cancellation);

    /// <inheritdoc/>
    public async IAsyncEnumerable<LogGroup> Read(long fromSequence, [EnumeratorCancellation] CancellationToken cancellation)
    {
        // Not under the caller's feet: an append may hold the gate for as long as the disk takes.
        using var groups = (await _folder.Files.Run(this, () => GroupsFrom(fromSequence), cancellation).ConfigureAwait(false)).GetEnumerator();
        var part = new List<LogGroup>();

        // One at first: who looks for an outcome wants no more.
        for (var bytes = 1; await _folder.Files.Run(groups, () => ReadPart(groups, part, bytes), cancellation).ConfigureAwait(false); bytes = ReadBytes)
        {
            foreach (var group in part)
            {
                cancellation.ThrowIfCancellationRequested();
                yield return group;
            }
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _writer.Dispose();
        }

        return ValueTask.CompletedTask;
    }

    private IEnumerable<LogGroup> GroupsFrom(long fromSequence)
    {
        lock (_gate)
        {
            return _writer.IsOpen
                ? _segments.Read(_segments.List(), _writer.End, fromSequence)
                : throw new InvalidOperationException("The log must be opened before it is read.");
        }
    }

    /// <summary>Groups of some bytes, at least one; false: there is none.</summary>
    private static bool ReadPart(IEnumerator<LogGroup> groups, List<LogGroup> part, int bytes)
    {
        part.Clear();
        while (bytes > 0 && groups.MoveNext())
        {
            part.Add(groups.Current);
            bytes -= groups.Current.Records.Length;
        }

        return part.Count > 0;
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
            _folder.Files.MakeFolder(_folder.Path, isNew: false);
            using var between = _folder.Lock(LogFolder.LogLock);
            var segments = _segments.List();
            var meta = _folder.ReadMeta();
            if (meta is null && segments.Count > 0)
            {
                throw new CorruptLogException($"Folder {_folder.Path} has segments of a log but no meta.json with its epoch.");
            }

            if (meta is null)
            {
                _folder.Files.MakeFolder(_folder.Path, isNew: true);
            }

            CheckHead(meta, segments);
            _segments.DeleteUnfinished();
            meta ??= LogFolderMeta.None;
            _folder.DemandStateFile(meta, NumberedFiles.Of(_folder, LogFolder.StatePrefix));

            // The epoch rises first (fence), then absence can be read (R2).
            meta = meta with { Epoch = meta.Epoch + 1, Id = meta.Id.Length > 0 ? meta.Id : Guid.NewGuid().ToString("N") };
            _folder.WriteMeta(meta);
            Id = meta.Id;

            if (segments.Count == 0)
            {
                _writer.NewSegment(meta.FirstSequence);
            }
            else
            {
                _writer.Open(segments, meta.FirstSequence);
            }

            return new LogOpening(meta.Epoch, _writer.Next, meta.FirstSequence, meta.Watermarks);
        }
    }

    /// <summary>
    /// Trimming writes the first number down before it deletes files, and leaves a segment: a log that begins later was cut by
    /// somebody else. A new log may have no segment yet.
    /// </summary>
    private void CheckHead(LogFolderMeta? meta, List<long> segments)
    {
        if (meta is null)
        {
            return;
        }

        if (segments.Count == 0 && meta.FirstSequence > 1)
        {
            throw new CorruptLogException($"The log in {_folder.Path} was trimmed up to record {meta.FirstSequence}, and every segment is missing.");
        }

        if (segments.Count > 0 && segments[0] > meta.FirstSequence)
        {
            throw new CorruptLogException(
                $"Records {meta.FirstSequence} to {segments[0] - 1} are missing at the beginning of the log in {_folder.Path}: its first segment begins with record {segments[0]}.");
        }
    }

    private AppendResult AppendNow(long epoch, long firstSequence, int count, ReadOnlySpan<byte> group)
    {
        lock (_gate)
        {
            if (!_writer.IsOpen)
            {
                throw new InvalidOperationException("The log must be opened before it is written.");
            }

            using var between = _folder.Lock(LogFolder.LogLock);
            if (_folder.Fence(epoch, out _) is { } fenced)
            {
                return fenced;
            }

            var position = AppendPosition.Of(_writer.Next, firstSequence, count);
            if (position.Status != AppendStatus.Appended)
            {
                return position;
            }

            try
            {
                _writer.Write(firstSequence, count, group);
                return position;
            }
            catch (IOException error) when (DiskFull.Is(error))
            {
                // Without the partial bytes it is certain that nothing was appended.
                _writer.DropUnsureTail();
                return new AppendResult(AppendStatus.Refused, $"no room in {_folder.Path}: {error.Message}");
            }
        }
    }

    private AppendResult CheckNow(long epoch)
    {
        using var between = _folder.Lock(LogFolder.LogLock);
        return _folder.Fence(epoch, out _) ?? new AppendResult(AppendStatus.Appended);
    }

    private AppendResult TrimNow(long epoch, long keepFrom, LogWatermarks watermarks)
    {
        lock (_gate)
        {
            using var between = _folder.Lock(LogFolder.LogLock);
            if (_folder.Fence(epoch, out var meta) is { } fenced)
            {
                return fenced;
            }

            try
            {
                keepFrom = Math.Min(keepFrom, _writer.Next);
                if (keepFrom == _writer.Next && _writer.End.Length > Math.Min(_options.SegmentBytes, 1024 * 1024))
                {
                    // Nothing in the last segment is needed: a new one lets it go, and a restart has nothing to read.
                    _writer.DropUnsureTail();
                    _writer.NewSegment(_writer.Next);
                }

                // First the numbers, then the files: a crash between leaves files that the next trim removes.
                // With them goes how long the file of states is: a part of it that is lost later is found missing.
                if (_folder.StatesOnDisk is { } states && states.Number >= meta.StateFile)
                {
                    meta = meta with { StateFile = states.Number, StateBytes = states.Bytes };
                }

                _folder.WriteMeta(meta with { FirstSequence = Math.Max(meta.FirstSequence, keepFrom), Watermarks = meta.Watermarks.Max(watermarks) });
                // Never the active one, whatever else is listed.
                var segments = _segments.List();
                var deleteBelow = Math.Min(keepFrom, _writer.End.Segment);
                for (var i = 0; i + 1 < segments.Count && segments[i + 1] <= deleteBelow; i++)
                {
                    _folder.Files.Delete(_segments.PathOf(segments[i]));
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
