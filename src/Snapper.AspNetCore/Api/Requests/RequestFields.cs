using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>
/// Reads the fields of a request, each from its value. Optional ones take null for "left out". All throw
/// <see cref="MalformedRequestException"/> for a value that is none, naming the field.
/// </summary>
internal static class RequestFields
{
    // 512 characters, each of them escaped.
    private const int TraceBytesMax = 6 * 512;

    public static ActorKey Actor(ref Utf8JsonReader json)
    {
        if (json.TokenType != JsonTokenType.StartObject)
        {
            throw Malformed("actor must be an object with type and id.");
        }

        string? type = null;
        string? id = null;
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            if (JsonNames.Is(in json, "type"u8) && type is null)
            {
                json.Read();
                type = JsonNames.ActorType(in json, "actor.type");
            }
            else if (JsonNames.Is(in json, "id"u8) && id is null)
            {
                json.Read();
                id = JsonNames.ActorId(in json, "actor.id");
            }
            else
            {
                throw Malformed($"actor has the fields type and id; {ClippedText.Of(json)} is unknown or repeated.");
            }
        }

        return new ActorKey(type ?? throw Malformed("actor.type is missing."), id ?? throw Malformed("actor.id is missing."));
    }

    public static string Method(in Utf8JsonReader json) => JsonNames.Read(in json, "method", NameRules.MethodLengthMax, NameRules.MethodError);

    public static string? Id(in Utf8JsonReader json) => json.TokenType == JsonTokenType.Null
        ? null
        : JsonNames.Read(in json, "id", 2 * NameRules.RequestIdLengthMax, NameRules.RequestIdError);

    public static TransactionMode? Mode(in Utf8JsonReader json) =>
        json.TokenType == JsonTokenType.Null ? null
        : json.TokenType == JsonTokenType.String && JsonNames.Is(in json, "pact"u8) ? TransactionMode.Pact
        : json.TokenType == JsonTokenType.String && JsonNames.Is(in json, "act"u8) ? TransactionMode.Act
        : throw Malformed("mode must be \"pact\" or \"act\".");

    public static Runtime.Door.AccessMode AccessMode(in Utf8JsonReader json) =>
        json.TokenType == JsonTokenType.Null ? Runtime.Door.AccessMode.Strict
        : json.TokenType == JsonTokenType.String && JsonNames.Is(in json, "strict"u8) ? Runtime.Door.AccessMode.Strict
        : json.TokenType == JsonTokenType.String && JsonNames.Is(in json, "record"u8) ? Runtime.Door.AccessMode.Record
        : json.TokenType == JsonTokenType.String && JsonNames.Is(in json, "audit"u8) ? Runtime.Door.AccessMode.Audit
        : throw Malformed("accessMode must be \"strict\", \"record\" or \"audit\".");

    public static TimeSpan Timeout(in Utf8JsonReader json, TimeSpan unlessGiven)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return unlessGiven;
        }

        return json.TokenType == JsonTokenType.Number && json.TryGetInt32(out var milliseconds) && milliseconds is >= 1 and <= 300_000
            ? TimeSpan.FromMilliseconds(milliseconds)
            : throw Malformed("timeoutMs must be a whole number of milliseconds, 1 to 300000.");
    }

    /// <summary>
    /// A field of W3C trace context. A text that cannot be one counts as absent, as W3C asks for: a trace never makes
    /// a request fail.
    /// </summary>
    public static string? Trace(in Utf8JsonReader json, string name)
    {
        if (json.TokenType is not (JsonTokenType.String or JsonTokenType.Null))
        {
            throw Malformed($"{name} must be a string.");
        }

        if (json.TokenType == JsonTokenType.Null || json.ValueSpan.Length > TraceBytesMax)
        {
            return null;
        }

        try
        {
            return json.GetString();
        }
        catch (InvalidOperationException)
        {
            return null; // half of a surrogate pair
        }
    }

    /// <summary>The caller's id of a request that is refused, so that the answer names it; null when there is none to be had.</summary>
    public static string? FindId(Utf8JsonReader json)
    {
        if (json.TokenType != JsonTokenType.StartObject)
        {
            return null;
        }

        try
        {
            while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
            {
                var isId = JsonNames.Is(in json, "id"u8);
                json.Read();
                if (isId)
                {
                    return json.TokenType == JsonTokenType.String ? Id(in json) : null;
                }

                json.Skip();
            }
        }
        catch (Exception unreadable) when (unreadable is JsonException or MalformedRequestException)
        {
            // The request is refused already, for what was found first.
        }

        return null;
    }

    private static MalformedRequestException Malformed(string detail) => new(RejectionKind.Invalid, detail);
}
