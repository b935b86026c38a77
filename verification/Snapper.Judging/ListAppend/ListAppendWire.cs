using System.Text.Json;
using Snapper.Judging.Histories;

namespace Snapper.Judging.ListAppend;

/// <summary>The operations of <c>ListAppend</c>'s <c>Execute</c> as they go over the wire, and come back.</summary>
public static class ListAppendWire
{
    /// <summary>Writes the input of an <c>Execute</c>.</summary>
    /// <param name="json">Where to.</param>
    /// <param name="operations">Appends, and reads that are not seen yet.</param>
    /// <param name="parallel">All at once.</param>
    /// <param name="abort">Throws after the last one.</param>
    /// <exception cref="ArgumentException">An operation of a register.</exception>
    public static void WriteInput(Utf8JsonWriter json, IReadOnlyList<MicroOperation> operations, bool parallel = false, bool abort = false)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(operations);
        json.WriteStartObject();
        json.WriteStartArray("ops"u8);
        foreach (var operation in operations)
        {
            WriteOperation(json, operation);
        }

        json.WriteEndArray();
        if (parallel)
        {
            json.WriteBoolean("parallel"u8, true);
        }

        if (abort)
        {
            json.WriteBoolean("abort"u8, true);
        }

        json.WriteEndObject();
    }

    /// <summary>Writes one operation: <c>{"f":"append","key":"k7","value":3}</c> or <c>{"f":"r","key":"k9"}</c>.</summary>
    /// <exception cref="ArgumentException">An operation of a register.</exception>
    public static void WriteOperation(Utf8JsonWriter json, MicroOperation operation)
    {
        ArgumentNullException.ThrowIfNull(json);
        if (operation.Kind is MicroOperationKind.Write or MicroOperationKind.ReadRegister)
        {
            throw new ArgumentException($"ListAppend has no registers: {operation}.", nameof(operation));
        }

        json.WriteStartObject();
        json.WriteString("f"u8, operation.IsAppend ? "append"u8 : "r"u8);
        json.WriteString("key"u8, operation.Key);
        if (operation.IsAppend)
        {
            json.WriteNumber("value"u8, operation.Value);
        }

        json.WriteEndObject();
    }

    /// <summary>Reads the result of an <c>Execute</c>.</summary>
    /// <param name="result">What the transaction answered.</param>
    /// <param name="asked">What it was asked to do.</param>
    /// <returns>The same operations in the same order, each read with its list; null: it answered by anything else, which a correct system never does.</returns>
    public static IReadOnlyList<MicroOperation>? ReadResult(JsonElement result, IReadOnlyList<MicroOperation> asked)
    {
        ArgumentNullException.ThrowIfNull(asked);
        try
        {
            var answered = result.GetProperty("ops");
            if (answered.GetArrayLength() != asked.Count)
            {
                return null;
            }

            var seen = new MicroOperation[asked.Count];
            for (var i = 0; i < seen.Length; i++)
            {
                if (Seen(answered[i], asked[i]) is not { } operation)
                {
                    return null;
                }

                seen[i] = operation;
            }

            return seen;
        }
        catch (Exception wrong) when (wrong is KeyNotFoundException or InvalidOperationException or FormatException)
        {
            // A field is missing, or of another type.
            return null;
        }
    }

    /// <summary>Reads what an <c>Execute</c> that was asked to abort had seen until then.</summary>
    /// <param name="message">The message of its abort.</param>
    /// <param name="asked">What it was asked to do.</param>
    /// <returns>As <see cref="ReadResult"/>; null also where the message had no room for everything.</returns>
    public static IReadOnlyList<MicroOperation>? ReadAbort(string? message, IReadOnlyList<MicroOperation> asked)
    {
        const string Before = ", having seen ";
        var at = message?.IndexOf(Before, StringComparison.Ordinal) ?? -1;
        if (at < 0)
        {
            return null;
        }

        try
        {
            using var seen = JsonDocument.Parse(message.AsMemory(at + Before.Length));
            return ReadResult(seen.RootElement, asked);
        }
        catch (JsonException)
        {
            return null; // cut
        }
    }

    private static MicroOperation? Seen(JsonElement answered, MicroOperation asked)
    {
        var isAppend = answered.GetProperty("f").GetString() == "append";
        if (isAppend != asked.IsAppend || answered.GetProperty("key").GetString() != asked.Key)
        {
            return null;
        }

        var value = answered.GetProperty("value");
        if (isAppend)
        {
            return value.GetInt64() == asked.Value ? asked : null;
        }

        var list = new long[value.GetArrayLength()];
        for (var i = 0; i < list.Length; i++)
        {
            list[i] = value[i].GetInt64();
        }

        return MicroOperation.Read(asked.Key, list);
    }
}
