using System.Buffers;
using System.Collections.Immutable;
using System.Text.Json;
using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Systems;

namespace Snapper.Baselines.Orleans;

/// <summary>
/// Transactions over HTTP, one for each request, as a service in front of its silo offers them: one request delegate,
/// no routing, no model binding. Answers are shaped as the product's are, so that one driver reads both.
/// </summary>
public sealed class HttpDoor(Bank bank, TransactionalLists lists)
{
    /// <summary>Answers one request.</summary>
    public Task HandleAsync(HttpContext context) => OrleansDoor.WorkOf(context.Request.Path.Value) switch
    {
        { } way and (OrleansWork.Plain or OrleansWork.Parallel or OrleansWork.Sorted) => TransferAsync(context, way),
        { } way => ExecuteAsync(context, way),
        null => WriteAsync(context, StatusCodes.Status404NotFound, "{}"u8.ToArray()),
    };

    private async Task TransferAsync(HttpContext context, OrleansWork way)
    {
        var input = await ReadAsync(context, DoorJson.Default.DoorTransfer);
        var end = await Endings.Of(bank.Transfer(way, input.Root, input.To));
        await AnswerAsync(context, end, null);
    }

    private async Task ExecuteAsync(HttpContext context, OrleansWork way)
    {
        var input = await ReadAsync(context, DoorJson.Default.DoorLists);
        var operations = Array.ConvertAll(input.Ops, static op => new ListOperation(op.Key, op.Value));
        var seen = new ImmutableList<long>?[operations.Length];
        var end = await Endings.Of(lists.Execute(new ListTransaction(operations, input.DelayMs), way, seen));
        for (var i = 0; i < seen.Length; i++)
        {
            input.Ops[i] = input.Ops[i] with { Seen = seen[i] };
        }

        await AnswerAsync(context, end, input.Ops);
    }

    private static async ValueTask<T> ReadAsync<T>(
        HttpContext context, System.Text.Json.Serialization.Metadata.JsonTypeInfo<T> type) =>
        await JsonSerializer.DeserializeAsync(context.Request.BodyReader, type, context.RequestAborted)
        ?? throw new BadHttpRequestException("The body is null.");

    private static Task AnswerAsync(HttpContext context, TransactionEnd end, DoorOperation[]? operations)
    {
        var body = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            json.WriteString("outcome"u8, end.Committed ? "committed"u8 : end.InDoubt ? "inDoubt"u8 : "aborted"u8);
            json.WriteNumber("attempts"u8, end.Attempts);
            if (!end.Committed)
            {
                json.WriteStartObject("abort"u8);
                json.WriteString("reason"u8, end.Reason);
                json.WriteEndObject();
            }
            else if (operations is not null)
            {
                json.WriteStartObject("result"u8);
                WriteResult(json, operations);
                json.WriteEndObject();
            }

            json.WriteEndObject();
        }

        return WriteAsync(context, end.Committed ? 200 : StatusCodes.Status409Conflict, body.WrittenMemory);
    }

    private static void WriteResult(Utf8JsonWriter json, DoorOperation[] operations)
    {
        json.WriteStartArray("ops"u8);
        foreach (var operation in operations)
        {
            json.WriteStartObject();
            json.WriteString("f"u8, operation.F);
            json.WriteString("key"u8, operation.Key);
            json.WritePropertyName("value"u8);
            if (operation.Value is { } appended)
            {
                json.WriteNumberValue(appended);
            }
            else
            {
                json.WriteStartArray();
                foreach (var value in operation.Seen!)
                {
                    json.WriteNumberValue(value);
                }

                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static async Task WriteAsync(HttpContext context, int status, ReadOnlyMemory<byte> body)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        context.Response.ContentLength = body.Length;
        await context.Response.BodyWriter.WriteAsync(body);
    }
}

/// <summary><c>{"root":"c000001","to":["c000002"]}</c></summary>
internal sealed record DoorTransfer(string Root, string[] To);

/// <summary><c>{"ops":[{"f":"append","key":"k","value":3},{"f":"r","key":"k"}],"delayMs":3}</c></summary>
internal sealed record DoorLists(DoorOperation[] Ops, int DelayMs = 0);

/// <summary>An operation, and what a read has seen.</summary>
internal sealed record DoorOperation(string F, string Key, long? Value = null)
{
    [JsonIgnore]
    public ImmutableList<long>? Seen { get; init; }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(DoorTransfer))]
[JsonSerializable(typeof(DoorLists))]
internal sealed partial class DoorJson : JsonSerializerContext;
