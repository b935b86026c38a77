using System.Diagnostics;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Embedded;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Sidecar.Tests;

/// <summary>What only the stand-in does.</summary>
public sealed class EmbeddedSidecarTests
{
    private static readonly byte[] SomeJson = "{}"u8.ToArray();

    [Fact]
    public async Task It_says_what_it_is_in_every_answer_and_in_its_metadata()
    {
        await using var rig = await Rig.Start(new StandIn());
        await rig.WaitForActors();
        using var http = new HttpClient { BaseAddress = rig.Sidecar.Endpoint };

        Assert.Equal("true", (await rig.Client.GetMetadata(default)).Extended[DaprHeaders.Embedded]);
        foreach (var path in new[] { "/v1.0/healthz", "/v1.0/metadata", "/v1.0/actors/Account/a/method/Balance", "/v1.0/actors/Nope/a/method/Balance", "/nothing", "/v1.0/invoke/snapper/method/status/409" })
        {
            using var response = await http.GetAsync(path);
            Assert.Equal("true", Assert.Single(response.Headers.GetValues("snapper-embedded")));
        }
    }

    /// <summary>They are for plain Dapr actors, which ask for them in the middle of a method.</summary>
    [Theory]
    [InlineData("GET", "state/lines")]
    [InlineData("POST", "state")]
    [InlineData("PUT", "reminders/tick")]
    [InlineData("DELETE", "timers/tick")]
    public async Task States_and_reminders_of_plain_actors_are_refused_in_words(string method, string what)
    {
        var options = new EmbeddedSidecarOptions { AppPort = 1, Port = 0 };
        await using var sidecar = await EmbeddedSidecar.Start(options, default);
        using var http = new HttpClient { BaseAddress = sidecar.Endpoint };
        using var request = new HttpRequestMessage(new HttpMethod(method), $"/v1.0/actors/Cart/eve/{what}");

        using var answer = await http.SendAsync(request);

        Assert.Equal(500, (int)answer.StatusCode);
        Assert.Contains("real sidecar", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    /// <summary>DNS rebinding: to the browser of a page, its own host's name leads to this machine.</summary>
    [Theory]
    [InlineData("evil.example", 403)]
    [InlineData("192.168.1.7", 403)]
    [InlineData("localhost", 200)]
    [InlineData("127.0.0.1", 200)]
    [InlineData("[::1]", 200)]
    public async Task A_page_whose_host_is_said_to_be_this_machine_reads_nothing(string host, int status)
    {
        var options = new EmbeddedSidecarOptions { AppPort = 1, Port = 0 };
        await using var sidecar = await EmbeddedSidecar.Start(options, default);
        using var http = new HttpClient { BaseAddress = sidecar.Endpoint };
        using var request = new HttpRequestMessage(HttpMethod.Get, "/v1.0/metadata");
        request.Headers.Host = $"{host}:{sidecar.Endpoint.Port}";
        using var answer = await http.SendAsync(request);
        Assert.Equal(status, (int)answer.StatusCode);
    }

    [Fact]
    public async Task A_taken_port_is_an_error_that_names_it()
    {
        await using var first = await EmbeddedSidecar.Start(new EmbeddedSidecarOptions { AppPort = 1, Port = 0 }, default);

        var taken = await Assert.ThrowsAsync<IOException>(
            () => EmbeddedSidecar.Start(new EmbeddedSidecarOptions { AppPort = 1, Port = first.Endpoint.Port }, default));

        Assert.Contains($":{first.Endpoint.Port}", taken.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task It_stops_in_time_while_a_call_hangs_in_the_app()
    {
        await using var app = await TestApp.Start(0, new DaprHostOptions());
        var sidecar = await EmbeddedSidecar.Start(new EmbeddedSidecarOptions { AppPort = app.Port, Port = 0 }, default);
        using var client = new DaprSidecarClient(sidecar.Endpoint, null);
        var call = client.InvokeActor("Account", "x", "hang", SomeJson, default);
        await app.Host.Hanging.Task.WaitAsync(TimeSpan.FromSeconds(20));

        var clock = Stopwatch.StartNew();
        await sidecar.DisposeAsync();

        Assert.InRange(clock.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(8));
        var broken = await Assert.ThrowsAsync<SidecarUnreachableException>(() => call);
        Assert.False(broken.NeverSent);
        await app.Host.GivenUp.Task.WaitAsync(TimeSpan.FromSeconds(20));
    }
}
