using System.Text.Json;

namespace Snapper.Judging.Histories;

/// <summary>Writes one line of a history file: one transaction.</summary>
internal static class HistoryLineWriter
{
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

        if (transaction.ReadsCount)
        {
            json.WriteBoolean("readsCount", true);
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
        json.WriteStringValue(operation.Kind switch
        {
            MicroOperationKind.Append => "append",
            MicroOperationKind.Write => "w",
            MicroOperationKind.ReadRegister => "rv",
            _ => "r",
        });
        json.WriteStringValue(operation.Key);
        switch (operation.Kind)
        {
            case MicroOperationKind.Append:
                json.WriteNumberValue(operation.Value);
                break;
            case MicroOperationKind.ReadList:
                json.WriteStartArray();
                foreach (var value in operation.Elements.AsSpan(0, operation.Length))
                {
                    json.WriteNumberValue(value);
                }

                json.WriteEndArray();
                break;
            case MicroOperationKind.UnseenRead:
                json.WriteNullValue();
                break;
            default:
                WriteRegister(operation, json);
                break;
        }

        json.WriteEndArray();
    }

    private static void WriteRegister(MicroOperation operation, Utf8JsonWriter json)
    {
        if (operation.Version is { } version)
        {
            json.WriteNumberValue(version);
        }
        else
        {
            json.WriteNullValue();
        }

        if (operation.HasValue)
        {
            json.WriteNumberValue(operation.Value);
        }
    }
}
