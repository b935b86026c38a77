using System.Text;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Api;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Server.Tests.Api;
using Snapper.Server.Tests.Cluster;
using Xunit;

namespace Snapper.Server.Tests.OpenApi;

/// <summary>Every status and schema of docs/openapi.json, compared with answers: of whole workers in this process where they give them, else of the HTTP surface before a door that does.</summary>
public sealed class AnswerTests
{
    private const string Good = """{"actor":{"type":"Account","id":"alice"},"method":"Balance","id":"order-1"}""";
    private const string Alice = """{"actors":[{"type":"Account","id":"alice"}]}""";
    private const string Import = """{"type":"Account","actors":[{"id":"alice","state":{}},{"id":"bob","state":{}}]}""";
    private static readonly (string, string) s_token = ("dapr-api-token", LiveWorker.Token);

    private readonly ApiDescription _api = ApiDescription.Load();

    [Fact]
    public async Task Every_documented_status_is_answered_and_as_described()
    {
        var asker = new Asker(_api);
        await OfOneWorker(asker);
        await OfSeveralWorkers(asker);
        await OfAClosedDoor(asker);
        await OfARefusingDoor(asker);
        await OfSlowBodies(asker);
        await OfDamage(asker);
        var unseen = asker.Unseen().ToArray();
        Assert.True(unseen.Length == 0, string.Join("\n", unseen));
    }

