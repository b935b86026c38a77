using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Files;

/// <summary>Reads the frames of one file in order, through a window of a megabyte.</summary>
/// <param name="file">The file; stays the caller's.</param>
/// <param name="name">Its name, for errors.</param>
/// <param name="end">Where reading stops; at most the file's length.</param>
internal sealed class FrameFileReader(ILogFile file, string name, long end)
{
    private const int WindowBytes = 1024 * 1024;
    private readonly ILogFile _file = file;
    private readonly string _name = name;
    private readonly long _end = end;
    private byte[] _window = [];
    private long _windowStart;
    private int _windowLength;

    /// <summary>
    /// Several frames were written at once, and each one's count is its place among those: a crash may have torn one and left others behind it. Else one frame
    /// is written at a time, and its count is the writer's.
    /// </summary>
    public bool HasAppendsOfSeveral { get; init; }

    /// <summary>Where the next frame starts.</summary>
    public long Position { get; private set; }

    /// <summary>The salt that the file began with.</summary>
    public uint Salt { get; private set; }

    /// <summary>Header of the frame that <see cref="Next"/> found.</summary>
    public FrameHeader Header { get; private set; }

    /// <summary>Where that frame starts.</summary>
    public long FrameStart { get; private set; }

    /// <summary>Reads the file's header; false: it is cut off, as a crash while it was made leaves it.</summary>
    public bool Start()
    {
        if (!FileHeader.TryRead(Window(0, FileHeader.Bytes), out var salt))
        {
            return _end > FileHeader.Bytes
                ? throw new CorruptLogException($"File {_name} does not begin with a valid header (offset 0).")
                : false;
        }

        Salt = salt;
        Position = FileHeader.Bytes;
        return true;
    }

    /// <summary>
    /// Goes to the next frame. False: the file ends here, cleanly or with a torn frame, which <paramref name="mayBeTorn"/> must allow;
    /// <see cref="Position"/> is then where the next frame belongs.
    /// </summary>
    /// <param name="mayBeTorn">The file is the last one, whose end a crash may have torn.</param>
    /// <param name="wantPayload">Payloads below are passed over without checking them.</param>
    /// <param name="payload">Points into the window; valid until the next call.</param>
    /// <exception cref="CorruptLogException">A frame is damaged and whole ones follow it, or the file is not the last one.</exception>
    public bool Next(bool mayBeTorn, Func<FrameHeader, bool> wantPayload, out ReadOnlySpan<byte> payload)
    {
        payload = default;
        if (Position >= _end)
        {
            return false;
        }

        if (!FrameHeader.TryRead(Window(Position, FrameHeader.Bytes), Salt, out var header))
        {
            return Torn(mayBeTorn, "the header of a frame is damaged");
        }

        if (header.PayloadBytes > _end - Position - FrameHeader.Bytes)
        {
            return Torn(mayBeTorn, "a frame is cut off");
        }

        if (wantPayload(header))
        {
            payload = Window(Position + FrameHeader.Bytes, header.PayloadBytes);
            if (payload.Length < header.PayloadBytes || Checksum.Of(payload) != header.PayloadChecksum)
            {
                payload = default;
                return Torn(mayBeTorn, "a frame fails its checksum");
            }
        }

        Header = header;
        FrameStart = Position;
        Position += FrameHeader.Bytes + header.PayloadBytes;
        return true;
    }

    private bool Torn(bool mayBeTorn, string what)
    {
        if (!mayBeTorn)
        {
            throw new CorruptLogException($"File {_name}, offset {Position}: {what}.");
        }

        // The next append is written when the one before it is on disk, so a torn one has no other behind it: a frame further on that
        // begins one proves that this is not the end of an unfinished write but damage to something that was finished.
        for (var at = Position + 1; at + FrameHeader.Bytes <= _end; at++)
        {
            var window = Window(at, WindowBytes / 2);
            for (var i = 0; i + FrameHeader.Bytes <= window.Length; i++)
            {
                if (FrameHeader.TryRead(window[i..], Salt, out var behind) && (behind.Count == 1 || !HasAppendsOfSeveral))
                {
                    throw new CorruptLogException($"File {_name}, offset {Position}: {what}, and whole frames follow it from offset {at + i} on.");
                }
            }

            at += Math.Max(0, window.Length - FrameHeader.Bytes);
        }

        return false;
    }

    /// <summary>Bytes of the file; fewer than asked for only at its end.</summary>
    private ReadOnlySpan<byte> Window(long position, int size)
    {
        size = (int)Math.Min(size, _end - position);
        if (size <= 0)
        {
            return default;
        }

        if (position < _windowStart || position + size > _windowStart + _windowLength)
        {
            var wanted = (int)Math.Min(Math.Max(size, WindowBytes), _end - position);
            if (_window.Length < wanted)
            {
                _window = new byte[wanted];
            }

            _windowStart = position;
            _windowLength = _file.Read(_window.AsSpan(0, wanted), position);
        }

        var offset = (int)(position - _windowStart);
        return _window.AsSpan(offset, Math.Min(size, _windowLength - offset));
    }
}
