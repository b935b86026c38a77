using System.Buffers;

namespace Snapper.Judging.Histories;

/// <summary>Cuts a stream into lines without keeping more than one of them.</summary>
internal sealed class LineReader(Stream stream, int longestLine) : IDisposable
{
    private byte[] _buffer = ArrayPool<byte>.Shared.Rent(1 << 16);
    private int _start;
    private int _end;
    private int _lineEnd;
    private bool _ended;

    /// <summary>Of the current line, from 1.</summary>
    public long Number { get; private set; }

    /// <summary>True when the line was not read to its end; nothing can be read behind it.</summary>
    public bool TooLong { get; private set; }

    /// <summary>Without its line feed; valid until <see cref="Next"/>.</summary>
    public ReadOnlySpan<byte> Line => _buffer.AsSpan(_start, _lineEnd - _start);

    public bool IsBlank => Line.Trim(" \t\r"u8).IsEmpty;

    /// <summary>Goes to the next line; false at the end of the stream.</summary>
    public bool Next()
    {
        _start = Number == 0 ? 0 : Math.Min(_lineEnd + 1, _end);
        for (var searched = _start; ;)
        {
            var feed = _buffer.AsSpan(searched, _end - searched).IndexOf((byte)'\n');
            if (feed >= 0 || _ended)
            {
                _lineEnd = feed >= 0 ? searched + feed : _end;
                break;
            }

            searched = _end;
            if (_end - _start > longestLine)
            {
                (TooLong, _lineEnd) = (true, _end);
                break;
            }

            searched -= MakeRoom();
            var read = stream.Read(_buffer, _end, _buffer.Length - _end);
            _end += read;
            _ended = read == 0;
        }

        if (_ended && _start == _end)
        {
            return false;
        }

        // A byte order mark is no part of the text.
        if (++Number == 1 && Line.StartsWith("\uFEFF"u8))
        {
            _start += 3;
        }

        return true;
    }

    public void Dispose()
    {
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
    }

    /// <returns>By how much the line has moved to the front.</returns>
    private int MakeRoom()
    {
        if (_end < _buffer.Length)
        {
            return 0;
        }

        var moved = _start;
        var target = moved > 0 ? _buffer : ArrayPool<byte>.Shared.Rent(2 * _buffer.Length);
        Buffer.BlockCopy(_buffer, _start, target, 0, _end - _start);
        if (!ReferenceEquals(target, _buffer))
        {
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = target;
        }

        (_start, _end) = (0, _end - _start);
        return moved;
    }
}
