using System.Globalization;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>The body of <c>POST /v1/imports</c>. The states are parts of it as they came.</summary>
internal sealed class ImportBody
{
    private const int ReasonMax = 300;

    private const string Form = "The body must be {\"type\",\"actors\":[{\"id\",\"state\"}],\"reason\"}";

    private readonly List<(ActorKey Key, ReadOnlyMemory<byte> State)> _actors = [];
    private readonly List<(string Id, string Why)> _refused = [];
    private readonly List<(string Id, ReadOnlyMemory<byte> State)> _read = [];

    /// <summary>Of all of them.</summary>
    public string Type { get; private set; } = "";

    /// <summary>For the audit; null: none was given.</summary>
    public string? Reason { get; private set; }

    /// <summary>The actors with their states, 1 to <see cref="ApiOptions.BatchTransactionsMax"/>.</summary>
    public IReadOnlyList<(ActorKey Key, ReadOnlyMemory<byte> State)> Actors => _actors;

    /// <summary>
    /// The others, whose ids are none or whose states cannot be kept. Why is a sentence.
    /// </summary>
    public IReadOnlyList<(string Id, string Why)> Refused => _refused;

    /// <summary>Reads one.</summary>
    /// <returns>What is wrong with it, as a sentence; null: nothing.</returns>
    public static string? TryRead(ReadOnlyMemory<byte> bytes, out ImportBody body)
    {
        body = new ImportBody();
        try
        {
            return body.Read(bytes) ?? body.Check();
        }
        catch (Exception wrong) when (wrong is JsonException or InvalidOperationException)
        {
            return $"{Form}: {wrong.Message}";
        }
    }

    private string? Read(ReadOnlyMemory<byte> bytes)
    {
        var json = new Utf8JsonReader(bytes.Span);
        if (!json.Read() || json.TokenType != JsonTokenType.StartObject) return Form + ".";
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            if (json.ValueTextEquals("type"u8) && Type.Length == 0)
            {
                if (!TryReadText(ref json, out var type)) return Form + "; type is a name.";
                Type = type;
            }
            else if (json.ValueTextEquals("reason"u8) && Reason is null)
            {
                if (!TryReadText(ref json, out var reason)) return Form + "; reason is a text.";
                Reason = reason;
            }
            else if (json.ValueTextEquals("actors"u8) && _read.Count == 0)
            {
                if (ReadActors(bytes, ref json) is { } wrong) return wrong;
            }
            else
            {
                return $"{Form}; '{json.GetString()}' is unknown, or there twice.";
            }
        }

        while (json.Read())
        {
            // Throws where the body is not one JSON value.
        }

        return null;
    }

    private string? ReadActors(ReadOnlyMemory<byte> bytes, ref Utf8JsonReader json)
    {
        json.Read();
        if (json.TokenType != JsonTokenType.StartArray) return Form + "; actors is an array.";
        while (json.Read() && json.TokenType == JsonTokenType.StartObject)
        {
            string? id = null;
            ReadOnlyMemory<byte> state = default;
            while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
            {
                if (json.ValueTextEquals("id"u8) && id is null)
                {
                    if (!TryReadText(ref json, out id)) return Form + "; id is a text.";
                }
                else if (json.ValueTextEquals("state"u8) && state.IsEmpty)
                {
                    json.Read();
                    var start = (int)json.TokenStartIndex;
                    json.Skip();
                    state = bytes[start..(int)json.BytesConsumed];
                }
                else
                {
                    return $"{Form}; '{json.GetString()}' of an actor is unknown, or there twice.";
                }
            }

            if (id is null || state.IsEmpty || _read.Count == ApiOptions.BatchTransactionsMax) return Wrong();
            _read.Add((id, state));
        }

        return json.TokenType == JsonTokenType.EndArray ? null : Form + "; an actor is an object.";
    }

    private string? Check()
    {
        if (_read.Count == 0) return Wrong();
        if (NameRules.ActorTypeError(Type) is { } wrongType) return $"type: {wrongType}.";
        if (Reason is { Length: > ReasonMax }) return $"reason: it has more than {ReasonMax} characters.";
        foreach (var (id, state) in _read)
        {
            if (NameRules.ActorIdError(id) is { } wrongId)
            {
                _refused.Add((id, $"id: {wrongId}."));
            }
            else if (JsonText.Error(state.Span) is { } wrongText)
            {
                _refused.Add((id, $"state: {wrongText}."));
            }
            else
            {
                _actors.Add((new ActorKey(Type, id), state));
            }
        }

        return _actors.Count > 0 ? null : $"actors[0]: {_refused[0].Why}";
    }

    private static string Wrong() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Form}, with 1 to {ApiOptions.BatchTransactionsMax} actors, each with its id and state.");

    private static bool TryReadText(ref Utf8JsonReader json, out string text)
    {
        text = json.Read() && json.TokenType == JsonTokenType.String ? json.GetString()! : "";
        return json.TokenType == JsonTokenType.String;
    }
}
