using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Tests;
using Snapper.Cli.Commands;
using Snapper.Security;
using Snapper.Storage.Tests.Support;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>States that plain Dapr actors have left in Redis come into a worker.</summary>
public sealed class ImportTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_actors = [BasketActorDescriptor.Instance, RelayDescriptor.Instance];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-import-");

    public void Dispose() => _data.Delete(recursive: true);

    [RedisFact]
    public async Task All_states_of_an_app_come_in_once_and_what_is_wrong_is_named_and_left_out()
    {
        await using var redis = await RedisServer.Start();
        await using var app = await WebApp.Start(_data.FullName, s_actors);
        for (var i = 0; i < 1_200; i++)
        {
            await Put(redis, $"shop||Relay||r{i}||seen", $"{i}");
        }

        await Put(redis, "shop||Basket||a||basket", """{"items":{"pen":2}}""");
        await Put(redis, "shop||Basket||a||puts", " 7 ");
        await Put(redis, "shop||Basket||[b]*?||basket", """{"items":{"ink":1}}""");
        await Put(redis, "shop||Basket||broken||basket", """{"items":{"pen":2}}""");
        await Put(redis, "shop||Basket||broken||puts", "{");
        await Put(redis, "shop||Basket||deep||puts", new string('[', 61) + new string(']', 61));
        await Put(redis, "shop||Basket||timed||puts", "1");
        await redis.Command("EXPIRE", "shop||Basket||timed||puts", "1000");
        await redis.Command("SET", "shop||Basket||text||puts", "1");
        await redis.Command("HSET", "shop||Basket||none||puts", "version", "1");
        await Put(redis, "shop||Basket||two||parts||puts", "1");
        await Put(redis, "shop||Elsewhere||e||x", "1");
        await Put(redis, "shop||Elsewhere||f||x", "1");
        await Put(redis, "shops||Basket||z||puts", "1");
        await Put(redis, "sho?||Basket||y||puts", "1");
        await app.Commit("Basket", "taken", "Bump", null);
        await Put(redis, "shop||Basket||taken||bumps", "99");

        var dry = await Import(redis, app, "--app-id", "shop", "--dry-run");
        Assert.Equal(1, dry.Exit);
        Assert.Equal(["Basket", "8", "10", "5"], dry.Row("Basket"));
        Assert.Equal(["Relay", "1200", "1200", "0"], dry.Row("Relay"));
        Assert.Equal(0, (int)(await State(app, "a"))["version"]!);

        var first = await Import(redis, app, "--app-id", "shop");
        Assert.Equal(1, first.Exit);
        Assert.Equal(["Basket", "8", "10", "2", "1", "5"], first.Row("Basket"));
        Assert.Equal(["Relay", "1200", "1200", "1200", "0", "0"], first.Row("Relay"));
        Assert.Equal(["Elsewhere", "2", "2", "0", "0", "2"], first.Row("Elsewhere"));
        Assert.Equal(
            [
                "Basket||broken||puts: it does not parse",
                "Basket||deep||puts: it does not parse",
                "Basket||none||puts: it has no field 'data'",
                "Basket||text||puts: it is no hash",
                "Basket||timed||puts: it lives for a time only",
                "no worker hosts the actor type Elsewhere",
                "shop||Basket||two||parts||puts: not of the form app||type||id||name",
            ],
            first.Errors.Split('\n').Where(static line => line.Contains("not imported", StringComparison.Ordinal))
                .Select(static line => line["snapper: ".Length..])
                .Select(static line => line.Split(" (")[0].Split(" (TTL)")[0])
                .Select(static line => line.Split(": its")[0].Split(": not imported")[0])
                .Select(static line => line.EndsWith(" is not imported", StringComparison.Ordinal)
                    ? line[..line.LastIndexOf(": ", StringComparison.Ordinal)] : line)
                .Order(StringComparer.Ordinal));
        Assert.Equal("""{"basket":{"items":{"pen":2}},"puts":7}""", (await State(app, "a"))["state"]!.ToJsonString());
        Assert.Equal(8, (int)await app.Commit("Basket", "a", "Put", new { product = "pen", count = 1 }));
        Assert.Equal(
            """{"basket":{"items":{"ink":1}}}""",
            (await State(app, WebUtility.UrlEncode("[b]*?")))["state"]!.ToJsonString());
        Assert.Equal(2, (int)await app.Commit("Basket", "taken", "Bump", null));

        var again = await Import(redis, app, "--app-id", "shop", "--type", "Basket");
        Assert.Equal(["Basket", "8", "10", "0", "3", "5"], again.Row("Basket"));
        Assert.DoesNotContain("Relay", again.Output, StringComparison.Ordinal);
        Assert.Equal(9, (int)await app.Commit("Basket", "a", "Put", new { product = "pen", count = 1 }));

        var other = await Import(redis, app, "--prefix", "shops", "--type", "Basket");
        Assert.Equal((0, ""), (other.Exit, other.Errors));
        Assert.Equal(["Basket", "1", "1", "1", "0", "0"], other.Row("Basket"));
    }

    /// <summary>What is wrong is told by the actor's name, by a dry run, too, and keeps out no other.</summary>
    [RedisFact]
    public async Task An_actor_that_cannot_be_imported_keeps_out_no_other()
    {
        await using var redis = await RedisServer.Start();
        await using var app = await WebApp.Start(_data.FullName, s_actors);
        var longId = new string('i', 513);
        await Put(redis, $"shop||Relay||{longId}||seen", "1");
        await Put(redis, "shop||Relay||half||seen", """["\ud800"]""");
        await Put(redis, "shop||Relay||large||seen", Text(1 << 20));
        for (var i = 0; i < 20; i++)
        {
            await Put(redis, $"shop||Relay||r{i}||seen", $"\"\\ud83d\\ude00 {i}\"");
        }

        // One that fits just so, and one that is over the limit of a request.
        await Put(redis, "shop||Relay||full||seen", Text((1 << 20) - """{"seen":""}""".Length));
        await Put(redis, "shop||Relay||vast||seen", Text(17 << 20));

        var dry = await Import(redis, app, "--app-id", "shop", "--dry-run");
        Assert.Equal(["Relay", "25", "25", "4"], dry.Row("Relay"));
        var run = await Import(redis, app, "--app-id", "shop");
        Assert.Equal(["Relay", "25", "25", "21", "0", "4"], run.Row("Relay"));
        foreach (var (id, why) in new[]
        {
            (longId, "an actor id has 1 to 512 characters"), ("half", "half of a surrogate pair"),
            ("large", "1048587"), ("vast", ""),
        })
        {
            foreach (var errors in new[] { dry.Errors, run.Errors })
            {
                var line = Assert.Single(
                    errors.Split('\n'), line => line.Contains($"Relay/{id}", StringComparison.Ordinal));
                Assert.Contains(why, line, StringComparison.Ordinal);
            }
        }

        var again = await Import(redis, app, "--app-id", "shop");
        Assert.Equal(["Relay", "25", "25", "0", "21", "4"], again.Row("Relay"));
    }

    [Fact]
    public async Task An_actor_of_a_request_that_is_refused_is_named_and_the_rest_comes_in()
    {
        await using var app = await WebApp.Start(_data.FullName, s_actors);
        var (status, text) = await Post(app, null, """
            {"type":"Basket","actors":[
            {"id":"a\u0001","state":{}},{"id":"b","state":{"x":["\uD800"]}},{"id":"c","state":{}},
            {"id":"d","state":{"\udfff":1}},{"id":"e","state":{"x":"\ud83d\ude00"}}]}
            """);
        Assert.Equal(HttpStatusCode.OK, status);
        var answer = JsonNode.Parse(text)!;
        Assert.Equal((2, 0), ((int)answer["imported"]!, (int)answer["present"]!));
        Assert.Equal(["a\u0001", "b", "d"], answer["failed"]!.AsArray().Select(static one => (string)one!["id"]!));
        Assert.All(answer["failed"]!.AsArray(), static one => Assert.Equal(
            ("invalid-request", false), ((string)one!["reason"]!, (bool)one["retryable"]!)));
        Assert.Equal("""{"x":"\ud83d\ude00"}""", (await State(app, "e"))["state"]!.ToJsonString().ToLowerInvariant());
    }

    [RedisFact]
    public async Task A_wrong_app_id_and_a_password_that_is_missing_are_told_and_the_password_never_is()
    {
        await using var redis = await RedisServer.Start();
        await Put(redis, "shop||Basket||a||puts", "1");
        var none = await Import(redis, null, "--app-id", "other");
        Assert.Equal(1, none.Exit);
        Assert.Contains("there is no key other||TYPE||ID||NAME in database 0", none.Errors, StringComparison.Ordinal);
        Assert.Equal(1, (await Import(redis, null, "--app-id", "shop", "--type", "Bask")).Exit);
        Assert.Equal(2, (await Import(redis, null)).Exit);
        Assert.Equal(1, (await Run("--from-dapr", $"redis://127.0.0.1:{redis.Port}/3", "--app-id", "shop")).Exit);
        var noWorker = await Run(
            "--from-dapr", $"redis://127.0.0.1:{redis.Port}/x", "--app-id", "shop");
        Assert.Equal(2, noWorker.Exit);

        await redis.Command("CONFIG", "SET", "requirepass", "sesame-43");
        var closed = await Import(redis, null, "--app-id", "shop", "--dry-run");
        Assert.Equal(1, closed.Exit);
        Assert.Contains("set SNAPPER_REDIS_PASSWORD", closed.Errors, StringComparison.Ordinal);
        var open = await Run("--from-dapr", $"redis://:sesame-43@127.0.0.1:{redis.Port}", "--app-id", "shop");
        Assert.Equal(2, open.Exit);
        Assert.Contains("--from-dapr holds a password", open.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("sesame", closed.Errors + open.Errors, StringComparison.Ordinal);
    }

    [RedisFact]
    public async Task A_cluster_is_refused()
    {
        await using var redis = await RedisServer.Start("--cluster-enabled", "yes");
        var refused = await Import(redis, null, "--app-id", "shop", "--dry-run");
        Assert.Equal(1, refused.Exit);
        Assert.Contains("runs in cluster mode", refused.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Only_an_admin_imports_and_only_into_what_takes_it()
    {
        var (admin, teller) = (TokenHash.NewToken(), TokenHash.NewToken());
        var settings = new Dictionary<string, string?>
        {
            ["Snapper:Security:Tokens:0:Name"] = "root", ["Snapper:Security:Tokens:0:Role"] = "admin",
            ["Snapper:Security:Tokens:0:Sha256"] = TokenHash.Of(admin),
            ["Snapper:Security:Tokens:1:Name"] = "op", ["Snapper:Security:Tokens:1:Role"] = "operator",
            ["Snapper:Security:Tokens:1:Sha256"] = TokenHash.Of(teller),
        };
        await using var app = await WebApp.Start(
            _data.FullName, [.. s_actors, PlainOfOurs.Type], settings: settings, appToken: TokenHash.NewToken());
        const string one = """{"type":"Basket","actors":[{"id":"a","state":{"puts":3}}]}""";
        Assert.Equal(HttpStatusCode.Forbidden, (await Post(app, teller, one)).Status);
        Assert.Equal("""{"imported":1,"present":0,"failed":[]}""", (await Post(app, admin, one)).Text);
        Assert.Equal("""{"imported":0,"present":1,"failed":[]}""", (await Post(app, admin, one)).Text);

        var (status, text) = await Post(app, admin, """
            {"type":"Basket","actors":[{"id":"b","state":[1]},{"id":"c","state":{"x":1,"x":2}},{"id":"d","state":{}}]}
            """);
        Assert.Equal(HttpStatusCode.OK, status);
        var answer = JsonNode.Parse(text)!;
        Assert.Equal((1, 0), ((int)answer["imported"]!, (int)answer["present"]!));
        Assert.Equal(["b", "c"], answer["failed"]!.AsArray().Select(static one => (string)one!["id"]!));
        Assert.All(answer["failed"]!.AsArray(), static one => Assert.False((bool)one!["retryable"]!));

        var unknown = await Post(app, admin, one.Replace("Basket", "Nothing", StringComparison.Ordinal));
        Assert.Equal(HttpStatusCode.NotFound, unknown.Status);
        var ours = await Post(app, admin, one.Replace("Basket", "Ours", StringComparison.Ordinal));
        Assert.Equal(HttpStatusCode.BadRequest, ours.Status);
        Assert.Contains("only classes of Snapper.DaprCompatibility", ours.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("$importNew", await Get(app, admin, "/v1/actor-types"), StringComparison.Ordinal);
        using var named = new HttpRequestMessage(HttpMethod.Post, "/v1/transactions")
        {
            Content = new StringContent(
                """{"actor":{"type":"Basket","id":"z"},"method":"$importNew","input":{"puts":1}}""", Encoding.UTF8,
                "application/json"),
        };
        named.Headers.Add("Authorization", "Bearer " + admin);
        using var refused = await app.Client.SendAsync(named);
        Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        Assert.Contains(
            "\"action\":\"import\",\"target\":\"1 actors of Basket\"", await Get(app, admin, "/v1/audit"),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("[]")]
    [InlineData("{")]
    [InlineData("{}")]
    [InlineData("""{"type":"Basket"}""")]
    [InlineData("""{"type":"Basket","actors":[]}""")]
    [InlineData("""{"type":"Basket","actors":[1]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a"}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"state":{}}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":1,"state":{}}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a","state":{},"x":1}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a\u0001","state":{}}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"\ud800","state":{}}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a","state":{"x":"\ud800"}}]}""")]
    [InlineData("""{"type":"Bas/ket","actors":[{"id":"a","state":{}}]}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a","state":{}}],"x":1}""")]
    [InlineData("""{"type":"Basket","actors":[{"id":"a","state":{}}]} 1""")]
    [InlineData("""{"type":"Basket","type":"Basket","actors":[{"id":"a","state":{}}]}""")]
    [InlineData("""{"type":"Basket","reason":1,"actors":[{"id":"a","state":{}}]}""")]
    public async Task A_body_that_is_wrong_imports_nothing(string body)
    {
        await using var app = await WebApp.Start(_data.FullName, s_actors);
        Assert.Equal(HttpStatusCode.BadRequest, (await Post(app, null, body)).Status);
        Assert.Equal(0, (int)(await State(app, "a"))["version"]!);
    }

    private static string Text(int length) => $"\"{new string('x', length)}\"";

    private static Task<string> Put(RedisServer redis, string key, string data) =>
        redis.Command("HSET", key, "data", data, "version", "1");

    private static Task<Ended> Import(RedisServer redis, WebApp? app, params string[] arguments) => Run(
        [
            "--from-dapr", $"redis://127.0.0.1:{redis.Port}", .. arguments,
            .. (app is null ? Array.Empty<string>() : ["--url", app.Client.BaseAddress!.ToString()]),
        ]);

    private static async Task<Ended> Run(params string[] arguments)
    {
        using var output = new StringWriter(CultureInfo.InvariantCulture);
        using var errors = new StringWriter(CultureInfo.InvariantCulture);
        var exit = await CommandLine.Run(["import", .. arguments], output, TextWriter.Synchronized(errors));
        return new Ended(exit, output.ToString(), errors.ToString());
    }

    private static async Task<(HttpStatusCode Status, string Text)> Post(WebApp app, string? token, string body)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/v1/imports")
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json"),
        };
        if (token is not null) request.Headers.Add("Authorization", "Bearer " + token);
        using var answer = await app.Client.SendAsync(request);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }

    private static async Task<string> Get(WebApp app, string token, string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Add("Authorization", "Bearer " + token);
        using var answer = await app.Client.SendAsync(request);
        return await answer.Content.ReadAsStringAsync();
    }

    private static async Task<JsonNode> State(WebApp app, string id) =>
        (await app.Client.GetFromJsonAsync<JsonNode>($"/v1/actors/Basket/{id}"))!;

    private sealed record Ended(int Exit, string Output, string Errors)
    {
        public string[] Row(string type) => Output.Split('\n')
            .Single(line => line.StartsWith(type + " ", StringComparison.Ordinal))
            .Split(' ', StringSplitOptions.RemoveEmptyEntries);
    }
}
