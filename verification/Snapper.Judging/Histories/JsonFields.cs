using System.Text.Json;

namespace Snapper.Judging.Histories;

/// <summary>Reads single fields, with errors that name the field, what it takes and what was found.</summary>
internal static class JsonFields
{
    private const int LongestQuote = 60;

    public static void ExpectObject(ref Utf8JsonReader json)
    {
        if (json.TokenType != JsonTokenType.StartObject)
        {
            throw new FormatException($"expected an object, found {Found(ref json)}.");
        }
    }

    /// <summary>The next field's name, with the reader on its value; null at the end of the object.</summary>
    public static string? NextField(ref Utf8JsonReader json)
    {
        json.Read();
        if (json.TokenType == JsonTokenType.EndObject)
        {
            return null;
        }

        var name = json.GetString()!;
        json.Read();
        return name;
    }

    public static string Text(ref Utf8JsonReader json, string name) =>
        json.TokenType == JsonTokenType.String ? json.GetString()! : throw new FormatException($"\"{name}\" is a string, found {Found(ref json)}.");

    public static bool Truth(ref Utf8JsonReader json, string name) =>
        json.TokenType is JsonTokenType.True or JsonTokenType.False ? json.GetBoolean() : throw new FormatException($"\"{name}\" is true or false, found {Found(ref json)}.");

    public static long Integer(ref Utf8JsonReader json, string name) =>
        json.TokenType == JsonTokenType.Number && json.TryGetInt64(out var value)
            ? value
            : throw new FormatException($"\"{name}\" is a whole number of 64 bits, found {Found(ref json)}.");

    public static int Integer(ref Utf8JsonReader json, string name, int least, int most) =>
        Integer(ref json, name) is var value && value >= least && value <= most ? (int)value : throw new FormatException($"\"{name}\" is from {least} to {most}, found {value}.");

    /// <summary>What the reader stands on, in words.</summary>
    public static string Found(ref Utf8JsonReader json) => json.TokenType switch
    {
        JsonTokenType.StartObject => "an object",
        JsonTokenType.StartArray => "an array",
        JsonTokenType.EndArray => "nothing more",
        JsonTokenType.String => $"\"{Clip(json.GetString()!)}\"",
        JsonTokenType.Number => Clip(System.Text.Encoding.UTF8.GetString(json.ValueSpan)),
        JsonTokenType.Null => "null",
        JsonTokenType.True => "true",
        JsonTokenType.False => "false",
        _ => json.TokenType.ToString(),
    };

    /// <summary>Quotes foreign text at most so far.</summary>
    public static string Clip(string text) => text.Length <= LongestQuote ? text : text[..LongestQuote] + "...";
}
