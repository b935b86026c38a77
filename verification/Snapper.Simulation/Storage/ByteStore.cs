namespace Snapper.Simulation.Storage;

/// <summary>Bytes that grow: what a file holds in the operating system's memory, or on the disk.</summary>
internal sealed class ByteStore
{
    private byte[] _bytes = [];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Span => _bytes.AsSpan(0, Length);

    /// <summary>Writes; what lies between the end and the position becomes zeros.</summary>
    public void Write(ReadOnlySpan<byte> bytes, int position)
    {
        Resize(Math.Max(Length, position + bytes.Length));
        bytes.CopyTo(_bytes.AsSpan(position));
    }

    /// <summary>Cuts off, or adds zeros.</summary>
    public void Resize(int length)
    {
        if (length > _bytes.Length)
        {
            Array.Resize(ref _bytes, Math.Max(length, Math.Max(256, _bytes.Length * 2)));
        }

        if (length < Length)
        {
            _bytes.AsSpan(length, Length - length).Clear();
        }

        Length = length;
    }

    public void CopyFrom(ByteStore other)
    {
        Resize(0);
        Write(other.Span, 0);
    }

    /// <summary>Changes a byte.</summary>
    public void Flip(int position, byte bits) => _bytes[position] ^= bits;
}
