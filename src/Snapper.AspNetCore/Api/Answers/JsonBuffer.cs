using System.Text.Encodings.Web;
using System.Text.Json;
using Snapper.Runtime.Json;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>A JSON writer over memory that is used again for the next answer on the thread.</summary>
/// <remarks>
/// Whole answers are built before the first byte leaves: a status cannot be taken back, and lengths are known. Those of
/// batches, which are always 200, leave in parts.
/// </remarks>
internal sealed class JsonBuffer : IDisposable
{
    // The answers are JSON and never HTML, so only what JSON itself asks for is escaped (and characters beyond 16 bits).
    private static readonly JsonWriterOptions WriterOptions = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    [ThreadStatic]
    private static JsonBuffer? _kept;

    private readonly BoundedBuffer _bytes = new();

    private JsonBuffer()
    {
        Clear();
        Json = new Utf8JsonWriter(_bytes, WriterOptions);
    }

    public Utf8JsonWriter Json { get; }

    /// <summary>What was written so far; gone after <see cref="Dispose"/>.</summary>
    public ReadOnlyMemory<byte> Written
    {
        get
        {
            Json.Flush();
            return _bytes.Written;
        }
    }

    /// <summary>How much was written since the last <see cref="Clear"/>.</summary>
    public long Length => _bytes.Written.Length + Json.BytesPending;

    /// <summary>What was written has left; the object that is begun goes on.</summary>
    public void Clear() => _bytes.Begin(int.MaxValue);

    public static JsonBuffer Rent()
    {
        var buffer = _kept ?? new JsonBuffer();
        _kept = null;
        return buffer;
    }

    public void Dispose()
    {
        Json.Reset();
        _bytes.GiveBack();
        _kept = this;
    }
}
