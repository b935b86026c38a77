using System.Text.Json;

namespace Snapper.Dashboard.Actions;

/// <summary>A change of one actor's state. <paramref name="State"/> null: it is taken away.</summary>
public sealed record StateChange(string Type, string Id, JsonElement? State)
{
    /// <summary>As people write it.</summary>
    public string Actor => $"{Type}/{Id}";
}

/// <summary>States of actors as a file: one JSON object per line, <c>{"type":"Account","id":"alice","state":{...}}</c>; a <c>version</c>, as the export has it, is passed over.</summary>
public static class StateFile
{
    /// <summary>Longest file, in bytes.</summary>
    public const long BytesMax = 32 * 1024 * 1024;

    private const int ProblemsMax = 20;

    /// <summary>One line of an export.</summary>
    public static byte[] Line(string type, string id, long version, JsonElement state) => [.. JsonSerializer.SerializeToUtf8Bytes(new { type, id, version, state }, s_json), (byte)'\n'];

    /// <summary>Reads a file to its end.</summary>
    /// <returns>The changes in order, and what is wrong with which lines, the first twenty; nothing may be imported while there is any of that.</returns>
    public static async Task<(IReadOnlyList<StateChange> Changes, IReadOnlyList<string> Problems)> Read(Stream file, CancellationToken cancellation)
    {
        var changes = new List<StateChange>();
        var problems = new List<string>();
        var seen = new Dictionary<(string, string), int>();
        using var reader = new StreamReader(file);
        for (var number = 1; problems.Count < ProblemsMax && await reader.ReadLineAsync(cancellation) is { } line; number++)
        {
            if (string.IsNullOrWhiteSpace(line)) continue;
            if (Of(line, out var change) is { } wrong)
            {
                problems.Add($"line {number}: {wrong}");
            }
            else if (!seen.TryAdd((change!.Type, change.Id), number))
            {
                problems.Add($"line {number}: {change.Actor} stands in line {seen[(change.Type, change.Id)]} already");
            }
            else
            {
                changes.Add(change);
            }
        }

        if (changes.Count == 0 && problems.Count == 0) problems.Add("the file has no line");
        return (changes, problems);
    }

    private static readonly JsonSerializerOptions s_json = new() { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private static string? Of(string line, out StateChange? change)
    {
        change = null;
        JsonElement json;
        try
        {
            json = JsonSerializer.Deserialize<JsonElement>(line);
        }
        catch (JsonException wrong)
        {
            return $"it is no JSON: {wrong.Message}";
        }

        if (json.ValueKind != JsonValueKind.Object) return "it is no object";
        foreach (var property in json.EnumerateObject())
        {
            if (property.Name is not ("type" or "id" or "state" or "version")) return $"it has a field {property.Name}; there are type, id, state and version";
        }

        if (Text(json, "type") is not { } type || Text(json, "id") is not { } id) return "type and id must be texts that are not empty";
        if (!json.TryGetProperty("state", out var state) || state.ValueKind == JsonValueKind.Null) return "it has no state";
        change = new StateChange(type, id, state);
        return null;
    }

    private static string? Text(JsonElement json, string name) => json.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String && value.GetString() is { Length: > 0 } text ? text : null;
}
