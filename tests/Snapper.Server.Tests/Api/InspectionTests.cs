using System.Text.Json;
using System.Text.RegularExpressions;
using Snapper.AspNetCore.Api;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Looking inside: health, status, actors, batches, aborts, metrics, and transactions by id.</summary>
public sealed partial class InspectionTests
{
    [Theory]
    [InlineData(Outcome.Committed)]
    [InlineData(Outcome.InDoubt)]
    [InlineData(Outcome.Running)]
    public async Task A_transaction_asked_for_by_id_answers_200_whatever_became_of_it(Outcome outcome)
    {
        var door = new FakeTransactionService { OnFind = id => new TransactionEnvelope { Id = id, Outcome = outcome } };
        await using var host = await ApiHost.Start(door);

        var answer = await host.Get("/v1/transactions/order-1");

        Assert.Equal(200, answer.Status);
        Assert.Equal("application/json", answer.MediaType);
        Assert.Equal("order-1", answer.String("id"));
    }

    [Fact]
    public async Task An_unknown_id_answers_404()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        StatusTableTests.AssertProblem(await host.Get("/v1/transactions/order-1"), 404, "rejected");
        StatusTableTests.AssertProblem(await host.Get("/v1/transactions/" + new string('x', 129)), 400, "rejected");
    }

    [Theory]
    [InlineData("a/b")]
    [InlineData("%2F")]
    [InlineData("100%")]
    [InlineData("a b+c?d#e")]
    [InlineData("a||\"b\"")]
    [InlineData("🏦")]
    [InlineData("x/schedule")]
    public async Task Ids_come_through_the_path_as_they_are(string id)
    {
        var inspection = new FakeInspection();
        var door = new FakeTransactionService { OnFind = found => new TransactionEnvelope { Id = found, Outcome = Outcome.Running } };
        await using var host = await ApiHost.Start(door, inspection);
        var escaped = Uri.EscapeDataString(id);

        var transaction = await host.Get($"/v1/transactions/{escaped}?x=1");
        var actor = await host.Get($"/v1/actors/Account/{escaped}");
        var schedule = await host.Get($"/v1/actors/Account/{escaped}/schedule");

        Assert.Equal(id, transaction.String("id"));
        Assert.Equal(id, actor.String("id"));
        Assert.True(actor.Json.TryGetProperty("state", out _));
        Assert.Equal(id, schedule.String("id"));
        Assert.True(schedule.Json.TryGetProperty("entries", out _));
    }

    [Fact]
    public async Task An_actor_shows_its_durable_state()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        Assert.Equal(
            """{"type":"Account","id":"alice","state":{"balance":1.50},"version":8,"lastBatch":12,"worker":"w1","resident":true}""",
            (await host.Get("/v1/actors/Account/alice")).Text);
        Assert.Contains("\"state\":null", (await host.Get("/v1/actors/Account/new")).Text, StringComparison.Ordinal);
        Assert.Equal(404, (await host.Get("/v1/actors/Nobody/alice")).Status);
        Assert.Equal(404, (await host.Get("/v1/actors/Nobody/alice/schedule")).Status);
        Assert.Equal(400, (await host.Get("/v1/actors/Account")).Status);
        Assert.Equal(400, (await host.Get("/v1/actors/Account/")).Status);
        Assert.Equal(400, (await host.Get("/v1/actors/Account/schedule")).Status);
        Assert.Equal(400, (await host.Get("/v1/actors/Acc%20ount/alice")).Status);
    }

    [Fact]
    public async Task A_damaged_state_is_409_and_says_which_actor_and_what_is_wrong()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Get("/v1/actors/Account/damaged");

        Assert.Equal((409, "application/problem+json"), (answer.Status, answer.MediaType));
        Assert.Equal("urn:snapper:damaged-state", answer.String("type"));
        Assert.Equal("The stored state of Account/damaged is damaged: it is not JSON.", answer.String("detail"));
    }

    [Theory]
    [InlineData("/v1/actors/Account/%ff")]
    [InlineData("/v1/actors/Account/%ff/schedule")]
    [InlineData("/v1/actors/Acc%ff/alice")]
    public async Task A_path_that_is_no_UTF8_is_400_and_names_no_other_actor(string path)
    {
        var inspection = new FakeInspection();
        await using var host = await ApiHost.Start(new FakeTransactionService(), inspection);

        var answer = await host.Get(path);

        Assert.Equal((400, "application/problem+json"), (answer.Status, answer.MediaType));
        Assert.Contains("percent-encoded", answer.String("detail"), StringComparison.Ordinal);
        Assert.Empty(inspection.Asked);
    }

    [Fact]
    public async Task A_state_that_cannot_be_read_now_is_503_and_says_when_to_come_back()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Get("/v1/actors/Account/away");

        Assert.Equal((503, "application/problem+json", "1"), (answer.Status, answer.MediaType, answer.RetryAfter));
        Assert.Equal("Redis does not answer.", answer.String("detail"));
    }

    [Fact]
    public async Task A_schedule_shows_its_entries_in_order()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        Assert.Equal(
            """{"type":"Account","id":"alice","entries":[{"kind":"pact","transaction":13,"batch":12,"state":"executing","calls":1,"declared":2,"ahead":0,"behind":0},{"kind":"act","transaction":4503599627370497,"batch":0,"state":"waiting","calls":0,"declared":0,"ahead":12,"behind":0}]}""",
            (await host.Get("/v1/actors/Account/alice/schedule")).Text);
    }

    [Fact]
    public async Task Status_and_actor_types_have_the_fields_of_the_contract()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        Assert.Equal(
            """{"worker":"w1","pid":4711,"sidecarPid":4712,"redisPid":null,"epoch":3,"dapr":"daprd","log":"redis","durability":"always","uptimeMs":12500,"version":"0.1.0","committed":90,"aborted":10,"inFlight":2,"committedPact":60,"committedAct":30,"abortsByReason":{"conflict":7,"application":3},"batches":12,"highestCommittedBatch":9120,"logPosition":500,"durablePosition":499,"undos":1,"residentActors":44,"openBatches":0,"repeatsByReason":{"conflict":4},"cpuMs":1500,"residentBytes":1048576,"memory":{"heapBytes":600,"limitBytes":1000,"heldBytes":20,"heldMaxBytes":250,"refusing":false},"redis":{"usedBytes":900,"maxBytes":1000,"systemBytes":8000},"latency":{"pact":{"count":60,"p50Ms":1.5,"p90Ms":2,"p99Ms":3,"p999Ms":4,"maxMs":5},"act":null}}""",
            (await host.Get("/v1/status")).Text);
        Assert.Equal(
            """{"types":[{"type":"Account","methods":[{"name":"Transfer","mayAbort":true,"readOnly":false,"input":{"type":"object"},"result":null}]}]}""",
            (await host.Get("/v1/actor-types")).Text);
    }

    [Fact]
    public async Task Batches_and_aborts_are_listed_up_to_a_limit()
    {
        var inspection = new FakeInspection();
        await using var host = await ApiHost.Start(new FakeTransactionService(), inspection);
        const string batch = """{"batch":12,"previousBatch":9,"transactions":3,"actors":4,"state":"committed","formedAtMs":1000,"completedMs":0.5,"queuedMs":0.75,"committedMs":null,"waitingFor":["Account/alice"],"components":0,"openComponents":[],"globalBatch":11,"preparedMs":0.625,"lastActor":"Account/bob","beforeLastActor":"Account/carol","lastActorAfterMs":0.25,"heldBackBy":"decision","heldBackMs":0.125}""";

        Assert.Equal($$"""{"batches":[{{batch}}]}""", (await host.Get("/v1/batches?limit=7")).Text);
        Assert.Equal(7, inspection.LimitAsked);
        Assert.Equal(batch, (await host.Get("/v1/batches/12")).Text);
        Assert.Equal(
            """{"aborts":[{"atMs":2000,"id":"order-1","transaction":14,"mode":"act","root":"Account/alice","method":"Transfer","reason":"conflict","message":"older holder","repeated":true,"code":null,"actors":["Account/bob"],"moreActors":0,"blocker":11,"floor":0,"ceil":0,"blockedBy":null,"undoneFor":{"request":"order-0","transaction":9,"mode":"pact","root":"Account/carol","method":"Transfer","age":0}}]}""",
            (await host.Get("/v1/aborts")).Text);
        Assert.Equal(50, inspection.LimitAsked);
        Assert.Equal(404, (await host.Get("/v1/batches/13")).Status);
        foreach (var wrong in (string[])["/v1/batches/x", "/v1/batches/-1", "/v1/batches?limit=0", "/v1/batches?limit=1001", "/v1/aborts?limit=x", "/v1/aborts?limit=1&limit=2"])
        {
            var answer = await host.Get(wrong);
            Assert.Equal(400, answer.Status);
            Assert.Equal("application/problem+json", answer.MediaType);
        }
    }

    [Fact]
    public async Task Events_tell_the_status_at_once_and_then_what_is_new()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(20));

        using var answer = await host.Client.GetAsync(new Uri("/v1/events", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, timeout.Token);
        Assert.Equal("text/event-stream", answer.Content.Headers.ContentType?.MediaType);
        using var reader = new StreamReader(await answer.Content.ReadAsStreamAsync(timeout.Token));
        var lines = new List<string>();
        while (lines.Count(line => line == "event: status") < 2)
        {
            lines.Add((await reader.ReadLineAsync(timeout.Token))!);
        }

        Assert.Equal("event: status", lines[0]);
        Assert.Equal("w1", JsonDocument.Parse(lines[1]["data: ".Length..]).RootElement.GetProperty("worker").GetString());

        // The abort that the fake makes anew for each question is new each time; its batch, 12, is below the last one, 9120.
        Assert.Equal(1, lines.Count(line => line == "event: aborts"));
        Assert.DoesNotContain("event: batches", lines);
    }

    [Fact]
    public async Task Readiness_follows_the_checks_and_the_door()
    {
        var inspection = new FakeInspection();
        var door = new LifecycleGate();
        await using var host = await ApiHost.Start(door, inspection);

        var starting = await host.Get("/readyz");
        door.Open(new FakeTransactionService());
        var ready = await host.Get("/readyz");
        inspection.HealthChecks[0] = new HealthCheck("log", false, "Redis does not answer.");
        var unreachable = await host.Get("/readyz");
        var alive = await host.Get("/healthz");

        Assert.Equal(503, starting.Status);
        Assert.False(starting.Json.GetProperty("checks").GetProperty("door").GetProperty("healthy").GetBoolean());
        Assert.Equal(200, ready.Status);
        Assert.Equal(503, unreachable.Status);
        Assert.Equal("Redis does not answer.", unreachable.Json.GetProperty("checks").GetProperty("log").GetProperty("detail").GetString());
        Assert.Equal(200, alive.Status);
    }

    [Fact]
    public async Task Liveness_asks_what_the_host_says()
    {
        var options = new ApiOptions { Liveness = () => [new HealthCheck("executors", false, "Executor 1 is blocked.")] };
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: options);

        Assert.Equal(503, (await host.Get("/healthz")).Status);
    }

    [Fact]
    public async Task Metrics_are_prometheus_text()
    {
        var inspection = new FakeInspection();
        inspection.HealthChecks.Add(new HealthCheck("odd \"name\"\\\n", false, ""));
        await using var host = await ApiHost.Start(new FakeTransactionService(), inspection);

        var answer = await host.Get("/metrics");

        Assert.Equal(200, answer.Status);
        Assert.Equal("text/plain", answer.MediaType);
        Assert.Contains("snapper_transactions_total{mode=\"pact\",outcome=\"committed\"} 60\n", answer.Text, StringComparison.Ordinal);
        Assert.Contains("snapper_transaction_aborts_total{reason=\"conflict\"} 7\n", answer.Text, StringComparison.Ordinal);
        Assert.Contains("snapper_health_check{check=\"odd \\\"name\\\"\\\\\\n\"} 0\n", answer.Text, StringComparison.Ordinal);
        Assert.Contains("process_cpu_seconds_total ", answer.Text, StringComparison.Ordinal);

        // Every sample stands under the head of its family, and every family has one head.
        var families = new HashSet<string>();
        string? family = null;
        foreach (var line in answer.Text.TrimEnd('\n').Split('\n'))
        {
            if (line.StartsWith("# TYPE ", StringComparison.Ordinal))
            {
                family = line.Split(' ')[2];
                Assert.True(families.Add(family), $"{family} has two heads.");
            }
            else if (!line.StartsWith("# HELP ", StringComparison.Ordinal))
            {
                var sample = Sample().Match(line);
                Assert.True(sample.Success, $"Not a sample: {line}");
                Assert.Equal(family, sample.Groups[1].Value);
            }
        }
    }

    [Fact]
    public async Task The_managed_heap_in_the_metrics_is_what_survived_the_last_collection()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var kept = new byte[64 * 1024 * 1024];
        GC.Collect();

        // Other tests of the process may let a collection fall in between. If new objects counted, they would each time.
        const int Garbage = 32 * 1024 * 1024;
        for (var tries = 1; ; tries++)
        {
            var with = await ManagedHeap(host);
            var garbage = new byte[Garbage];
            GC.KeepAlive(garbage);
            var beside = await ManagedHeap(host);
            GC.KeepAlive(kept);
            Assert.InRange(with, kept.Length, long.MaxValue);
            if (beside < with + (Garbage / 2))
            {
                break;
            }

            Assert.True(tries < 10, $"{Garbage} B of new objects moved it from {with} to {beside}.");
        }
    }

    [Theory]
    [InlineData("GET", "/", 404, null)]
    [InlineData("GET", "/v1/nothing.txt", 404, null)]
    [InlineData("POST", "/v2/transactions", 404, null)]
    [InlineData("GET", "/v1/transactions", 405, "POST")]
    [InlineData("DELETE", "/v1/transactions", 405, "POST")]
    [InlineData("POST", "/v1/transactions/x", 405, "GET, HEAD")]
    [InlineData("PATCH", "/v1/actors/Account/a", 405, "GET, HEAD, PUT, DELETE")]
    [InlineData("POST", "/metrics", 405, "GET, HEAD")]
    public async Task What_is_not_there_is_a_problem_too(string method, string path, int status, string? allow)
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(path, UriKind.Relative));

        using var response = await host.Client.SendAsync(request);

        Assert.Equal(status, (int)response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
        var problem = System.Text.Json.JsonDocument.Parse(await response.Content.ReadAsStringAsync()).RootElement;
        Assert.Equal(status, problem.GetProperty("status").GetInt32());
        Assert.NotEmpty(problem.GetProperty("detail").GetString()!);
        Assert.Equal(allow, response.Content.Headers.Allow.Count == 0 ? null : string.Join(", ", response.Content.Headers.Allow));
    }

    [Fact]
    public async Task Http_2_without_tls_is_served_on_its_own_port()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), http2: true);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Http2Address!, "/v1/transactions"))
        {
            Version = new Version(2, 0),
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new StringContent("""{"actor":{"type":"Account","id":"alice"},"method":"M"}"""),
        };

        using var response = await host.Client.SendAsync(request);

        Assert.Equal(200, (int)response.StatusCode);
        Assert.Equal(new Version(2, 0), response.Version);
    }

    [Theory]
    [InlineData("/v1/traces?limit=0", "limit")]
    [InlineData("/v1/traces?minMs=-1", "minMs")]
    [InlineData("/v1/traces?id=a&id=b", "id is repeated")]
    [InlineData("/v1/hot?limti=3", "limti")]
    [InlineData("/v1/ring?x=1", "'x'")]
    public async Task Questions_of_watchers_that_are_wrong_say_what(string address, string named)
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var answer = await host.Get(address);
        Assert.Equal(400, answer.Status);
        Assert.Contains(named, answer.String("detail"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/v1/traces")]
    [InlineData("/v1/hot")]
    [InlineData("/v1/access")]
    [InlineData("/v1/ring")]
    [InlineData("/v1/actors/Account/alice/timeline")]
    public async Task A_worker_that_is_starting_has_nothing_to_look_at(string address)
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var answer = await host.Get(address);
        Assert.Equal((503, "1"), (answer.Status, answer.RetryAfter));
        Assert.Equal("urn:snapper:starting", answer.String("type"));
    }

    [Fact]
    public async Task A_caller_that_has_the_state_of_an_actor_gets_no_second_copy()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var path = new Uri("/v1/actors/Account/alice", UriKind.Relative);
        using var first = await host.Client.GetAsync(path);
        var tag = first.Headers.ETag!;
        Assert.True(tag.IsWeak);

        Assert.Equal((304, ""), await Ask(tag.ToString()));
        Assert.Equal((304, ""), await Ask($"\"other\", {tag.Tag}"));
        Assert.Equal(200, (await Ask("\"other\"")).Status);
        Assert.Equal(200, (await Ask("no tag")).Status);

        async Task<(int Status, string Text)> Ask(string known)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, path);
            request.Headers.TryAddWithoutValidation("If-None-Match", known);
            using var answer = await host.Client.SendAsync(request);
            Assert.Equal(tag, answer.Headers.ETag);
            return ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync());
        }
    }

    [Fact]
    public async Task Headers_tell_the_trace_and_no_caller_since_anybody_can_send_them()
    {
        var door = new FakeTransactionService();
        await using var host = await ApiHost.Start(door);
        using var content = new StringContent("""{"actor":{"type":"Account","id":"alice"},"method":"M"}""");
        content.Headers.Add("dapr-caller-app-id", "shop");
        content.Headers.Add("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        (await host.Client.PostAsync(new Uri("/v1/transactions", UriKind.Relative), content)).Dispose();

        Assert.True(door.Requests.TryDequeue(out var request));
        Assert.Null(request.Caller);
        Assert.Equal("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", request.TraceParent);
    }

    private static async Task<long> ManagedHeap(ApiHost host)
    {
        var line = (await host.Get("/metrics")).Text.Split('\n').Single(line => line.StartsWith("snapper_process_managed_heap_bytes ", StringComparison.Ordinal));
        return (long)double.Parse(line.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);
    }

    [GeneratedRegex("""^([a-z_]+)(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)+\})? [0-9.E+-]+$""")]
    private static partial Regex Sample();
}
