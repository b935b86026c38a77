using System.Buffers;

namespace Snapper.Runtime.Json;

/// <summary>Takes what is written until a limit is passed: who writes too much is stopped on the way, not afterwards.</summary>
public sealed class BoundedBuffer : IBufferWriter<byte>
{
    private readonly ArrayBufferWriter<byte> _bytes = new(256);
    private int _limit;

    /// <summary>Bytes that it holds without growing.</summary>
    public int Capacity => _bytes.Capacity;

    /// <summary>Empties it.</summary>
    /// <param name="limit">Most bytes that it takes from now on.</param>
    public void Begin(int limit)
    {
        _bytes.ResetWrittenCount();
        _limit = limit;
    }

    public byte[] ToArray() => _bytes.WrittenSpan.ToArray();

    public void Advance(int count) => _bytes.Advance(count);

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Demand();
        return _bytes.GetMemory(sizeHint);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Demand();
        return _bytes.GetSpan(sizeHint);
    }

    // What one more piece of a few kilobytes adds is told by the length of the whole.
    private void Demand()
    {
        if (_bytes.WrittenCount > _limit)
        {
            throw new InvalidOperationException($"it has more than {_limit} bytes, which is the limit.");
        }
    }
}
