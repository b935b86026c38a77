using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Server.Tests.Cluster;

/// <summary>The HTTP API of the workers as one system: what is refused and how, and where things are.</summary>
public sealed class ClusterApiTests : IAsyncLifetime
{
    private readonly HttpClient _http = new();
    private WorkersOverHttp _workers = null!;

    public async Task InitializeAsync()
    {
        _workers = await WorkersOverHttp.Start(2);
        _http.BaseAddress = _workers.Addresses[0];
    }

    public async Task DisposeAsync()
    {
        _http.Dispose();
        await _workers.DisposeAsync();
    }

    [Theory]
    [InlineData("""{"actors":[null]}""", "An actor is null")]
    [InlineData("""{"actors":[{"type":"Account","id":"a"},{"type":"Account","id":"a"}]}""", "The actor Account/a is named twice.")]
    [InlineData("""{"partitions":[17,18,17]}""", "The partition 17 is named twice.")]
    [InlineData("""{"worker":"w1","id":"a b"}""", "id must have 1 to 100 printable ASCII characters")]
    [InlineData("""{"worker":"w1","id":""}""", "id must have 1 to 100 printable ASCII characters")]
    [InlineData("""{"worker":"w1","id":"."}""", "id must not be '.': in an address that stands for another.")]
    [InlineData("""{"worker":"w1","id":".."}""", "id must not be '..': in an address that stands for another.")]
    [InlineData("""{"partitions":[1],"to":"w2","to":"w3"}""", "The body is wrong at '$.to': there is no such field here, it is repeated,")]
    [InlineData("""{"actors":[{"type":"Account","id":"a","id":"b"}]}""", "The body is wrong at '$.actors[0].id'")]
    [InlineData("""{"partitions":["1"]}""", "wrong at '$.partitions[0]'")]
    [InlineData("""{"partitions":[]}""", "partitions is empty: it names nothing to move.")]
    [InlineData("""{"actors":[]}""", "actors is empty: it names nothing to move.")]
    [InlineData("""{"worker":5}""", "wrong at '$.worker'")]
    [InlineData("""{"werker":"w1"}""", "wrong at '$.werker'")]
    [InlineData("""{"worker":"w1",}""", "The body is not JSON")]
    [InlineData("""[]""", "wrong at '$'")]
    public async Task A_wrong_body_is_refused_in_words_of_its_own(string body, string message)
    {
        foreach (var asked in (string[])[body, body.Replace("{\"", "{\"dryRun\":true,\"", StringComparison.Ordinal)])
        {
            var (status, text, _) = await Post(asked.Replace("{\"dryRun\":true,\"type", "{\"type", StringComparison.Ordinal));
            Assert.True(status == HttpStatusCode.BadRequest, text);
            Assert.Contains(message, (string)JsonNode.Parse(text)!["detail"]!, StringComparison.Ordinal);
            Assert.DoesNotContain("Snapper.Server", text, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("/v1/workers?x=1", "There is no query parameter 'x' here: none is known.")]
    [InlineData("/v1/directory?aktor=Account/a", "There is no query parameter 'aktor' here: known are actor and worker.")]
    [InlineData("/v1/directory?worker=w1&actor=Account/a", "One of the query parameters actor and worker can be asked by, not both at once.")]
    [InlineData("/v1/directory?worker=w1&worker=w2", "The query parameter worker is repeated.")]
    [InlineData("/v1/migrations?limit=5", "There is no query parameter 'limit' here: none is known.")]
    [InlineData("/v1/migrations/proposals?x", "There is no query parameter 'x' here: none is known.")]
    [InlineData("/v1/migrations/m?x=1", "There is no query parameter 'x' here: none is known.")]
    public async Task A_query_that_is_not_known_is_refused(string path, string message)
    {
        var (status, problem) = await Get(path);
        Assert.Equal((400, message), (status, (string?)problem["detail"]));
    }

    [Fact]
    public async Task A_migration_is_not_begun_with_a_query_that_is_not_known()
    {
        using var content = new StringContent("""{"worker":"w1","id":"m"}""", Encoding.UTF8, "application/json");
        using var answer = await _http.PostAsync(new Uri("/v1/migrations?dryRun=true", UriKind.Relative), content);
        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.Contains("There is no query parameter 'dryRun' here", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.Equal(404, (await Get("/v1/migrations/m")).Status);
    }

    [Fact]
    public async Task A_reason_that_is_too_long_is_refused_in_a_dry_run_too()
    {
        var reason = new string('x', 1025);
        foreach (var dry in (string[])["true", "false"])
        {
            var (status, text, _) = await Post($$"""{"worker":"w1","dryRun":{{dry}},"reason":"{{reason}}"}""");
            Assert.Equal(HttpStatusCode.BadRequest, status);
            Assert.Contains("reason has 1025 characters, more than 1024", text, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_body_that_is_too_long_is_answered_413()
    {
        var (status, text, _) = await Post(new string(' ', 10 * 1024 * 1024));
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, status);
        Assert.Equal("The body is longer than 1048576 bytes.", (string)JsonNode.Parse(text)!["detail"]!);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(130)]
    [InlineData(3000)]
    public async Task An_id_that_no_migration_has_or_could_have_is_not_found(int length)
    {
        Assert.Equal(404, (await Get("/v1/migrations/" + new string('a', length))).Status);
        Assert.Equal(404, (await Get("/v1/migrations/" + new string('a', length) + "%20b%C3%A4")).Status);
    }

    [Fact]
    public async Task The_directory_says_the_partition_of_an_actor_and_who_is_not_there()
    {
        var actor = new ActorKey("Account", "alice");
        var (status, answer) = await Get("/v1/directory?actor=Account/alice");
        Assert.Equal((200, Partition.Of(actor).Number), (status, (int)answer["partition"]!));
        var owner = (string)answer["worker"]!;
        var partitions = (await Get("/v1/directory?worker=" + owner)).Json["partitions"]!.AsArray();
        Assert.Contains(Partition.Of(actor).Number, partitions.Select(partition => (int)partition!));

        var (missing, problem) = await Get("/v1/directory?worker=nosuch");
        Assert.Equal((404, "There is no worker 'nosuch'."), (missing, (string)problem["detail"]!));
    }

    [Fact]
    public async Task When_nothing_has_to_move_the_answer_is_200_and_leads_nowhere()
    {
        var owner = string.Create(CultureInfo.InvariantCulture, $"w{_workers.OwnerOf("alice")}");
        var (status, text, location) = await Post($$"""{"actors":[{"type":"Account","id":"alice"}],"to":"{{owner}}"}""");
        Assert.True(status == HttpStatusCode.OK, text);
        Assert.Null(location);
        Assert.Equal(("done", 0), ((string)JsonNode.Parse(text)!["state"]!, (int)JsonNode.Parse(text)!["keys"]!));

        var (begun, _, where) = await Post($$"""{"actors":[{"type":"Account","id":"alice"}],"to":"{{(owner == "w1" ? "w2" : "w1")}}","id":"m"}""");
        Assert.Equal((HttpStatusCode.Accepted, "/v1/migrations/m"), (begun, where?.ToString()));

        var (refused, why, _) = await Post("""{"actors":[{"type":"Account","id":"somebody else"}],"id":"m"}""");
        Assert.Equal((HttpStatusCode.Conflict, "The id m is another migration's."), (refused, (string)JsonNode.Parse(why)!["detail"]!));
    }

    [Fact]
    public async Task Each_worker_lists_the_stored_actors_that_it_owns_and_together_they_list_all()
    {
        string[] accounts = [.. Enumerable.Range(0, 20).Select(i => $"listed-{i}")];
        Assert.Equal([1, 2], accounts.Select(_workers.OwnerOf).Distinct().Order());
        foreach (var account in accounts)
        {
            using var content = new StringContent($$$"""{"actor":{"type":"Account","id":"{{{account}}}"},"method":"DepositChecking","input":{"amount":1}}""", Encoding.UTF8, "application/json");
            using var sent = await _http.PostAsync(new Uri("/v1/transactions", UriKind.Relative), content);
            Assert.Equal(HttpStatusCode.OK, sent.StatusCode);
        }

        foreach (var worker in (int[])[1, 2])
        {
            // They are checkpointed after a while.
            await Harness.Eventually.True($"w{worker} lists what it owns", async () =>
            {
                var answer = JsonNode.Parse(await _http.GetStringAsync(new Uri(_workers.Addresses[worker - 1], "/v1/actors?type=Account&search=listed-")))!;
                Assert.Equal($"w{worker}", (string?)answer["worker"]);
                return answer["actors"]!.AsArray().Select(actor => (string)actor!["id"]!).SequenceEqual(accounts.Where(account => _workers.OwnerOf(account) == worker).Order(StringComparer.Ordinal));
            });
        }
    }

    [Fact]
    public async Task An_answer_to_a_question_by_id_names_the_worker_as_well()
    {
        var root = Enumerable.Range(0, 100).Select(i => $"other-{i}").First(account => _workers.OwnerOf(account) == 2);
        using var content = new StringContent($$$"""{"actor":{"type":"Account","id":"{{{root}}}"},"method":"Balance","mode":"act","id":"asked-for"}""", Encoding.UTF8, "application/json");
        using var sent = await _http.PostAsync(new Uri("/v1/transactions", UriKind.Relative), content);
        Assert.Equal(HttpStatusCode.OK, sent.StatusCode);

        foreach (var address in _workers.Addresses)
        {
            using var found = await _http.GetAsync(new Uri(address, "/v1/transactions/asked-for"));
            Assert.Equal(HttpStatusCode.OK, found.StatusCode);
            Assert.Equal($"w{_workers.Addresses.IndexOf(address) + 1}", found.Headers.GetValues("Snapper-Worker").Single());
            Assert.Equal("w2", (string)JsonNode.Parse(await found.Content.ReadAsStringAsync())!["worker"]!);
        }
    }

    [Fact]
    public async Task Every_worker_shows_the_steps_of_a_migration_whoever_its_source_is()
    {
        foreach (var id in (string[])["w1", "w2"])
        {
            var (drained, answer, _) = await Post($$"""{"worker":"{{id}}","id":"drain-{{id}}"}""");
            Assert.True(drained == HttpStatusCode.Accepted, answer);
            foreach (var address in _workers.Addresses)
            {
                await Shows(new Uri(address, "/v1/migrations/drain-" + id));
            }
        }
    }

    /// <summary>Until all its parts show all their steps.</summary>
    private async Task Shows(Uri migration)
    {
        var deadline = Environment.TickCount64 + 30_000;
        while (true)
        {
            var text = await _http.GetStringAsync(migration);
            var parts = JsonNode.Parse(text)!["parts"]!.AsArray();
            if (parts.All(part => part!["phases"]!.AsArray().Select(phase => (string)phase!["phase"]!).SequenceEqual(["planned", "freezing", "draining", "handingover", "done"]))) return;
            Assert.True(Environment.TickCount64 < deadline, $"{migration} does not show all steps: {text}");
            await Task.Delay(50);
        }
    }

    private async Task<(HttpStatusCode Status, string Text, Uri? Location)> Post(string body)
    {
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await _http.PostAsync(new Uri("/v1/migrations", UriKind.Relative), content);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(), answer.Headers.Location);
    }

    private async Task<(int Status, JsonNode Json)> Get(string path)
    {
        using var answer = await _http.GetAsync(new Uri(path, UriKind.Relative));
        return ((int)answer.StatusCode, JsonNode.Parse(await answer.Content.ReadAsStringAsync())!);
    }
}
