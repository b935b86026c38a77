using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Snapper.AspNetCore.Api;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;
using Snapper.Security;
using Snapper.Server.Tests.Access;
using Snapper.Server.Tests.Cluster;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary><c>GET /v1/events?view=</c>: views as server-sent events.</summary>
public sealed class ViewStreamTests
{
    // More than the sockets of both sides hold.
    private const int Large = 32 << 20;

    [Fact]
    public async Task Each_view_is_told_at_once_as_its_own_address_answers_it_and_then_only_when_it_changes()
    {
        var inspection = new FakeInspection();
        await using var host = await ApiHost.Start(new FakeTransactionService(), inspection);
        string[] views = ["/v1/status", "/readyz", "/v1/batches/12", "/v1/batches/13", "/v1/batches?limit=7", "/v1/actors/Account/a%2Fb", "/v1/actors/Account/alice/schedule", "/v1/hot", "/v1/workers"];
        await using var reader = await EventReader.Open(host.Client, "every=500&" + Query(views));
        var expected = new Dictionary<string, Answer>();
        foreach (var view in views) expected[view] = await host.Get(view);
        for (var i = 0; i < views.Length; i++)
        {
            var (view, status, body) = (await reader.Next())!.Value;
            Assert.Equal(views[i], view);
            Assert.Equal(expected[view].Status, status);
            Assert.Equal(expected[view].Text, body.GetRawText());
        }

        Assert.Equal([200, 200, 200, 404, 200, 200, 200, 503, 404], views.Select(view => expected[view].Status));
        Assert.Contains("a/b", inspection.Asked);

        // Nothing changes but readiness, twice: the status of the second differs from the first, and nothing else is told between and before.
        inspection.HealthChecks[0] = new HealthCheck("log", false, "Redis does not answer.");
        var ready = (await reader.Next())!.Value;
        inspection.HealthChecks[0] = new HealthCheck("log", true, "Reached.");
        var again = (await reader.Next())!.Value;
        Assert.Equal(("/readyz", 503), (ready.View, ready.Status));
        Assert.Equal("Redis does not answer.", ready.Body.GetProperty("checks").GetProperty("log").GetProperty("detail").GetString());
        Assert.Equal(("/readyz", 200), (again.View, again.Status));
    }

    [Fact]
    public async Task A_view_that_others_must_be_asked_for_holds_up_nothing_else()
    {
        var held = new TaskCompletionSource<IReadOnlyList<ClusterMember>>();
        await using var host = await ApiHost.Start(new FakeTransactionService(), control: new FakeControl("w1") { OnWorkers = () => held.Task });
        await using var reader = await EventReader.Open(host.Client, "every=500&" + Query("/v1/workers", "/v1/status"));
        Assert.Equal("/v1/status", (await reader.Next())!.Value.View);

        var unanswered = (await reader.Next())!.Value;
        Assert.Equal(("/v1/workers", 503), (unanswered.View, unanswered.Status));
        Assert.Contains("has not answered this for 5 s", unanswered.Body.GetProperty("detail").GetString(), StringComparison.Ordinal);
        held.SetResult([FakeControl.Worker("w1", 1)]);
        var answered = (await reader.Next())!.Value;
        Assert.Equal(("/v1/workers", 200), (answered.View, answered.Status));
        Assert.Equal("w1", answered.Body.GetProperty("workers")[0].GetProperty("worker").GetString());
    }

