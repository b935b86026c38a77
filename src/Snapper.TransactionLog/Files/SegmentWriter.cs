namespace Snapper.TransactionLog.Files;

/// <summary>
/// The last segment of a log, which is written: knows where its good end is, and never trusts what a failed write left behind
/// it. Not thread-safe.
/// </summary>
internal sealed class SegmentWriter : IDisposable
{
    private readonly LogFolder _folder;
    private readonly LogSegments _segments;
    private readonly long _segmentBytes;
    private byte[] _frame = [];
    private ILogFile? _active;
    private long _activeFirst;
    private long _activeLength;
    private uint _activeSalt;
    private long _next;
    private bool _tailUnsure;

    /// <summary>Has no segment until one is opened or made.</summary>
    public SegmentWriter(LogFolder folder, LogSegments segments, long segmentBytes)
    {
        _folder = folder;
        _segments = segments;
        _segmentBytes = segmentBytes;
    }

    /// <summary>There is a segment to write to.</summary>
    public bool IsOpen => _active is not null;

    /// <summary>Number of the next record; from any thread.</summary>
    public long Next => Volatile.Read(ref _next);

    /// <summary>Where the log ends now.</summary>
    public LogEnd End => new(_activeFirst, _activeLength, _next);

    /// <summary>Takes the segment that begins with a number as the last one; a torn end is dropped.</summary>
    /// <exception cref="CorruptLogException">Its damage is not that of an unfinished write.</exception>
    public void Open(long first)
    {
        _active?.Dispose();
        _active = null;
        var name = _segments.PathOf(first);
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
                LogSegments.CheckSequence(reader.Header, expected, name, reader.FrameStart);
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

    /// <summary>Writes a group at the end and flushes it, in a new segment when this one is long enough.</summary>
    /// <exception cref="IOException">It may be there in part; the next call, or <see cref="DropUnsureTail"/>, cleans up first.</exception>
    public void Write(long firstSequence, int count, ReadOnlySpan<byte> group)
    {
        DropUnsureTail();
        if (_activeLength >= _segmentBytes)
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

    /// <summary>Removes what a failed write may have left.</summary>
    public void DropUnsureTail()
    {
        if (_tailUnsure)
        {
            _active!.Truncate(_activeLength);
            _active.Flush();
            _tailUnsure = false;
        }
    }

    /// <summary>Goes on in a new segment.</summary>
    public void NewSegment(long first)
    {
        var salt = (uint)Random.Shared.NextInt64(1, uint.MaxValue);
        Span<byte> header = stackalloc byte[FileHeader.Bytes];
        FileHeader.Write(header, salt);
        var file = _folder.Files.Open(_segments.PathOf(first), create: true);
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

    /// <summary>Closes the file; what was written is on disk.</summary>
    public void Dispose()
    {
        _active?.Dispose();
        _active = null;
    }
}
