using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Sidecar.Tests;

/// <summary>The callbacks of an app, asked directly as a sidecar would.</summary>
public sealed class ActorHostTests : IAsyncLifetime
{
    private TestApp _app = null!;
    private HttpClient _http = null!;

    public async Task InitializeAsync()
    {
        _app = await TestApp.Start(0, new DaprHostOptions { MaxBodyBytes = 1000, AppApiToken = "" });
        _http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{_app.Port}") };
    }

    public async Task DisposeAsync()
    {
        _http.Dispose();
        await _app.DisposeAsync();
    }

    [Fact]
    public async Task The_configuration_names_types_and_switches_reentrancy_on_without_reachable_limit()
    {
        using var config = JsonDocument.Parse(await _http.GetStringAsync("/dapr/config"));

        Assert.Equal(["Account", "Account@w1", "Raw"], config.RootElement.GetProperty("entities").EnumerateArray().Select(type => type.GetString()!));
        Assert.Equal("3600000ms", config.RootElement.GetProperty("actorIdleTimeout").GetString());
        Assert.Equal("1000ms", config.RootElement.GetProperty("drainOngoingCallTimeout").GetString());
        Assert.True(config.RootElement.GetProperty("reentrancy").GetProperty("enabled").GetBoolean());
        Assert.Equal(1_000_000_000, config.RootElement.GetProperty("reentrancy").GetProperty("maxStackDepth").GetInt32());
    }

    [Fact]
    public async Task There_are_no_subscriptions_and_the_app_is_healthy()
    {
        Assert.Equal("[]", await _http.GetStringAsync("/dapr/subscribe"));
        using var health = await _http.GetAsync("/healthz");
        Assert.Equal(HttpStatusCode.OK, health.StatusCode);
    }

    [Theory]
    [InlineData("remind/tomorrow")]
    [InlineData("timer/tick")]
    public async Task Timers_and_reminders_are_refused_in_words(string method)
    {
        using var response = await _http.PutAsync($"/actors/Account/alice/method/{method}", null);

        Assert.Equal(HttpStatusCode.NotFound, response.StatusCode);
        Assert.Contains("no Dapr timers or reminders", await response.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("PUT", "/actors/Nope/alice/method/Balance", 404)]
    [InlineData("DELETE", "/actors/Nope/alice", 404)]
    [InlineData("PUT", "/actors/Account/alice", 400)]
    [InlineData("PUT", "/actors/Account/alice/method/", 400)]
    [InlineData("PUT", "/actors/Account//method/Balance", 400)]
    [InlineData("PUT", "/actors/Account/a/b/method/Balance", 400)]
    [InlineData("POST", "/actors/Account/alice/method/Balance", 405)]
    public async Task Paths_that_Dapr_does_not_send_are_refused(string verb, string path, int status)
    {
        Assert.Equal(status, await SendRaw($"{verb} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    }

    /// <summary>daprd would turn a refusal into a bare 500: the host is told, and answers in words.</summary>
    [Theory]
    [InlineData("50%25zz%FF", "address")]
    [InlineData("%C3", "address")]
    [InlineData("%zz", "address")]
    public async Task An_id_that_cannot_be_decoded_is_the_hosts_to_refuse(string id, string method)
    {
        var request = new HttpRequestMessage(HttpMethod.Put, new Uri($"{_http.BaseAddress}actors/Account/{id}/method/{method}", new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true }));

        using var response = await _http.SendAsync(request);

        Assert.Equal((HttpStatusCode.OK, $"True {id}"), (response.StatusCode, await response.Content.ReadAsStringAsync()));
    }

    [Fact]
    public async Task Deactivation_names_the_actor_exactly()
    {
        using var response = await _http.DeleteAsync("/actors/Account%40w1/a%2Fb%25");

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(("Account@w1", "a/b%"), Assert.Single(_app.Host.Deactivated));
    }

    [Theory]
    [InlineData(1000, false)]
    [InlineData(1001, true)]
    [InlineData(10_000_000, true)]
    public async Task The_body_limit_is_exact_with_and_without_a_length(int length, bool tooLarge)
    {
        foreach (var chunked in new[] { false, true })
        {
            using var request = new HttpRequestMessage(HttpMethod.Put, "/actors/Account/alice/method/Balance") { Content = new ByteArrayContent(new byte[length]) };
            request.Headers.TransferEncodingChunked = chunked;
            using var response = await _http.SendAsync(request);
            var seen = JsonSerializer.Deserialize<SeenCall>(await response.Content.ReadAsStringAsync())!;

            Assert.Equal((HttpStatusCode.OK, tooLarge, tooLarge ? 0 : length), (response.StatusCode, seen.TooLarge, seen.Length));
        }
    }

    [Fact]
    public async Task Bodies_of_all_sizes_arrive_unchanged()
    {
        await using var app = await TestApp.Start(0, new DaprHostOptions { AppApiToken = "" });
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{app.Port}") };
        foreach (var length in new[] { 0, 1, 4095, 4096, 4097, 32768, 32769, 65536, 100_000, 1_000_000, 4 * 1024 * 1024 })
        {
            foreach (var chunked in new[] { false, true })
            {
                var body = new byte[length];
                new Random(length).NextBytes(body);
                using var request = new HttpRequestMessage(HttpMethod.Put, "/actors/Account/alice/method/echo") { Content = new ByteArrayContent(body) };
                request.Headers.TransferEncodingChunked = chunked;
                using var response = await http.SendAsync(request);

                Assert.Equal(body, await response.Content.ReadAsByteArrayAsync());
            }
        }
    }

    [Fact]
    public async Task A_body_that_breaks_off_does_no_harm()
    {
        using (var socket = new TcpClient())
        {
            await socket.ConnectAsync(IPAddress.Loopback, _app.Port);
            await socket.GetStream().WriteAsync("PUT /actors/Account/alice/method/Balance HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"u8.ToArray());
        }

        using var response = await _http.PutAsync("/actors/Account/alice/method/Balance", null);
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
    }

    [Theory]
    [InlineData("/dapr/config", "GET")]
    [InlineData("/dapr/subscribe", "GET")]
    [InlineData("/actors/Account/alice/method/Balance", "PUT")]
    [InlineData("/actors/Account/alice", "DELETE")]
    public async Task With_a_token_every_callback_asks_for_it(string path, string verb)
    {
        await using var app = await TestApp.Start(0, new DaprHostOptions { AppApiToken = "secret" });
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{app.Port}") };
        foreach (var (tokens, status) in new (string[], int)[] { ([], 401), (["wrong"], 401), (["secre"], 401), (["secret", "secret"], 401), (["secret"], 200) })
        {
            using var request = new HttpRequestMessage(new HttpMethod(verb), path);
            if (tokens.Length > 0)
            {
                request.Headers.Add("dapr-api-token", tokens);
            }

            using var response = await http.SendAsync(request);
            Assert.Equal(status, (int)response.StatusCode);
        }

        using var health = await http.GetAsync("/healthz");
        Assert.Equal(HttpStatusCode.OK, health.StatusCode);
    }

    private async Task<int> SendRaw(string request)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, _app.Port);
        await socket.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request));
        using var reader = new StreamReader(socket.GetStream(), Encoding.ASCII);
        var line = await reader.ReadLineAsync();
        return int.Parse(line!.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);
    }
}
