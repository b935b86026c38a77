using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>Reads names, from values and from property names, and checks them by <see cref="NameRules"/>.</summary>
internal static class JsonNames
{
    // A character takes at most six bytes in JSON: \u0041.
    private const int BytesPerCharacterMax = 6;

    public static string ActorType(in Utf8JsonReader json, string path) =>
        Read(in json, path, NameRules.ActorTypeLengthMax, NameRules.ActorTypeError);

    public static string ActorId(in Utf8JsonReader json, string path, string parent = "") =>
        Read(in json, path, NameRules.ActorIdLengthMax, NameRules.ActorIdError, parent);

    /// <summary>True when a string or property name is this text. Half of a surrogate pair is no text, and equals none.</summary>
    public static bool Is(in Utf8JsonReader json, ReadOnlySpan<byte> utf8)
    {
        if (!json.ValueIsEscaped)
        {
            return json.ValueSpan.SequenceEqual(utf8);
        }

        try
        {
            return json.ValueTextEquals(utf8);
        }
        catch (InvalidOperationException)
        {
            return false;
        }
    }

    /// <inheritdoc cref="Is(in Utf8JsonReader, ReadOnlySpan{byte})"/>
    /// <remarks>False for every name with escapes: good enough to share objects by.</remarks>
    public static bool IsPlainly(in Utf8JsonReader json, string text) => !json.ValueIsEscaped && json.ValueTextEquals(text);

    /// <param name="json">On the string or property name.</param>
    /// <param name="path">Where it stands, for messages.</param>
    /// <param name="lengthMax">A name that cannot be within so many UTF-16 code units is refused without being decoded.</param>
    /// <param name="error">The rule.</param>
    /// <param name="parent">What stands before <paramref name="path"/> in messages; apart, so that no string is built for a good name.</param>
    /// <exception cref="MalformedRequestException">It is no string, or no such name.</exception>
    public static string Read(in Utf8JsonReader json, string path, int lengthMax, Func<string, string?> error, string parent = "")
    {
        if (json.TokenType is not (JsonTokenType.String or JsonTokenType.PropertyName))
        {
            throw new MalformedRequestException(RejectionKind.Invalid, $"{parent}{path} must be a string.");
        }

        if (json.ValueSpan.Length > lengthMax * BytesPerCharacterMax)
        {
            throw new MalformedRequestException(RejectionKind.Invalid, $"{parent}{path} is too long ({ClippedText.Of(json)}).");
        }

        string name;
        try
        {
            name = json.GetString()!;
        }
        catch (InvalidOperationException)
        {
            // The only text that is good UTF-8 and good JSON and still no string.
            throw new MalformedRequestException(RejectionKind.Invalid, $"{parent}{path} contains half of a surrogate pair.");
        }

        return error(name) is { } wrong
            ? throw new MalformedRequestException(RejectionKind.Invalid, $"{parent}{path} {ClippedText.Of(name)}: {wrong}.")
            : name;
    }
}
