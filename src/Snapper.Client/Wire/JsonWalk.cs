using System.Text.Json;

namespace Snapper.Client.Wire;

/// <summary>Small steps through an answer. What has another type than expected is skipped: the worker may be newer.</summary>
internal static class JsonWalk
{
    public static void Expect(this ref Utf8JsonReader reader, JsonTokenType token)
    {
        if (!reader.Read() || reader.TokenType != token)
        {
            throw new JsonException($"Expected {token}, got {reader.TokenType}.");
        }
    }

    public static bool ReadProperty(this ref Utf8JsonReader reader) => reader.Read() && reader.TokenType == JsonTokenType.PropertyName;

    public static void SkipValue(this ref Utf8JsonReader reader)
    {
        reader.Read();
        reader.Skip();
    }

    public static string? ReadString(this ref Utf8JsonReader reader)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.String)
        {
            return reader.GetString();
        }

        reader.Skip();
        return null;
    }

    public static long ReadNumber(this ref Utf8JsonReader reader)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out var number))
        {
            return number;
        }

        reader.Skip();
        return 0;
    }

    /// <returns>The value is true; anything else is false.</returns>
    public static bool ReadTrue(this ref Utf8JsonReader reader)
    {
        reader.SkipValue();
        return reader.TokenType == JsonTokenType.True;
    }

    public static byte[] CopyValue(this ref Utf8JsonReader reader, ReadOnlySpan<byte> utf8)
    {
        reader.Read();
        var start = (int)reader.TokenStartIndex;
        reader.Skip();
        return utf8[start..(int)reader.BytesConsumed].ToArray();
    }
}
