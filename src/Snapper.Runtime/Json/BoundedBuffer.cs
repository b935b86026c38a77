using System.Buffers;

namespace Snapper.Runtime.Json;

/// <summary>Takes what is written until a limit is passed: who writes too much is stopped on the way, not afterwards.</summary>
public sealed class BoundedBuffer : IBufferWriter<byte>
{
    private const int MaxKept = 64 * 1024;

    // Larger ones are rented: each would be garbage of the large object heap, of which only a full collection disposes.
    private byte[] _bytes = new byte[256];
    private byte[]? _kept;
    private int _count;
    private int _limit;

    /// <summary>What was written since it was emptied; valid until more is.</summary>
    public ReadOnlyMemory<byte> Written => _bytes.AsMemory(0, _count);

    /// <summary>Empties it, and keeps its memory.</summary>
    /// <param name="limit">Most bytes that it takes from now on.</param>
    public void Begin(int limit)
    {
        _count = 0;
        _limit = limit;
    }

    /// <summary>Takes what was written, and empties it.</summary>
    public byte[] Take()
    {
        var bytes = _bytes.AsSpan(0, _count).ToArray();
        GiveBack();
        return bytes;
    }

    /// <summary>Empties it; what it has rented goes back.</summary>
    public void GiveBack()
    {
        _count = 0;
        if (_kept is { } kept)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            (_bytes, _kept) = (kept, null);
        }
    }

    public void Advance(int count) => _count += count;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Demand(sizeHint);
        return _bytes.AsMemory(_count);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Demand(sizeHint);
        return _bytes.AsSpan(_count);
    }

    // What one more piece of a few kilobytes adds is told by the length of the whole.
    private void Demand(int sizeHint)
    {
        if (_count > _limit)
        {
            throw new InvalidOperationException($"it has more than {_limit} bytes, which is the limit.");
        }

        var wanted = _count + Math.Max(sizeHint, 1);
        if (wanted > _bytes.Length)
        {
            Grow(Math.Max(wanted, 2 * _bytes.Length));
        }
    }

    private void Grow(int length)
    {
        var larger = length <= MaxKept ? new byte[length] : ArrayPool<byte>.Shared.Rent(length);
        _bytes.AsSpan(0, _count).CopyTo(larger);
        if (_kept is not null)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
        }
        else if (length > MaxKept)
        {
            _kept = _bytes;
        }

        _bytes = larger;
    }
}
