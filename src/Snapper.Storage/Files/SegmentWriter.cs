using System.Runtime.InteropServices;
using Snapper.Storage.Log;

namespace Snapper.Storage.Files;

/// <summary>
/// The last segment of a log, which is written: knows where its good end is, and never trusts what a failed write left behind
/// it. Not thread-safe.
/// </summary>
internal sealed class SegmentWriter(LogFolder folder, LogSegments segments, long segmentBytes) : IDisposable
{
    private readonly LogFolder _folder = folder;
    private readonly LogSegments _segments = segments;
    private readonly long _segmentBytes = segmentBytes;
    private byte[] _frame = [];
    private ILogFile? _active;
    private long _activeFirst;
    private long _activeLength;
    private uint _activeSalt;
    private long _next;
    private bool _tailUnsure;

    public bool IsOpen => _active is not null;

    /// <summary>Number of the next record; from any thread.</summary>
    public long Next => Volatile.Read(ref _next);

    public LogEnd End => new(_activeFirst, _activeLength, _next);

    /// <summary>
    /// Takes the last segment with a whole group as the end; a torn group there is dropped. Segments without a group behind it
    /// count only if they begin where it ends: else they were being made when the process died or the disk was full, and went
    /// away; they never became part of the log.
    /// </summary>
    /// <param name="segments">All there are, in order; at least one.</param>
    /// <param name="trimmedBelow">The log was trimmed up to this record: it cannot end before it.</param>
    /// <exception cref="CorruptLogException">There is damage that is not that of an unfinished write, or records are missing.</exception>
    public void Open(List<long> segments, long trimmedBelow)
    {
        var last = segments.Count - 1;
        while (last > 0 && !HasGroup(segments[last]))
        {
            last--;
        }

        Open(segments[last], behind: CollectionsMarshal.AsSpan(segments)[(last + 1)..], trimmedBelow);
        if (segments[^1] == _next && _activeFirst != _next)
        {
            Open(_next, behind: [], trimmedBelow);
        }

        for (var i = last + 1; i < segments.Count; i++)
        {
            if (segments[i] != _activeFirst)
            {
                _folder.Files.Delete(_segments.PathOf(segments[i]));
            }
        }
    }

    private long LengthOf(long first)
    {
        using var file = _folder.Files.Open(_segments.PathOf(first), create: false);
        return file.Length;
    }

    private bool HasGroup(long first)
    {
        var name = _segments.PathOf(first);
        using var file = _folder.Files.Open(name, create: false);
        var reader = new FrameFileReader(file, name, file.Length);
        return reader.Start() && reader.Next(mayBeTorn: true, static _ => true, out _);
    }

    // The segments in "behind" hold no whole group, and begin behind this one.
    private void Open(long first, ReadOnlySpan<long> behind, long trimmedBelow)
    {
        var mustReach = behind.IsEmpty ? first : behind[^1];
        _active?.Dispose();
        _active = null;
        var name = _segments.PathOf(first);
        var file = _folder.Files.Open(name, create: false);
        try
        {
            var length = file.Length;
            var reader = new FrameFileReader(file, name, length);
            var hasHeader = reader.Start();
            var expected = first;
            while (hasHeader && reader.Next(mayBeTorn: true, static _ => true, out _))
            {
                LogSegments.CheckSequence(reader.Header, expected, name, reader.FrameStart);
                expected += reader.Header.Count;
            }

            if (expected < mustReach && mustReach <= trimmedBelow)
            {
                // A crash has brought back one of the segments that a trim had deleted, and not those behind it: it is no part of the log any more.
                file.Dispose();
                Open(mustReach, behind: [], trimmedBelow);
                return;
            }

            if (expected < mustReach)
            {
                // Before anything is cut off: a segment behind this one says that its end was whole once.
                throw new CorruptLogException($"Records {expected} to {mustReach - 1} are missing: segment {name} ends before them, and the last one begins with {mustReach}.");
            }

            foreach (var other in behind)
            {
                // An unfinished segment is empty. One with a group in it had become the end, so that no segment before it goes on past its beginning.
                if (other < expected && other >= trimmedBelow && LengthOf(other) > FileHeader.Bytes)
                {
                    throw new CorruptLogException($"Segment {_segments.PathOf(other)} is damaged, or segment {name} is: that one ends with record {expected - 1}.");
                }
            }

            if (expected < trimmedBelow)
            {
                throw new CorruptLogException($"The log in {_folder.Path} ends before record {expected}, but it was trimmed up to {trimmedBelow}.");
            }

            if (!hasHeader)
            {
                // A crash while the segment was made: nothing was ever in it.
                file.Dispose();
                NewSegment(first);
                return;
            }

            _active = file;
            _activeFirst = first;
            _activeLength = reader.Position;
            _activeSalt = reader.Salt;
            _next = expected;
            _tailUnsure = reader.Position < length;
            DropUnsureTail();
            MakeCertain(reader);
        }
        catch
        {
            _active = null;
            file.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Whoever wrote the last group may have died before the flush, or after one that failed; then the system holds bytes that it will not write any more.
    /// From now on they are part of the log, so they are written again, and flushed.
    /// </summary>
    private void MakeCertain(FrameFileReader reader)
    {
        if (_activeLength == FileHeader.Bytes)
        {
            return;
        }

        var last = new byte[reader.Position - reader.FrameStart];
        if (_active!.Read(last, reader.FrameStart) < last.Length)
        {
            throw new CorruptLogException($"Segment {_segments.PathOf(_activeFirst)} has become shorter than {reader.Position} bytes.");
        }

        _active.Write(last, reader.FrameStart);
        _active.Flush();
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

    /// <summary>Goes on in a new segment, which gets its name only when it is whole; on an error the old one stays, and none lies behind it.</summary>
    public void NewSegment(long first)
    {
        if (_active is not null && _activeFirst == first)
        {
            // Nothing is in it yet: it is the new one.
            return;
        }

        var salt = (uint)Random.Shared.NextInt64(1, uint.MaxValue);
        Span<byte> header = stackalloc byte[FileHeader.Bytes];
        FileHeader.Write(header, salt);
        var path = _segments.PathOf(first);
        var temporary = path + LogSegments.Unfinished;
        ILogFile? file = null;
        try
        {
            file = _folder.Files.Open(temporary, create: true);
            file.Truncate(0);
            file.Write(header, 0);
            file.Flush();
            _folder.Files.Replace(temporary, path);
        }
        catch
        {
            // It may have its name already, and only the flush of the folder failed. Should a crash bring it back, or deleting
            // fail: an empty segment behind one that goes on is recognised when the log is opened, and not read before.
            file?.Dispose();
            _folder.Files.Delete(temporary);
            _folder.Files.Delete(path);
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
