using System.Globalization;
using System.Text.Json;

namespace Snapper.Testing.Histories;

/// <summary>One line of a history file: one transaction.</summary>
internal static class HistoryLine
{
    public static ObservedTransaction Parse(string line)
    {
        using var document = JsonDocument.Parse(line);
        var json = document.RootElement;
        if (json.ValueKind != JsonValueKind.Object)
        {
            throw new FormatException($"expected an object, found {json.ValueKind}.");
        }

        var completed = Optional(json, "completed");
        return new ObservedTransaction
        {
            Id = Required(json, "id").GetString() ?? throw new FormatException("\"id\" is null."),
            Process = Optional(json, "process")?.GetInt32() ?? 0,
            Invoked = Required(json, "invoked").GetInt64(),
            Completed = completed?.GetInt64(),
            Outcome = ParseOutcome(Required(json, "outcome").GetString()),
            Mode = ParseMode(Optional(json, "mode")?.GetString()),
            Attempts = Optional(json, "attempts")?.GetInt32() ?? 1,
            Parallel = Optional(json, "parallel")?.GetBoolean() ?? false,
            Operations = [.. Required(json, "ops").EnumerateArray().Select(ParseOperation)],
        };
    }

    public static void Write(ObservedTransaction transaction, Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("id", transaction.Id);
        json.WriteNumber("process", transaction.Process);
        json.WriteNumber("invoked", transaction.Invoked);
        if (transaction.Completed is { } completed)
        {
            json.WriteNumber("completed", completed);
        }

        json.WriteString("outcome", transaction.Outcome switch
        {
            ObservedOutcome.Committed => "committed",
            ObservedOutcome.Aborted => "aborted",
            _ => "unknown",
        });
        if (transaction.Mode != ObservedMode.Unspecified)
        {
            json.WriteString("mode", transaction.Mode == ObservedMode.Pact ? "pact" : "act");
        }

        json.WriteNumber("attempts", transaction.Attempts);
        if (transaction.Parallel)
        {
            json.WriteBoolean("parallel", true);
        }

        json.WriteStartArray("ops");
        foreach (var operation in transaction.Operations)
        {
            WriteOperation(operation, json);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteOperation(MicroOperation operation, Utf8JsonWriter json)
    {
        json.WriteStartArray();
        json.WriteStringValue(operation.IsAppend ? "append" : "r");
        json.WriteStringValue(operation.Key);
        if (operation.IsAppend)
        {
            json.WriteNumberValue(operation.Value);
        }
        else if (operation.List is { } list)
        {
            json.WriteStartArray();
            foreach (var value in list)
            {
                json.WriteNumberValue(value);
            }

            json.WriteEndArray();
        }
        else
        {
            json.WriteNullValue();
        }

        json.WriteEndArray();
    }

    private static MicroOperation ParseOperation(JsonElement json)
    {
        var length = json.ValueKind == JsonValueKind.Array ? json.GetArrayLength() : 0;
        if (length is < 2 or > 3)
        {
            throw new FormatException($"an operation is [\"append\", key, integer] or [\"r\", key, list], found {json.GetRawText()}.");
        }

        var key = json[1].ValueKind == JsonValueKind.Number
            ? json[1].GetInt64().ToString(CultureInfo.InvariantCulture)
            : json[1].GetString() ?? throw new FormatException($"the key of {json.GetRawText()} is null.");
        return json[0].GetString() switch
        {
            "append" when length == 3 => MicroOperation.Append(key, json[2].GetInt64()),
            "r" when length == 2 || json[2].ValueKind == JsonValueKind.Null => MicroOperation.UnseenRead(key),
            "r" => MicroOperation.Read(key, [.. json[2].EnumerateArray().Select(value => value.GetInt64())]),
            _ => throw new FormatException($"an operation is [\"append\", key, integer] or [\"r\", key, list], found {json.GetRawText()}."),
        };
    }

    private static ObservedOutcome ParseOutcome(string? text) => text switch
    {
        "committed" => ObservedOutcome.Committed,
        "aborted" => ObservedOutcome.Aborted,
        "unknown" => ObservedOutcome.Unknown,
        _ => throw new FormatException($"\"outcome\" is committed, aborted or unknown, found {text ?? "null"}."),
    };

    private static ObservedMode ParseMode(string? text) => text switch
    {
        null => ObservedMode.Unspecified,
        "pact" => ObservedMode.Pact,
        "act" => ObservedMode.Act,
        _ => throw new FormatException($"\"mode\" is pact or act, found {text}."),
    };

    private static JsonElement Required(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) ? value : throw new FormatException($"\"{name}\" is missing.");

    private static JsonElement? Optional(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) && value.ValueKind != JsonValueKind.Null ? value : null;
}
