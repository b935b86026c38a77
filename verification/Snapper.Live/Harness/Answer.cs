using System.Net;
using System.Text.Json;

namespace Snapper.Live.Harness;

/// <summary>What an answer means to a client that wants to know what became of its transaction.</summary>
internal enum Verdict
{
    /// <summary>All effects are there.</summary>
    Committed,

    /// <summary>No effects.</summary>
    Aborted,

    /// <summary>Unknown yet; ask by id.</summary>
    InDoubt,

    /// <summary>Said to be not executed: overloaded, starting, stopping, no log.</summary>
    NotExecuted,

    /// <summary>The request was wrong.</summary>
    Refused,

    /// <summary>Still under way (only when asked for by id).</summary>
    Running,

    /// <summary>No answer, or one that says nothing about the transaction: the connection broke, the sidecar could not reach the worker.</summary>
    Unclear,
}

/// <summary>An answer from a door, or the lack of one.</summary>
internal sealed class Answer
{
    private static readonly JsonElement Nothing = JsonDocument.Parse("null").RootElement;

    private Answer(HttpStatusCode? status, string? contentType, string body, JsonElement json, TimeSpan? retryAfter)
    {
        Status = (int?)status;
        ContentType = contentType;
        Body = body;
        Json = json;
        RetryAfter = retryAfter;
    }

    /// <summary>The HTTP status; null when no answer came.</summary>
    public int? Status { get; }

    public string? ContentType { get; }

    public string Body { get; }

    /// <summary>The body as JSON; of kind null when it is none.</summary>
    public JsonElement Json { get; }

    public TimeSpan? RetryAfter { get; }

    public string? Outcome => Text(Json, "outcome");

    public JsonElement Result => Json.GetProperty("result");

    public string? AbortReason => Json.ValueKind == JsonValueKind.Object && Json.TryGetProperty("abort", out var abort) ? Text(abort, "reason") : null;

    public string? AbortMessage => Json.ValueKind == JsonValueKind.Object && Json.TryGetProperty("abort", out var abort) ? Text(abort, "message") : null;

    public bool Retryable => Json.TryGetProperty("abort", out var abort) && abort.TryGetProperty("retryable", out var retryable) && retryable.GetBoolean();

    public Verdict Verdict => (Outcome, RefusalStatus) switch
    {
        (_, 429 or 503) => Verdict.NotExecuted,
        ("committed", _) => Verdict.Committed,
        ("aborted", _) when AbortReason == "overloaded" => Verdict.NotExecuted,
        ("aborted", _) => Verdict.Aborted,
        ("inDoubt", _) => Verdict.InDoubt,
        ("running", _) => Verdict.Running,
        (_, >= 400 and < 500) => Verdict.Refused,
        _ => Verdict.Unclear,
    };

    /// <summary>The status of a refusal, also where the actor door wraps it into a 200.</summary>
    public int? RefusalStatus =>
        Outcome == "rejected" && Json.TryGetProperty("problem", out var problem) && problem.TryGetProperty("status", out var status) ? status.GetInt32()
        : Status is null or >= 200 and < 300 ? null
        : IsOurs ? Status
        : null;

    /// <summary>False for an error that the sidecar made up itself (Dapr's have an <c>errorCode</c>), which says nothing about the transaction.</summary>
    private bool IsOurs => Json.ValueKind != JsonValueKind.Object || !Json.TryGetProperty("errorCode", out _);

    public static Answer None(string why) => new(null, null, why, Nothing, null);

    public static async Task<Answer> From(HttpResponseMessage response)
    {
        var body = await response.Content.ReadAsStringAsync();
        return new Answer(response.StatusCode, response.Content.Headers.ContentType?.MediaType, body, TryParse(body), response.Headers.RetryAfter?.Delta);
    }

    /// <summary>An envelope out of a batch's answer.</summary>
    public static Answer FromEnvelope(JsonElement envelope) => new(HttpStatusCode.OK, null, envelope.GetRawText(), envelope.Clone(), null);

    public override string ToString() => $"{(Status is null ? "no answer" : $"HTTP {Status}")}: {(Body.Length > 2000 ? Body[..2000] + "..." : Body)}";

    private static string? Text(JsonElement json, string name) =>
        json.ValueKind == JsonValueKind.Object && json.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    private static JsonElement TryParse(string body)
    {
        try
        {
            using var document = JsonDocument.Parse(body);
            return document.RootElement.Clone();
        }
        catch (JsonException)
        {
            return Nothing;
        }
    }
}
