using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Snapper.Storage.Log.Records;

/// <summary>A pooled, growing buffer that records are encoded into. Not thread-safe.</summary>
internal sealed class GroupBuffer
{
    /// <summary>Text with half a surrogate pair is refused: as U+FFFD two different names would become one.</summary>
    internal static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private byte[] _bytes = [];

    public int Length { get; private set; }

    public ReadOnlyMemory<byte> Written => _bytes.AsMemory(0, Length);

    public Span<byte> WrittenFrom(int start) => _bytes.AsSpan(start, Length - start);

    public void WriteByte(byte value)
    {
        if (Length == _bytes.Length)
        {
            Grow(1);
        }

        _bytes[Length++] = value;
    }

    public void WriteUInt128(UInt128 value) => BinaryPrimitives.WriteUInt128LittleEndian(Take(16), value);

    /// <summary>Seven bits per byte, lowest first; small numbers take one byte. Negative numbers take ten.</summary>
    public void WriteVarint(long number)
    {
        var value = (ulong)number;
        if (_bytes.Length - Length < 10)
        {
            Grow(10);
        }

        while (value >= 0x80)
        {
            _bytes[Length++] = (byte)(value | 0x80);
            value >>= 7;
        }

        _bytes[Length++] = (byte)value;
    }

    public void WriteString(string text)
    {
        var size = StrictUtf8.GetByteCount(text);
        WriteVarint(size);
        StrictUtf8.GetBytes(text, Take(size));
    }

    public void WriteBytes(ReadOnlySpan<byte> bytes) => bytes.CopyTo(Take(bytes.Length));

    public Span<byte> Take(int size)
    {
        if (_bytes.Length - Length < size)
        {
            Grow(size);
        }

        var span = _bytes.AsSpan(Length, size);
        Length += size;
        return span;
    }

    public void Truncate(int length) => Length = length;

    /// <summary>Gives the memory back to the pool; the buffer is empty and usable afterwards.</summary>
    public void Release()
    {
        Length = 0;
        if (_bytes.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = [];
        }
    }

    private void Grow(int more)
    {
        var needed = Math.Max(checked(Length + more), Math.Max(4096, (int)Math.Min(_bytes.Length * 2L, Array.MaxLength)));
        var larger = ArrayPool<byte>.Shared.Rent(needed);
        _bytes.AsSpan(0, Length).CopyTo(larger);
        if (_bytes.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
        }

        _bytes = larger;
    }
}