    [Theory]
    [InlineData("view=/metrics", "view: there is no view '/metrics'; there are ", "/v1/transactions/{id}, /readyz, /v1/status")]
    [InlineData("view=/v1/events", "view: there is no view '/v1/events'")]
    [InlineData("view=/v1/leave", "view: there is no view '/v1/leave'")]
    [InlineData("view=/v1/status/", "view: there is no view '/v1/status/'")]
    [InlineData("view=/V1/status", "view: there is no view '/V1/status'")]
    [InlineData("view=/v1/%2573tatus", "view: there is no view '/v1/%73tatus'")]
    [InlineData("view=/v1/x/../status", "view: there is no view '/v1/x/../status'")]
    [InlineData("view=http://127.0.0.1/v1/status", "view: there is no view 'http://127.0.0.1/v1/status'")]
    [InlineData("view=/v1/batches/1/2", "view: there is no view '/v1/batches/1/2'")]
    [InlineData("view=/v1/actors/", "view: there is no view '/v1/actors/'")]
    [InlineData("view=", "view: there is no view ''")]
    [InlineData("view=/v1/status%0d%0aevent:x", "must be a path and query as in a request")]
    [InlineData("view=/v1/status%23x", "must be a path and query as in a request")]
    [InlineData("view=/v1/actors/Account/%C3%A4", "must be a path and query as in a request")]
    [InlineData("view=/v1/status&view=/v1/ring&view=/v1/status", "view: '/v1/status' is repeated.")]
    [InlineData("view=/v1/status&every=499", "every must be a whole number of milliseconds, 500 to 10000.")]
    [InlineData("view=/v1/status&every=10001", "every must be a whole number of milliseconds, 500 to 10000.")]
    [InlineData("view=/v1/status&every=1s", "every must be a whole number of milliseconds, 500 to 10000.")]
    [InlineData("view=/v1/status&every=600&every=700", "every must be a whole number of milliseconds, 500 to 10000.")]
    [InlineData("every=1000", "every says how often views are looked at, and no view is named.")]
    [InlineData("view=/v1/status&views=/v1/ring", "There is no query parameter 'views' here; there are view and every.")]
    public async Task What_cannot_be_told_is_refused_with_its_reason(string query, params string[] said)
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var answer = await host.Get("/v1/events?" + query);
        Assert.Equal(400, answer.Status);
        Assert.All(said, words => Assert.Contains(words, answer.String("detail"), StringComparison.Ordinal));
    }

    [Fact]
    public async Task Views_are_so_many_and_so_long_and_no_more()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var many = Enumerable.Range(0, 65).Select(i => $"/v1/batches/{i}").ToArray();
        Assert.Equal("A stream has at most 64 views; these are 65.", (await host.Get("/v1/events?" + Query(many))).String("detail"));
        Assert.Contains("has 2049 characters; at most 2048", (await host.Get("/v1/events?" + Query("/v1/actors/Account/" + new string('x', 2030)))).String("detail"), StringComparison.Ordinal);

        await using var reader = await EventReader.Open(host.Client, Query(many[..64]));
        for (var i = 0; i < 64; i++) Assert.Equal(many[i], (await reader.Next())!.Value.View);
    }

    [Fact]
    public async Task Streams_are_so_many_and_one_that_is_left_makes_room()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        using var http = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = 100 }) { BaseAddress = host.Address };
        var readers = new List<EventReader>();
        try
        {
            for (var i = 0; i < 64; i++) readers.Add(await EventReader.Open(http, "view=/v1/status"));
            var refused = await host.Get("/v1/events?view=/v1/status");
            Assert.Equal(429, refused.Status);
            Assert.Equal("64 others are watching.", refused.String("detail"));
            await readers[^1].DisposeAsync();
            readers.RemoveAt(63);
            await Harness.Eventually.True("there is room again", async () =>
            {
                using var answer = await http.GetAsync(new Uri("/v1/events?view=/v1/status", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
                return answer.IsSuccessStatusCode;
            });
        }
        finally
        {
            foreach (var reader in readers) await reader.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_reader_that_takes_nothing_is_cut_off_and_had_no_queue()
    {
        var asked = 0;
        var large = LargeWorkers(() => Interlocked.Increment(ref asked));
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: new ApiOptions { StalledReaderMax = TimeSpan.FromSeconds(5) }, control: large);
        using var http = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = 100 }) { BaseAddress = host.Address };
        using var socket = Socket();
        var readers = new List<EventReader>();
        try
        {
            for (var i = 0; i < 63; i++) readers.Add(await EventReader.Open(http, "view=/v1/batches/12"));
            await Begin(socket, host);
            Assert.Equal(429, (await host.Get("/v1/events?view=/v1/status")).Status);
            await Harness.Eventually.True("the place of the one that takes nothing is free", async () =>
            {
                using var answer = await http.GetAsync(new Uri("/v1/events?view=/v1/status", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
                return answer.IsSuccessStatusCode;
            });
        }
        finally
        {
            foreach (var reader in readers) await reader.DisposeAsync();
        }

        // The one that was being written is all that was made for it, in ten periods, and its end was not waited for.
        Assert.Equal(1, asked);
        Assert.InRange(await Rest(socket), 1, Large - 1);
    }

    [Fact]
    public async Task A_worker_that_stops_ends_its_streams_and_is_not_held_up()
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        await using var reader = await EventReader.Open(worker.Client, "every=10000&view=/v1/status");
        Assert.Equal("/v1/status", (await reader.Next())!.Value.View);
        var lifetime = worker.App.Services.GetRequiredService<IHostApplicationLifetime>();
        var stopping = worker.App.StopAsync();
        Assert.Null(await reader.Next());
        await stopping.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.True(lifetime.ApplicationStopped.IsCancellationRequested);
    }

    [Fact]
    public async Task A_worker_that_stops_waits_for_no_reader_that_takes_nothing()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: new ApiOptions { StalledReaderMax = TimeSpan.FromHours(1) }, control: LargeWorkers(() => 1));
        using var socket = Socket();
        await Begin(socket, host);
        await host.Stop().WaitAsync(TimeSpan.FromSeconds(20));
        Assert.InRange(await Rest(socket), 1, Large - 1);
    }

    [Fact]
    public async Task A_view_asks_for_the_right_of_its_own_address()
    {
        await using var worker = await SecuredWorker.Start();
        Assert.Equal(401, (await worker.Read(Role.Nobody, "GET", "/v1/events?view=/readyz")).Status);
        Assert.Equal(403, (await worker.Read(Role.Caller, "GET", "/v1/events?view=/readyz")).Status);
        var alone = await worker.Read(Role.Viewer, "GET", "/v1/events?view=/v1/audit");
        Assert.Equal(403, alone.Status);
        Assert.Contains("viewer has the role viewer, which has not the right to operate", alone.String("detail"), StringComparison.Ordinal);

        // Beside one that it may see, the other is told as refused, once, and not made.
        using var viewer = As(worker, Role.Viewer);
        await using (var reader = await EventReader.Open(viewer, "every=500&view=/v1/audit?limit=5&view=/v1/status"))
        {
            var audit = (await reader.Next())!.Value;
            Assert.Equal(("/v1/audit?limit=5", 403), (audit.View, audit.Status));
            Assert.False(audit.Body.TryGetProperty("entries", out _));
            for (var i = 0; i < 3; i++) Assert.Equal("/v1/status", (await reader.Next())!.Value.View);
        }

        using var admin = As(worker, Role.Admin);
        await using var allowed = await EventReader.Open(admin, "view=/v1/audit");
        var entries = (await allowed.Next())!.Value.Body.GetProperty("entries");
        Assert.Equal(2, entries.EnumerateArray().Count(entry => entry.GetProperty("who").GetString() == "viewer" && entry.GetProperty("action").GetString() == "GET /v1/audit"));
    }

    [Theory]
    [InlineData("/v1/status%3Ftoken%3Dx")]
    [InlineData("/v1/traces?limit=1%26Authorization=x")]
    public async Task A_view_with_a_token_in_its_query_is_refused_like_an_address_with_one(string view)
    {
        await using var worker = await SecuredWorker.Start();
        var answer = await worker.Read(Role.Viewer, "GET", "/v1/events?view=" + view);
        Assert.Equal(400, answer.Status);
        Assert.Contains("The address holds a token", answer.String("detail"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_a_stream_tells_is_not_counted_as_requests()
    {
        await using var worker = await SecuredWorker.Start(also: new() { ["Snapper:Security:Tokens:1:RatePerSecond"] = "0.1", ["Snapper:Security:Burst"] = "2" });
        using var viewer = As(worker, Role.Viewer);
        await using var reader = await EventReader.Open(viewer, "every=500&view=/v1/status");
        for (var i = 0; i < 4; i++) Assert.Equal("/v1/status", (await reader.Next())!.Value.View);
        Assert.Equal(200, (await worker.Read(Role.Viewer, "GET", "/v1/status")).Status);
        Assert.Equal(429, (await worker.Read(Role.Viewer, "GET", "/v1/status")).Status);
        Assert.Equal("/v1/status", (await reader.Next())!.Value.View);
    }

    [Fact]
    public async Task A_quiet_stream_has_comments()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(40));
        using var answer = await host.Client.GetAsync(new Uri("/v1/events?every=10000&view=/v1/batches/12", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, timeout.Token);
        using var reader = new StreamReader(await answer.Content.ReadAsStreamAsync(timeout.Token));
        var lines = new List<string>();
        while (!lines.Contains(":")) lines.Add((await reader.ReadLineAsync(timeout.Token))!);
        Assert.Equal(["event: view", "id: 1"], lines[..2]);
        Assert.StartsWith("""data: {"view":"/v1/batches/12","status":200,"body":{""", lines[2], StringComparison.Ordinal);
        Assert.Equal(["", ":"], lines[3..]);
    }

    private static FakeControl LargeWorkers(Func<long> epoch) =>
        new("w1") { OnWorkers = () => Task.FromResult<IReadOnlyList<ClusterMember>>([FakeControl.Worker(new string('x', Large), epoch())]) };

    private static Socket Socket() => new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 4096 };

    /// <summary>Asks for a stream of a view that is large and different each time, and takes its first bytes.</summary>
    private static async Task Begin(Socket socket, ApiHost host)
    {
        await socket.ConnectAsync(IPAddress.Loopback, host.Address.Port);
        await socket.SendAsync(Encoding.ASCII.GetBytes("GET /v1/events?every=500&view=/v1/workers HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        Assert.NotEqual(0, await socket.ReceiveAsync(new byte[64]));
    }

    private static async Task<long> Rest(Socket socket)
    {
        var (all, piece) = (0L, new byte[1 << 20]);
        try
        {
            while (await socket.ReceiveAsync(piece) is > 0 and var read) all += read;
        }
        catch (SocketException)
        {
            // It was reset, which is what it means to be cut off.
        }

        return all;
    }

    private static string Query(params string[] views) => string.Join('&', views.Select(view => "view=" + Uri.EscapeDataString(view)));

    private static HttpClient As(SecuredWorker worker, Role role)
    {
        var client = new HttpClient { BaseAddress = worker.Address, Timeout = TimeSpan.FromSeconds(30) };
        client.DefaultRequestHeaders.Authorization = new("Bearer", worker.TokenOf(role));
        return client;
    }
}
