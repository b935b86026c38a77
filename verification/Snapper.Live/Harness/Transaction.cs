using System.Text.Json.Nodes;
using Snapper.Judging.Histories;

namespace Snapper.Live.Harness;

/// <summary>By which road a request goes.</summary>
internal enum Door
{
    /// <summary>To the worker itself.</summary>
    Direct,

    /// <summary>Through the sidecar, by service invocation.</summary>
    Service,

    /// <summary>Through the sidecar, as an actor call.</summary>
    Actor,
}

/// <summary>A request in the words of the contract; what is null is left out.</summary>
internal sealed record Transaction(string Type, string Id, string Method, JsonNode? Input = null)
{
    public string? Mode { get; init; }

    public JsonNode? Access { get; init; }

    public string? AccessMode { get; init; }

    public string? RequestId { get; init; }

    public int? TimeoutMs { get; init; }

    /// <summary>The body; at the actor door the address names the actor.</summary>
    public JsonObject ToJson(Door door = Door.Direct)
    {
        var json = new JsonObject();
        if (door != Door.Actor)
        {
            json["actor"] = new JsonObject { ["type"] = Type, ["id"] = Id };
        }

        json["method"] = Method;
        json["input"] = Input?.DeepClone();
        Set("mode", Mode);
        Set("accessMode", AccessMode);
        Set("access", Access?.DeepClone());
        Set("id", RequestId);
        Set("timeoutMs", TimeoutMs);
        return json;

        void Set(string name, JsonNode? value)
        {
            if (value is not null)
            {
                json[name] = value;
            }
        }
    }
}

/// <summary>Ready-made requests.</summary>
internal static class Accounts
{
    public static Transaction Balance(string id) => new("Account", id, "Balance");

    public static Transaction Amount(string method, string id, decimal amount) => new("Account", id, method, new JsonObject { ["amount"] = amount });

    public static Transaction Transfer(string from, string to, decimal amount, string method = "Transfer") =>
        new("Account", from, method, new JsonObject { ["to"] = to, ["amount"] = amount });

    public static Transaction Amalgamate(string from, string to) => new("Account", from, "Amalgamate", new JsonObject { ["to"] = to });

    public static Transaction MultiTransfer(string from, IEnumerable<string> to, decimal amount) =>
        new("Account", from, "MultiTransfer", new JsonObject { ["to"] = new JsonArray([.. to.Select(id => JsonValue.Create(id))]), ["amount"] = amount });

    /// <summary>The same as a PACT; each of <paramref name="others"/> counts one call, as does the root.</summary>
    public static Transaction Pact(this Transaction transaction, params IEnumerable<string> others)
    {
        var calls = new JsonObject { [transaction.Id] = 1 };
        foreach (var other in others)
        {
            calls[other] = (calls[other]?.GetValue<int>() ?? 0) + 1;
        }

        return transaction with { Mode = "pact", Access = new JsonObject { [transaction.Type] = calls } };
    }

    public static Transaction Act(this Transaction transaction) => transaction with { Mode = "act", Access = null };
}

/// <summary>Ready-made requests of ListAppend.</summary>
internal static class Lists
{
    public static JsonObject Append(string key, long value) => new() { ["f"] = "append", ["key"] = key, ["value"] = value };

    public static JsonObject Read(string key) => new() { ["f"] = "r", ["key"] = key };

    public static JsonObject Operation(MicroOperation operation) => operation.IsAppend ? Append(operation.Key, operation.Value) : Read(operation.Key);

    public static Transaction Execute(string root, IReadOnlyList<JsonObject> operations, bool parallel = false, bool abort = false, int delayMs = 0)
    {
        var input = new JsonObject { ["ops"] = new JsonArray([.. operations.Select(operation => operation.DeepClone())]) };
        if (parallel)
        {
            input["parallel"] = true;
        }

        if (abort)
        {
            input["abort"] = true;
        }

        if (delayMs > 0)
        {
            input["delayMs"] = delayMs;
        }

        return new Transaction("ListAppend", root, "Execute", input);
    }

    /// <summary>An Execute as a PACT that declares exactly what it does.</summary>
    public static Transaction ExecutePact(string root, IReadOnlyList<JsonObject> operations, bool parallel = false, bool abort = false, int delayMs = 0) =>
        Execute(root, operations, parallel, abort, delayMs).Pact(operations.Select(operation => operation["key"]!.GetValue<string>()));

    public static Transaction AppendTo(string key, long value) => new("ListAppend", key, "Append", new JsonObject { ["value"] = value });

    public static Transaction ReadOf(string key) => new("ListAppend", key, "Read");
}
