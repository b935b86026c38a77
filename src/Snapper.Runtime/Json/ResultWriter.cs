using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Snapper.Runtime.Json;

/// <summary>Writes results as JSON. Each thread keeps one, so that a result costs the bytes that are kept and no more.</summary>
public sealed class ResultWriter
{
    [ThreadStatic]
    private static ResultWriter? t_idle;

    private readonly BoundedBuffer _buffer = new();
    private readonly Utf8JsonWriter _json;

    private ResultWriter() => _json = new Utf8JsonWriter(_buffer, new JsonWriterOptions { SkipValidation = true });

    /// <summary>A result as UTF-8 JSON.</summary>
    /// <exception cref="InvalidOperationException">It has more bytes than <paramref name="limit"/>.</exception>
    public static byte[] Write<T>(T result, JsonTypeInfo<T> type, int limit)
    {
        // Taken away while in use: the code of a type may write another result meanwhile. One that fails is not used again.
        var writer = t_idle ?? new ResultWriter();
        t_idle = null;
        writer._buffer.Begin(limit);
        writer._json.Reset();
        try
        {
            JsonSerializer.Serialize(writer._json, result, type);
            writer._json.Flush();
        }
        catch
        {
            writer._json.Reset(); // code of a type may have kept it: it must write into nothing that has gone back
            writer._buffer.GiveBack();
            throw;
        }

        var bytes = writer._buffer.Take();
        t_idle = writer;
        return bytes;
    }
}
