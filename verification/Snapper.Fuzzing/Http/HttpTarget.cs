using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Snapper.Fuzzing.Engine;

namespace Snapper.Fuzzing.Http;

/// <summary>
/// Requests to a worker's port, as bytes. An input is a line, then the request as it is sent. The line says what may be expected: <c>answer</c> (the HTTP is well formed) with the
/// field that is wrong, if one is, or <c>any</c>.
/// </summary>
/// <remarks>
/// Oracle: no 5xx but 503 and 504; well-formed HTTP is answered; JSON is JSON; a refusal is a problem document (at the actor door an envelope in a 200) whose status is
/// the answer's and which names the field; no answer shows types or traces of .NET; and a transaction commits all the while.
/// </remarks>
internal sealed partial class HttpTarget(bool actorDoor) : FuzzTarget
{
    private const int CanaryEvery = 50;

    private static readonly string[] Paths =
    [
        "/healthz", "/readyz", "/v1/status", "/v1/actor-types", "/v1/events", "/metrics", "/dapr/config", "/dapr/subscribe", "/nowhere", "/", "/v1", "/v1/", "/v1/transactions", "/v1/transactions/", "/v1/batches", "/v1/aborts", "//v1/status", "/v1/status/", "/V1/STATUS",
    ];

    private static readonly string[] Names =
    [
        "alice", "Account", "ListAppend", "x", "%41lice", "a%2Fb", "a%252Fb", "%F0%9F%8F%A6", "..", "%2E%2E", ".", "a;b", "a+b", "a%20b", "%7F", "%01", "%FF", "%C3", "%ED%A0%80", "%", "%zz", "%u0041", "a%", "schedule", "9137", "-1", "99999999999999999999", "a'b", "a%22b", "Account@w1",
    ];

    private RunningWorker? _worker;
    private long _inputs;

    public override string Name => actorDoor ? "actor-door" : "http";

    public override string Attacks => actorDoor ? "actor calls as the sidecar passes them on" : "every path of the worker's HTTP API";

    public override int ShortRun => 300;

    public override byte[] Generate(Random random)
    {
        if (!actorDoor && random.Percent(30))
        {
            return Path(random);
        }

        var (body, field) = RequestBodies.Draw(random, !actorDoor);
        var odd = actorDoor && random.Percent(20);
        var target = !actorDoor ? "POST /v1/transactions"
            : $"{(odd ? random.One("PUT", "DELETE", "GET", "POST") : "PUT")} /actors/{(odd ? random.One(Names) : "Account")}/{(odd ? random.One(Names) : "alice")}/method/{(odd ? random.One("StartTransaction", "Balance", "remind/x", "timer/x", "%53tartTransaction", "") : "StartTransaction")}";
        return Build(odd || body.Length > 60_000 ? "any" : ("answer " + field).TrimEnd(), target, body, random);
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        var line = input.AsSpan().IndexOf((byte)'\n');
        var head = input.AsSpan().IndexOf("\r\n\r\n"u8);
        if (line < 0 || head < 0 || random.Percent(25))
        {
            return [.. "any\n"u8, .. Pieces.Break(line < 0 ? input : input[(line + 1)..], other, random)];
        }

        // The body alone: its length is made right again, so the HTTP stays well formed.
        var bodyOfOther = other.AsSpan().IndexOf("\r\n\r\n"u8) is >= 0 and var at ? other[(at + 4)..] : [];
        var request = Encoding.Latin1.GetString(input[(line + 1)..head]).Split("\r\n")[0];
        return Build(Encoding.ASCII.GetString(input[..line]).StartsWith("answer", StringComparison.Ordinal) ? "answer" : "any",
            request.Replace(" HTTP/1.1", "", StringComparison.Ordinal), Pieces.Break(input[(head + 4)..], bodyOfOther, random), random, plain: true);
    }