    /// <summary>Requests of the examples are such as the schemas allow, and the worker takes what they allow.</summary>
    [Theory]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":10},"mode":"pact","accessMode":"strict","access":{"Account":{"alice":1,"bob":{"calls":1}}},"id":"o","timeoutMs":30000}""", true)]
    [InlineData("""{"transactions":[{"actor":{"type":"Account","id":"alice"},"method":"Balance","access":{"Account":["alice"]}}]}""", true)]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Balance","timeout":5}""", false)]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Balance","timeoutMs":0}""", false)]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Balance","mode":"saga"}""", false)]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Balance","access":{"Account":{"alice":0}}}""", false)]
    [InlineData("""{"actor":{"type":"Account"},"method":"Balance"}""", false)]
    public async Task Schemas_of_requests_allow_what_the_worker_takes(string body, bool taken)
    {
        var schema = _api.Document["paths"]!["/v1/transactions"]!["post"]!["requestBody"]!["content"]!["application/json"]!["schema"]!;
        Assert.Equal(taken, _api.Check.Problems(System.Text.Json.Nodes.JsonNode.Parse(body), schema).Count == 0);
        await using var host = await ApiHost.Start(new FakeTransactionService());
        Assert.Equal(taken ? 200 : 400, (await host.Post(body)).Status);
    }

    private async Task OfOneWorker(Asker asker)
    {
        await using var worker = await LiveWorker.Start();
        Task Ask(int status, string what, string? body = null) => asker.Ask(worker.Address, status, what, body, s_token);

        await Ask(200, "POST /v1/transactions", """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":1},"access":{"Account":["alice","bob"]},"accessMode":"audit","id":"pact-1"}""");
        await Ask(200, "POST /v1/transactions", """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":1},"accessMode":"record"}""");
        await Ask(409, "POST /v1/transactions", """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":99999},"access":{"Account":["alice","bob"]},"id":"abort-1"}""");
        await Ask(409, "POST /v1/transactions", """{"actor":{"type":"Account","id":"alice"},"method":"Balance","id":"pact-1"}""");
        await Ask(200, "POST /v1/transactions", """{"transactions":[{"actor":{"type":"Account","id":"alice"},"method":"Balance"},{"actor":{"type":"Account","id":"alice"},"method":"WriteCheck","input":{"amount":-1}},{"actor":{"type":"Nothing","id":"a"},"method":"Balance"},{"bad":1}]}""");
        await Ask(400, "POST /v1/transactions", "{");
        await Ask(404, "POST /v1/transactions", """{"actor":{"type":"Nothing","id":"alice"},"method":"Balance"}""");
        var many = string.Join(',', Enumerable.Range(0, 257).Select(i => $"\"a{i}\"").Prepend("\"alice\""));
        await Ask(422, "POST /v1/transactions", $$$"""{"actor":{"type":"Account","id":"alice"},"method":"Balance","access":{"Account":[{{{many}}}]}}""");
        await Ask(413, "POST /v1/transactions", new string(' ', 2 << 20));
        await Ask(200, "GET /v1/transactions/pact-1");
        await Ask(200, "GET /v1/transactions/abort-1");
        await Ask(404, "GET /v1/transactions/nobody%2Fknows");
        await Ask(400, "GET /v1/transactions/" + new string('x', 129));
        var (bob, never) = ("""{"type":"Account","id":"bob"}""", """{"type":"Account","id":"never"}""");
        var three = $$"""{"actors":[{{bob}},{{never}},{{bob}}],"timeoutMs":5000}""";
        var reads = await asker.Ask(worker.Address, 200, "POST /v1/reads", three, s_token);
        Assert.Equal(["bob", "never", "bob"],
            reads!["actors"]!.AsArray().Select(static actor => (string?)actor!["id"]));
        Assert.Equal(10002, (decimal)reads["actors"]![0]!["state"]!["checking"]!);
        Assert.Null(reads["actors"]![1]!["state"]);
        Assert.True((long)reads["asOf"]!["transaction"]! > 0);
        await Ask(404, "POST /v1/reads", """{"actors":[{"type":"Nothing","id":"a"}]}""");
        await Ask(413, "POST /v1/reads", new string(' ', 2 << 20));
        var actors =
            string.Join(',', Enumerable.Range(0, 257).Select(static i => $$$"""{"type":"Account","id":"a{{{i}}}"}"""));
        foreach (
            var wrong in (string[])["{", "null", "{}", """{"actors":[]}""", """{"actors":[null]}""",
            """{"actors":[{"type":"Account"}]}""", """{"actors":[{"type":"Acc/ount","id":"a"}]}""",
            """{"actors":[{"type":"Account","id":"a\u0001"}]}""",
            """{"actors":[{"type":"Account","id":"a"}],"timeoutMs":0}""",
            """{"actors":[{"type":"Account","id":"a"}],"x":1}""", $$$"""{"actors":[{{{actors}}}]}"""])
        {
            var refused = await asker.Ask(worker.Address, 400, "POST /v1/reads", wrong, s_token);
            Assert.DoesNotContain("Snapper.", (string)refused!["detail"]!, StringComparison.Ordinal);
        }

        foreach (var path in (string[])["/healthz", "/readyz", "/metrics", "/v1/status", "/v1/actor-types", "/v1/actors/Account/alice", "/v1/actors/Account/never%2Fwritten", "/v1/actors/Account/alice/schedule", "/v1/batches", "/v1/aborts", "/v1/events", "/v1/events?view=/v1/status&view=/readyz&every=500"])
        {
            await Ask(200, "GET " + path);
        }

        var bobs = await asker.Ask(worker.Address, 200, "GET /v1/actors/Account/bob", null, s_token);
        var known = $"W/\"{bobs!["version"]}\"";
        await asker.Ask(worker.Address, 304, "GET /v1/actors/Account/bob", null, s_token, ("If-None-Match", known));
        await Ask(400, "GET /v1/events?view=/metrics");

        foreach (var path in (string[])["/v1/actors/Account/alice/timeline", "/v1/traces", "/v1/hot", "/v1/access", "/v1/ring"]) await Ask(200, "GET " + path);
        for (var i = 0; i < 100; i++) await Ask(200, "POST /v1/transactions", $$$"""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"to":"bob","amount":1},"access":{"Account":["alice","bob","carol"]},"id":"watched-{{{i}}}"}""");
        foreach (var (path, list) in (IEnumerable<(string, string)>)[("/v1/actors/Account/alice/timeline", "entries"), ("/v1/traces?limit=1000", "traces"), ("/v1/hot", "actors"), ("/v1/access", "methods"), ("/v1/ring", "coordinators")])
        {
            Assert.NotEmpty((await asker.Ask(worker.Address, 200, "GET " + path, null, s_token))![list]!.AsArray());
        }

        await Harness.Eventually.True("the accounts are checkpointed", async () =>
            (await asker.Ask(worker.Address, 200, "GET /v1/actors?type=Account&limit=2", null, s_token))!["actors"]!.AsArray().Select(a => (string)a!["id"]!).SequenceEqual(["alice", "bob"]));
        await Ask(200, "GET /v1/actors?type=Account&after=alice&search=b");
        foreach (var path in (string[])["/v1/actors", "/v1/actors?type=Account&x=1", "/v1/actors?type=Account&limit=0", "/v1/actors?type=a/b", "/v1/actors?type=Account&search=%01", "/v1/actors?type=Account&type=B"]) await Ask(400, "GET " + path);
        await Ask(404, "GET /v1/actors?type=Nothing");
        await Ask(200, "GET /v1/aborts?limit=1000&reason=application&repeated=false");
        await Ask(400, "GET /v1/audit?limit=0");
        await Ask(200, "GET /v1/traces/watched-1");
        for (var i = 0; i < 63; i++) await Ask(200, $"GET /v1/actors/Account/more{i}/timeline");
        await Ask(429, "GET /v1/actors/Account/toomany/timeline");
        foreach (var path in (string[])["/v1/actors/Account/a%01b/timeline", "/v1/traces?limit=0", "/v1/traces/" + new string('x', 129), "/v1/hot?limit=0", "/v1/access?x=1", "/v1/ring?x=1"]) await Ask(400, "GET " + path);
        await Ask(404, "GET /v1/actors/Nothing/a/timeline");
        var batches = await asker.Ask(worker.Address, 200, "GET /v1/batches?limit=1", null, s_token);
        await Ask(200, $"GET /v1/batches/{(long)batches!["batches"]![0]!["batch"]!}");
        foreach (var path in (string[])["/v1/actors/Account/a%01b", "/v1/actors/Account/a%01b/schedule", "/v1/batches?limit=0", "/v1/batches/first", "/v1/aborts?limit=1001", "/v1/aborts?reason=bad", "/v1/aborts?repeated=1", "/v1/aborts?x=1"]) await Ask(400, "GET " + path);
        foreach (var path in (string[])["/v1/actors/Nothing/a", "/v1/actors/Nothing/a/schedule", "/v1/batches/999999999"]) await Ask(404, "GET " + path);

        const string state = """{"checking":1,"savings":2}""";
        for (var i = 0; i < 2; i++) await Ask(200, "PUT /v1/actors/Account/im%2Fported?id=import-1&reason=moved", state);
        Assert.Equal(state, (await asker.Ask(worker.Address, 200, "GET /v1/actors/Account/im%2Fported", null, s_token))!["state"]!.ToJsonString());
        await Ask(409, "PUT /v1/actors/Account/im%2Fported?id=import-1", """{"checking":1,"savings":3}""");
        await Ask(409, "DELETE /v1/actors/Account/im%2Fported?id=import-1");
        await Ask(200, "DELETE /v1/actors/Account/im%2Fported?reason=closed");
        Assert.Null((await asker.Ask(worker.Address, 200, "GET /v1/actors/Account/im%2Fported", null, s_token))!["state"]);
        foreach (var (path, body) in ((string, string)[])[("a%01b", state), ("a?x=1", state), ("a?id=1&id=2", state), ("a?damaged=yes", state), ("a?reason=" + new string('x', 301), state), ("a", "{"), ("a", "null"), ("a", """{"chequing":1}""")]) await Ask(400, $"PUT /v1/actors/Account/{path}", body);
        await Ask(400, "DELETE /v1/actors/Account/a?x=1");
        foreach (var method in (string[])["PUT", "DELETE"]) await Ask(409, $"{method} /v1/actors/Account/healthy?damaged=replace", method == "PUT" ? state : null);
        await Ask(413, "PUT /v1/actors/Account/a", new string(' ', 2 << 20));
        await Ask(400, "POST /v1/imports", "{}");
        await Ask(400, "POST /v1/imports", Import); // no class of Snapper.DaprCompatibility
        await Ask(404, "POST /v1/imports", Import.Replace("Account", "Nothing", StringComparison.Ordinal));
        foreach (var method in (string[])["PUT", "DELETE"]) await Ask(404, $"{method} /v1/actors/Nothing/a", method == "PUT" ? state : null);
        await Ask(400, "POST /v1/transactions", """{"actor":{"type":"Account","id":"alice"},"method":"$delete"}""");

        await asker.Ask(worker.Address, 401, "POST /v1/leave");
        Assert.NotEmpty((await asker.Ask(worker.Address, 200, "GET /v1/audit", null, s_token))!["entries"]!.AsArray());

        // A worker that is alone has nothing of what several have; strangers and foreign pages get nowhere, at any address.
        foreach (var operation in _api.Operations)
        {
            var what = $"{operation.Method} {operation.Path.Replace("{", "", StringComparison.Ordinal).Replace("}", "", StringComparison.Ordinal)}";
            if (operation.Description["tags"]![0]!.ToString() == "workers") await Ask(404, what, operation.Method == "POST" ? "{}" : null);
            if (operation.Statuses.Contains("401")) await asker.Ask(worker.Address, 401, what);
            await asker.Ask(worker.Address, 403, what, null, s_token, ("Host", "evil.example"));
        }
    }

    private static async Task OfSeveralWorkers(Asker asker)
    {
        await using var workers = await WorkersOverHttp.Start(2);
        var first = workers.Addresses[0];
        Task Ask(int status, string what, string? body = null) => asker.Ask(first, status, what, body);

        foreach (var path in (string[])["/v1/status", "/v1/workers", "/v1/directory", "/v1/directory?actor=Account/alice", "/v1/directory?worker=w2", "/v1/migrations", "/v1/migrations/proposals"]) await Ask(200, "GET " + path);
        foreach (var path in (string[])["/v1/workers?x=1", "/v1/directory?x=1", "/v1/migrations?x=1", "/v1/migrations/proposals?x=1", "/v1/migrations/m?x=1"]) await Ask(400, "GET " + path);
        await Ask(400, "POST /v1/leave?now=1");
        await Ask(400, "POST /v1/migrations", "{}");
        await Ask(413, "POST /v1/migrations", new string(' ', 2 << 20));
        await Ask(404, "GET /v1/migrations/nobody");
        await Ask(404, "GET /v1/directory?worker=nobody");
        foreach (var account in (string[])["a", "b", "c", "d"]) await Ask(200, "POST /v1/transactions", $$$"""{"actor":{"type":"Account","id":"{{{account}}}"},"method":"Transfer","input":{"to":"alice","amount":1}}""");
        await Ask(409, "POST /v1/leave");
        await Ask(200, "POST /v1/migrations", """{"worker":"w2","dryRun":true}""");
        await Ask(409, "POST /v1/migrations", """{"worker":"w2","to":"w2"}""");
        await Ask(202, "POST /v1/migrations", """{"worker":"w2","id":"drain","reason":"to leave"}""");
        await Harness.Eventually.True("everything of w2 is w1's", async () => (string?)(await asker.Ask(first, 200, "GET /v1/migrations/drain"))!["state"] == "done");
        await Ask(200, "GET /v1/migrations");
        await Harness.Eventually.True("w2 may leave", async () =>
        {
            // Requests of the other worker may be under way for a moment.
            using var http = new HttpClient();
            using var asked = await http.PostAsync(new Uri(workers.Addresses[1], "/v1/leave"), null);
            asker.Compare("POST", "/v1/leave", (int)asked.StatusCode, asked.Content.Headers.ContentType?.MediaType, asked.Headers.RetryAfter is not null, await asked.Content.ReadAsStringAsync());
            return asked.IsSuccessStatusCode;
        });
        await Ask(200, "GET /v1/workers");
    }

    private async Task OfAClosedDoor(Asker asker)
    {
        await using var host = await ApiHost.Start(new LifecycleGate());
        await asker.Ask(host.Address, 503, "GET /readyz");
        await asker.Ask(host.Address, 504, "POST /v1/transactions", Good);
        await asker.Ask(host.Address, 503, "POST /v1/reads", Alice);
        await asker.Ask(host.Address, 503, "GET /v1/transactions/order-1");
        await asker.Ask(host.Address, 503, "PUT /v1/actors/Account/alice", "{}");
        await asker.Ask(host.Address, 503, "DELETE /v1/actors/Account/alice");
        await asker.Ask(host.Address, 503, "POST /v1/imports", Import);
        foreach (var path in (string[])["/v1/actors/Account/alice/timeline", "/v1/traces", "/v1/traces/order-1", "/v1/hot", "/v1/access", "/v1/ring"]) await asker.Ask(host.Address, 503, "GET " + path);
        foreach (var operation in _api.Operations.Where(o => o.Description["tags"]![0]!.ToString() == "workers"))
        {
            await asker.Ask(host.Address, 503, $"{operation.Method} {operation.Path.Replace("{id}", "m", StringComparison.Ordinal)}", operation.Method == "POST" ? "{}" : null);
        }
    }

    [Fact]
    public void Every_abort_reason_is_described()
    {
        var document = ApiDescription.Load().Document;
        var parameters = document["paths"]!["/v1/aborts"]!["get"]!["parameters"]!.AsArray();
        var filter = parameters.Single(parameter => (string?)parameter!["name"] == "reason")!["schema"]!;
        var answered = document["components"]!["schemas"]!["Abort"]!["properties"]!["reason"]!;
        var all = Enum.GetValues<AbortReason>().Where(reason => reason != AbortReason.None).ToList();
        Assert.Equal(all.Select(AbortReasons.Name).Order(), Names(filter));
        Assert.Equal(all.Except([AbortReason.Undone]).Select(AbortReasons.Name).Order(), Names(answered));

        static IEnumerable<string> Names(JsonNode schema) =>
            schema["enum"]!.AsArray().Select(name => (string)name!).Order();
    }

    private static async Task OfARefusingDoor(Asker asker)
    {
        foreach (var (kind, status) in ((RejectionKind, int)[])[(RejectionKind.Overloaded, 429), (RejectionKind.Unavailable, 503)])
        {
            await Submit(asker, FakeTransactionService.Rejecting(kind), status);
        }

        await Submit(asker, FakeTransactionService.Aborting(AbortReason.Overloaded, retryable: true), 429);
        foreach (var reason in Enum.GetValues<AbortReason>().Where(r => r is not (AbortReason.None or AbortReason.Overloaded or AbortReason.Undone))) await Submit(asker, FakeTransactionService.Aborting(reason), 409);
        await Submit(asker,
            FakeTransactionService.Answering(request =>
            new TransactionEnvelope { Id = request.Id ?? "made-1", Outcome = Outcome.InDoubt, Mode = request.Mode,
            Transaction = 1, Attempts = 1 }), 504);
        await Submit(asker, FakeTransactionService.Answering(_ => throw new InvalidOperationException("unforeseen")), 500);
    }

    private static async Task Submit(Asker asker, FakeTransactionService door, int status)
    {
        await using var host = await ApiHost.Start(door);
        await asker.Ask(host.Address, status, "POST /v1/transactions", Good);
        await asker.Ask(host.Address, status, "POST /v1/reads", Alice);
        await asker.Ask(host.Address, status, "PUT /v1/actors/Account/alice?id=order-1", "{}");
        await asker.Ask(host.Address, status, "DELETE /v1/actors/Account/alice?id=order-1");

        // What aborts is told of each.
        await asker.Ask(host.Address, status == 409 ? 200 : status, "POST /v1/imports", Import);
    }

    private static async Task OfSlowBodies(Asker asker)
    {
        var listener = new ApiListener { BodyBytesPerSecondMin = 100_000, BodyGrace = TimeSpan.FromSeconds(1.1) };
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: listener, control: new FakeControl("w1", FakeControl.Worker("w1", 1)));
        foreach (
            var (method, path) in ((string, string)[])[("POST", "/v1/transactions"), ("POST", "/v1/reads"),
            ("POST", "/v1/migrations"), ("PUT", "/v1/actors/Account/alice"), ("POST", "/v1/imports")])
        {
            var answer = await host.Raw(Encoding.ASCII.GetBytes($"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"));
            Assert.StartsWith("HTTP/1.1 408 ", answer, StringComparison.Ordinal);
            Assert.Contains("Content-Type: application/problem+json", answer, StringComparison.Ordinal);
            asker.Compare(method, path, 408, "application/problem+json", false, answer[answer.IndexOf("\r\n\r\n{", StringComparison.Ordinal)..].Trim());
        }
    }

    private static async Task OfDamage(Asker asker)
    {
        var small = new ApiOptions { BatchBodyBytesMax = 1 << 20 };
        await using (var strict = await ApiHost.Start(new FakeTransactionService(), options: small))
        {
            await asker.Ask(strict.Address, 413, "POST /v1/imports", new string(' ', 2 << 20));
        }

        await using var host = await ApiHost.Start(new FakeTransactionService(), options: new ApiOptions { Liveness = () => [new HealthCheck("process", false, "It hangs.")] });
        await asker.Ask(host.Address, 503, "GET /healthz");
        await asker.Ask(host.Address, 409, "GET /v1/actors/Account/damaged");
        await asker.Ask(host.Address, 503, "GET /v1/actors/Account/away");
        await asker.Ask(host.Address, 503, "GET /v1/actors?type=Account&search=away");
        await asker.Ask(host.Address, 200, "GET /v1/actors?type=Account");
        await asker.Ask(host.Address, 200, "GET /v1/batches/12");
        await asker.Ask(host.Address, 200, "GET /v1/aborts");
        await asker.Ask(host.Address, 200, "GET /v1/actors/Account/alice/schedule");
        var watchers = new List<HttpResponseMessage>();
        using var http = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = 100 });
        try
        {
            for (var i = 0; i < 64; i++) watchers.Add(await http.GetAsync(new Uri(host.Address, "/v1/events"), HttpCompletionOption.ResponseHeadersRead));
            await asker.Ask(host.Address, 429, "GET /v1/events");
        }
        finally
        {
            watchers.ForEach(watcher => watcher.Dispose());
        }
    }
}
