using System.Buffers;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Snapper.Baselines;
using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

/// <summary>The baseline against a stand-in for the sidecar that passes actor calls back to the server, as Dapr does.</summary>
public sealed class BaselineTests : IAsyncLifetime
{
    private readonly int port = Ports.Free();
    private readonly HttpClient toServer = new();
    private TestHttpServer sidecar = null!;
    private SidecarCaller caller = null!;
    private ActorEndpoint endpoint = null!;
    private WebApplication server = null!;
    private string lastCall = "";
    private int failures;

    public async Task InitializeAsync()
    {
        sidecar = new TestHttpServer(PassOnAsync);
        caller = new SidecarCaller(sidecar.Address.Port);
        endpoint = new ActorEndpoint(caller);
        server = BaselineHost.Build(port, endpoint);
        await server.StartAsync();
        toServer.BaseAddress = new Uri($"http://127.0.0.1:{port}");
    }

    public async Task DisposeAsync()
    {
        toServer.Dispose();
        caller.Dispose();
        await server.DisposeAsync();
        await sidecar.DisposeAsync();
    }

    [Fact]
    public async Task The_configuration_lets_calls_interleave_and_never_reaches_the_depth_limit()
    {
        using var config = JsonDocument.Parse(await toServer.GetStringAsync("/dapr/config"));
        Assert.Equal("PlainAccount", config.RootElement.GetProperty("entities")[0].GetString());
        Assert.True(config.RootElement.GetProperty("reentrancy").GetProperty("enabled").GetBoolean());
        Assert.Equal(1_000_000_000, config.RootElement.GetProperty("reentrancy").GetProperty("maxStackDepth").GetInt32());
        using var health = await toServer.GetAsync("/healthz");
        Assert.True(health.IsSuccessStatusCode);
    }

    [Fact]
    public async Task A_transfer_withdraws_at_the_root_and_deposits_through_the_sidecar()
    {
        Assert.Equal("""{"balance":9997}""", await CallAsync("a", "MultiTransfer", """{"to":["b","c","d/e"],"amount":1}"""));
        Assert.Equal(9997m, endpoint.Account("a").Balance);
        Assert.All(["b", "c"], id => Assert.Equal(10_001m, endpoint.Account(id).Balance));
        Assert.Contains("Dapr-Reentrancy-Id: plain", lastCall, StringComparison.Ordinal);
        Assert.Equal("{}", await CallAsync("a", "Noop", ""));
    }

    [Fact]
    public async Task Transfers_that_call_each_other_do_not_wait_for_each_other()
    {
        string[] ids = ["a", "b", "c", "d"];
        await Task.WhenAll(Enumerable.Range(0, 200).Select(i =>
        {
            var to = string.Join("\",\"", ids.Where((_, at) => at != i % 4));
            return CallAsync(ids[i % 4], "MultiTransfer", $$"""{"to":["{{to}}"],"amount":1}""");
        })).WaitAsync(TimeSpan.FromSeconds(60));
        Assert.All(ids, id => Assert.Equal(10_000m, endpoint.Account(id).Balance));
    }

    [Fact]
    public async Task An_uncovered_transfer_and_a_failed_deposit_are_answers_that_the_load_counts_as_errors()
    {
        Assert.Equal("""{"error":"insufficient funds"}""", await CallAsync("poor", "MultiTransfer", """{"to":["b"],"amount":10001}"""));
        Assert.Equal(10_000m, endpoint.Account("poor").Balance);

        failures = 1;
        using var answer = await toServer.PutAsync("/actors/PlainAccount/x/method/MultiTransfer", new StringContent("""{"to":["b"],"amount":1}"""));
        Assert.Equal(500, (int)answer.StatusCode);
    }

    [Theory]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"amount":-1}""")]
    [InlineData("""{"amount":"1"}""")]
    [InlineData("""{"to":"b","amount":1}""")]
    [InlineData("""{"to":[1],"amount":1}""")]
    [InlineData("""{"amount":""")]
    public async Task A_wrong_input_is_refused(string input)
    {
        Assert.ThrowsAny<JsonException>(() => TransferInput.Read(new ReadOnlySequence<byte>(Encoding.UTF8.GetBytes(input))));
        using var answer = await toServer.PutAsync("/actors/PlainAccount/x/method/MultiTransfer", new StringContent(input));
        Assert.Equal(400, (int)answer.StatusCode);
    }

    [Fact]
    public async Task Unknown_paths_and_methods_are_404()
    {
        foreach (var path in new[] { "/", "/actors/Other/x/method/Noop", "/actors/PlainAccount/x/method/Nope", "/actors/PlainAccount/x/nothing" })
        {
            using var answer = await toServer.PutAsync(path, null);
            Assert.Equal(404, (int)answer.StatusCode);
        }

        using var deactivated = await toServer.DeleteAsync("/actors/PlainAccount/x");
        Assert.Equal(200, (int)deactivated.StatusCode);
    }

    private async Task<string> CallAsync(string id, string method, string body)
    {
        using var answer = await toServer.PutAsync($"/actors/PlainAccount/{id}/method/{method}", new StringContent(body));
        Assert.Equal(200, (int)answer.StatusCode);
        return await answer.Content.ReadAsStringAsync();
    }

    private async Task<string> PassOnAsync(string request)
    {
        lastCall = request;
        if (Interlocked.Decrement(ref failures) == 0)
        {
            return TestHttpServer.Json(500, "no");
        }

        var path = request.Split(' ')[1].Replace("/v1.0", "", StringComparison.Ordinal);
        var body = request[(request.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..];
        using var message = new HttpRequestMessage(HttpMethod.Put, path) { Content = new StringContent(body) };
        using var answer = await toServer.SendAsync(message);
        return TestHttpServer.Json((int)answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }
}