    public override string Run(byte[] input)
    {
        var worker = _worker ??= new RunningWorker();
        var line = input.AsSpan().IndexOf((byte)'\n');
        var expected = line < 0 ? ["any"] : Encoding.ASCII.GetString(input[..line]).Split(' ');
        var request = input[(line + 1)..];
        var answer = HttpExchange.Send(worker.Port, request, mayBeCutShort: expected[0] != "answer");
        if (_inputs++ % CanaryEvery == 0 || answer.Status is 0 or >= 500)
        {
            Canary(worker);
        }

        Check(answer, expected, Encoding.UTF8.GetString(request));
        return Words(answer);
    }

    public override void Dispose()
    {
        _worker?.Dispose();
        base.Dispose();
    }

    private static void Check(HttpAnswer answer, string[] expected, string request)
    {
        var wellFormed = expected[0] == "answer";
        if (answer.Status >= 500 && answer.Status is not (503 or 504) && (wellFormed || answer.Status is not (501 or 505)))
        {
            throw new FuzzFailureException($"Answered {answer.Status}: {answer.Text}");
        }

        if (wellFormed && answer.Status == 0)
        {
            throw new FuzzFailureException("The connection was closed without an answer.");
        }

        var leak = Leak().Match(answer.Text);
        if (leak.Success && !request.Contains(leak.Value, StringComparison.Ordinal))
        {
            throw new FuzzFailureException($"An answer with status {answer.Status} shows '{leak.Value}': {answer.Text}");
        }

        JsonElement? json = answer.IsJson && answer.Body.Length > 0 ? Read(answer) : null;
        if (answer.Status is >= 400 and < 500 && (wellFormed || answer.Body.Length > 0) && !request.StartsWith("HEAD ", StringComparison.Ordinal)
            && (!answer.IsProblem || json is null || !json.Value.TryGetProperty("status", out var status) || status.GetInt32() != answer.Status || Detail(json.Value).Length == 0))
        {
            throw new FuzzFailureException($"Status {answer.Status} without a problem document that says so: {answer.Head} {answer.Text}");
        }

        if (wellFormed && expected.Length > 1 && expected[1].Length > 0)
        {
            var problem = json is { ValueKind: JsonValueKind.Object } envelope && envelope.TryGetProperty("problem", out var inner) ? inner : json;
            if (problem is null || !problem.Value.TryGetProperty("status", out var refused) || refused.GetInt32() is not (400 or 422) || !Detail(problem.Value).Contains(expected[1], StringComparison.Ordinal))
            {
                throw new FuzzFailureException($"The field {expected[1]} is wrong, and the answer ({answer.Status}) does not say so: {answer.Text}");
            }
        }
    }

    private static JsonElement Read(HttpAnswer answer)
    {
        try
        {
            return JsonDocument.Parse(answer.Body).RootElement;
        }
        catch (JsonException unreadable)
        {
            throw new FuzzFailureException($"The answer says that it is JSON, and is not ({unreadable.Message}): {answer.Text}");
        }
    }

    private static string Detail(JsonElement problem) => problem.TryGetProperty("detail", out var detail) ? detail.GetString() ?? "" : "";

    private static string Words(HttpAnswer answer)
    {
        if (!answer.IsJson || answer.Body.Length == 0)
        {
            return $"{answer.Status} {answer.Body.Length > 0}";
        }

        var json = Read(answer);
        if (json.ValueKind != JsonValueKind.Object)
        {
            return $"{answer.Status} {json.ValueKind}";
        }

        var outcome = json.TryGetProperty("outcome", out var word) ? word.GetString() : "";
        var why = json.TryGetProperty("abort", out var abort) ? abort.GetProperty("reason").GetString() + " " + abort.GetProperty("message").GetString()
            : json.TryGetProperty("problem", out var problem) ? Detail(problem) : Detail(json);
        return $"{(answer.Status == 200 ? "ok" : answer.Status == 400 ? "bad" : "no")}{answer.Status switch { 404 => " unknown", 409 => " aborted", 413 => " large", 422 => " many", _ => "" }} {outcome} {why}";
    }

