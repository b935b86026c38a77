using System.Buffers;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Benchmarks.HotLists;

/// <summary>Hot lists as the product takes them: <c>Execute</c> of the actor type <c>ListAppend</c>.</summary>
public static class ListRequests
{
    private const string ActorType = "ListAppend";
    private const string Method = "Execute";

    /// <summary>The actor of a list.</summary>
    public static ActorKey KeyOf(string list) => new(ActorType, list);

    /// <summary>The root: the list of the first operation.</summary>
    public static ActorKey RootOf(ListTransaction transaction) => KeyOf(transaction.Operations[0].Key);

    /// <summary>For the door of a worker in this process.</summary>
    public static TransactionRequest Of(ListTransaction transaction, TransactionMode mode) => new()
    {
        Actor = RootOf(transaction),
        Method = Method,
        Input = Input(transaction),
        Mode = mode,
        Access = mode == TransactionMode.Pact
            ? [.. CallsOf(transaction).Select(static calls => new DeclaredAccess(KeyOf(calls.Key), calls.Value))]
            : null,
    };

    /// <summary>The input of the method, or the body of a request to Orleans.</summary>
    public static byte[] Input(ListTransaction transaction)
    {
        var input = new ArrayBufferWriter<byte>(256);
        using (var json = new Utf8JsonWriter(input))
        {
            WriteInput(json, transaction);
        }

        return input.WrittenSpan.ToArray();
    }

    /// <summary>For a door over HTTP.</summary>
    public static void Write(Utf8JsonWriter json, ListTransaction transaction, TransactionMode mode)
    {
        json.WriteStartObject();
        json.WriteStartObject("actor"u8);
        json.WriteString("type"u8, ActorType);
        json.WriteString("id"u8, transaction.Operations[0].Key);
        json.WriteEndObject();
        json.WriteString("method"u8, Method);
        json.WritePropertyName("input"u8);
        WriteInput(json, transaction);
        json.WriteString("mode"u8, mode == TransactionMode.Pact ? "pact"u8 : "act"u8);
        if (mode == TransactionMode.Pact)
        {
            json.WriteStartObject("access"u8);
            json.WriteStartObject(ActorType);
            foreach (var (key, calls) in CallsOf(transaction))
            {
                json.WriteNumber(key, calls);
            }

            json.WriteEndObject();
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    /// <summary>The same: the operations and the wait.</summary>
    public static void WriteInput(Utf8JsonWriter json, ListTransaction transaction)
    {
        json.WriteStartObject();
        json.WriteStartArray("ops"u8);
        foreach (var operation in transaction.Operations)
        {
            json.WriteStartObject();
            json.WriteString("f"u8, operation.Value is null ? "r"u8 : "append"u8);
            json.WriteString("key"u8, operation.Key);
            if (operation.Value is { } value)
            {
                json.WriteNumber("value"u8, value);
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
        if (transaction.DelayMs > 0)
        {
            json.WriteNumber("delayMs"u8, transaction.DelayMs);
        }

        json.WriteEndObject();
    }

    // The call of the root's method is one, each operation another.
    private static Dictionary<string, int> CallsOf(ListTransaction transaction)
    {
        var calls = new Dictionary<string, int>(StringComparer.Ordinal) { [transaction.Operations[0].Key] = 1 };
        foreach (var operation in transaction.Operations)
        {
            calls[operation.Key] = calls.GetValueOrDefault(operation.Key) + 1;
        }

        return calls;
    }
}
