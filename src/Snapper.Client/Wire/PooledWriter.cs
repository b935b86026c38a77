using System.Buffers;
using System.Text.Json;

namespace Snapper.Client.Wire;

/// <summary>A JSON writer with its buffer, kept per thread: writing a request allocates nothing but its bytes.</summary>
internal sealed class PooledWriter : IDisposable
{
    private const int LargestKept = 64 * 1024;

    [ThreadStatic]
    private static PooledWriter? _cached;

    private readonly ArrayBufferWriter<byte> _buffer = new(512);
    private readonly Utf8JsonWriter _json;

    private PooledWriter() => _json = new Utf8JsonWriter(_buffer);

    public Utf8JsonWriter Json => _json;

    /// <summary>Takes the thread's writer, or a new one when a call inside a call already has it.</summary>
    public static PooledWriter Rent()
    {
        var writer = _cached ?? new PooledWriter();
        _cached = null;
        return writer;
    }

    public byte[] ToBytes()
    {
        _json.Flush();
        return _buffer.WrittenSpan.ToArray();
    }

    public void Dispose()
    {
        if (_buffer.Capacity > LargestKept)
        {
            return;
        }

        _buffer.ResetWrittenCount();
        _json.Reset(_buffer);
        _cached = this;
    }
}
