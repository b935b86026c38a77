using System.Net;
using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Somebody changed states in Redis by hand: what callers and operators are told, and what an operator can do. With a real redis-server, and Dapr.</summary>
public sealed class DamagedStateProcessTests : IDisposable
{
    private const string State = """{"checking":1,"savings":2}""";
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(10) };

    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    [NeedsServersFact]
    public async Task A_state_that_cannot_be_read_is_replaced_with_the_word_and_one_without_a_version_is_put_right_by_hand()
    {
        await using var up = UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1]);
        var ready = await up.Ready();
        Assert.True(HostAndPort.TryParse(ready.Redis!, out var address));
        using var redis = await RawRedis.Connect(address, TimeSpan.FromSeconds(5));
        redis.Ask("AUTH", (await File.ReadAllTextAsync(_temp.File(PrivateRedisSecret.FileName))).Trim());
        redis.Ask("HSET", "snapper:{state}:Account/cut", "version", "3", "state", "{\"checking\":");
        redis.Ask("HSET", "snapper:{state}:Account/gone", "version", "5", "state", "[1]");
        redis.Ask("HSET", "snapper:{state}:Account/unnumbered", "version", "x", "state", State);
        redis.Ask("SET", "snapper:{state}:Account/text", State);

        var actors = ready.Workers[0].Url + "/v1/actors/Account/";
        Assert.Equal(HttpStatusCode.Conflict, (await Send(HttpMethod.Get, actors + "cut")).Status);
        foreach (var actor in (string[])["cut", "gone", "unnumbered", "text"])
        {
            foreach (var method in (HttpMethod[])[HttpMethod.Put, HttpMethod.Delete]) Assert.Equal("failure", Reason(await Send(method, actors + actor, method == HttpMethod.Put ? State : null)));
        }

        Assert.Equal(HttpStatusCode.BadRequest, (await Send(HttpMethod.Put, actors + "cut?damaged=yes", State)).Status);
        Assert.Equal("committed", Outcome(await Send(HttpMethod.Put, actors + "cut?damaged=replace&reason=cut+by+hand", State)));
        Assert.Equal((4, State), Shown(await Send(HttpMethod.Get, actors + "cut")));
        Assert.Equal("application", Reason(await Send(HttpMethod.Put, actors + "cut?damaged=replace", State)));
        Assert.Equal("committed", Outcome(await Send(HttpMethod.Delete, actors + "gone?damaged=replace")));
        Assert.Equal((6, "null"), Shown(await Send(HttpMethod.Get, actors + "gone")));

        foreach (var actor in (string[])["unnumbered", "text"])
        {
            var refused = await Send(HttpMethod.Put, actors + actor + "?damaged=replace", State);
            Assert.Equal("application", Reason(refused));
            Assert.Contains("Its version cannot be read either", refused.Body.ToString());
        }

        // As docs/troubleshooting.md says: the version one higher than any it can have had, with its state.
        redis.Ask("HSET", "snapper:{state}:Account/unnumbered", "version", "8");
        redis.Ask("DEL", "snapper:{state}:Account/text");
        redis.Ask("HSET", "snapper:{state}:Account/text", "version", "2", "state", State);
        foreach (var (actor, version) in (ValueTuple<string, int>[])[("unnumbered", 9), ("text", 3)])
        {
            await Eventually.True($"{actor} is read again", async () => Outcome(await Send(HttpMethod.Put, actors + actor, """{"checking":7,"savings":0}""")) == "committed");
            Assert.Equal(version, Shown(await Send(HttpMethod.Get, actors + actor)).Version);
        }

        var audit = (await Send(HttpMethod.Get, ready.Workers[0].Url + "/v1/audit")).Body.GetProperty("entries").EnumerateArray()
            .Select(entry => $"{entry.GetProperty("action")} {entry.GetProperty("target")} {entry.GetProperty("reason")}").ToArray();
        Assert.Contains("import damaged Account/cut cut by hand", audit);
        Assert.Contains(audit, entry => entry.StartsWith("delete damaged Account/gone", StringComparison.Ordinal));
        Assert.Equal(HttpStatusCode.OK, (await Send(HttpMethod.Get, ready.Workers[0].Url + "/readyz")).Status);
    }

    private static string? Outcome((HttpStatusCode Status, JsonElement Body) answer) => answer.Body.TryGetProperty("outcome", out var outcome) ? outcome.GetString() : null;

    private static string? Reason((HttpStatusCode Status, JsonElement Body) answer) => answer.Body.TryGetProperty("abort", out var abort) ? abort.GetProperty("reason").GetString() : answer.Body.ToString();

    private static (int Version, string State) Shown((HttpStatusCode Status, JsonElement Body) answer) =>
        (answer.Body.GetProperty("version").GetInt32(), answer.Body.GetProperty("state") is { ValueKind: not JsonValueKind.Null } state ? state.GetRawText() : "null");

    private static async Task<(HttpStatusCode Status, JsonElement Body)> Send(HttpMethod method, string address, string? body = null)
    {
        using var request = new HttpRequestMessage(method, address);
        if (body is not null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await Http.SendAsync(request);
        using var document = JsonDocument.Parse(await answer.Content.ReadAsStreamAsync());
        return (answer.StatusCode, document.RootElement.Clone());
    }
}