    private void Canary(RunningWorker worker)
    {
        var body = """{"actor":{"type":"Account","id":"canary"},"method":"DepositChecking","input":{"amount":1}}""";
        var answer = HttpExchange.Send(worker.Port, Pieces.Bytes($"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}"));
        if (worker.HasStopped || answer.Status != 200 || !answer.Text.Contains("\"committed\"", StringComparison.Ordinal))
        {
            throw new FuzzFailureException($"After {_inputs} inputs the worker {(worker.HasStopped ? "has stopped" : $"answers a good transaction with {answer.Status} {answer.Text}")}.");
        }
    }

    private static byte[] Path(Random random)
    {
        var odd = random.Percent(40);
        var path = random.Next(6) switch
        {
            0 => $"/v1/transactions/{random.One(Names)}",
            1 => $"/v1/actors/{random.One(Names)}/{random.One(Names)}{random.One("", "/schedule", "/", "/x/y")}",
            2 => $"/v1/{random.One("batches", "aborts")}?limit={random.One("1", "1000", "0", "1001", "-1", "x", "", "%31", "99999999999999999999", "1&limit=2", "%00")}",
            3 => $"/v1/batches/{random.One(Names)}",
            _ => random.One(Paths),
        };
        var expected = odd || path.Contains("%00", StringComparison.Ordinal) || path == "/" || path.Contains('%', StringComparison.Ordinal) ? "any" : "answer";
        return Build(expected, $"{(odd ? random.One("GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "FOO") : "GET")} {path}", [], random, plain: !odd);
    }

    private static byte[] Build(string expected, string target, byte[] body, Random random, bool plain = false)
    {
        var head = new StringBuilder($"{expected}\n{target} HTTP/1.1\r\n");
        if (plain || random.Percent(80))
        {
            head.Append("Host: localhost\r\nContent-Type: application/json\r\n");
        }
        else
        {
            head.Replace("answer", "any", 0, 6);
            head.Append(random.One("Host: localhost\r\n", "Host: \r\n", "Host: [::1]\r\n", "Host: evil.example\r\n", "", "Host: localhost\r\nHost: localhost\r\n"));
            head.Append(random.One("Content-Type: application/json\r\n", "Content-Type: text/plain\r\n", "Content-Type: application/json; charset=utf-16\r\n", "Content-Type: ;;\r\n", ""));
            head.Append(random.One("", "Origin: null\r\n", "traceparent: 00-x\r\n", "traceparent: " + new string('0', 300) + "\r\n", "dapr-caller-app-id: a\u0001\r\n", "Dapr-Reentrancy-Id: x\r\n", "Accept: text/html\r\n", "Content-Encoding: gzip\r\n", "Expect: 100-continue\r\n", "Expect: nothing\r\n", "X-A:\r\n", " checkpointed\r\n", "X-Long: " + new string('x', 40_000) + "\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n", "Cookie: a=b\r\n"));
        }

        var chunked = random.Percent(15);
        if (chunked)
        {
            head.Append("Transfer-Encoding: chunked\r\n\r\n");
            var half = body.Length / 2;
            var text = new List<byte>(Encoding.Latin1.GetBytes(head.ToString()));
            foreach (var piece in (byte[][])[body[..half], body[half..]])
            {
                if (piece.Length > 0)
                {
                    text.AddRange(Encoding.ASCII.GetBytes($"{piece.Length:x}{random.One("", "", ";a=b")}\r\n"));
                    text.AddRange([.. piece, .. "\r\n"u8]);
                }
            }

            return [.. text, .. "0\r\n\r\n"u8];
        }

        head.Append(CultureInfo.InvariantCulture, $"Content-Length: {body.Length}\r\n\r\n");
        return [.. Encoding.Latin1.GetBytes(head.ToString()), .. body];
    }

    [GeneratedRegex(@"\bSystem\.[A-Z]|\bMicrosoft\.|\bSnapper\.[A-Z]\w+\.|\w+Exception\b|\bat \w+\.\w+[.(]|\.cs:line|BytePositionInLine|LineNumber:")]
    private static partial Regex Leak();
}
