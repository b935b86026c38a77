using System.Text;
using System.Text.Json;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>Quotes what a caller sent, short enough for an error message.</summary>
internal static class ClippedText
{
    private const int CharactersMax = 40;

    public static string Of(string text)
    {
        if (text.Length <= CharactersMax)
        {
            return $"'{text}'";
        }

        // Half of a pair at the cut would come out as a replacement character.
        var end = char.IsHighSurrogate(text[CharactersMax - 1]) ? CharactersMax - 1 : CharactersMax;
        return $"'{text.AsSpan(0, end)}...'";
    }

    /// <summary>The raw text of the token, escapes as they came.</summary>
    public static string Of(in Utf8JsonReader json)
    {
        var raw = json.ValueSpan;
        return Of(Encoding.UTF8.GetString(raw.Length > 4 * CharactersMax ? raw[..(4 * CharactersMax)] : raw));
    }
}
