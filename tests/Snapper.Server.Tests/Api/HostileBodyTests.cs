using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.AspNetCore.Api;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Bodies that no client sends by accident, over real sockets. The worker stays up and others do not notice.</summary>
public sealed class HostileBodyTests
{
    private const string Good = """{"actor":{"type":"Account","id":"alice"},"method":"M"}""";

    [Fact]
    public async Task Ten_megabytes_with_a_length_answer_413()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var body = new byte[10 * 1024 * 1024];
        Array.Fill(body, (byte)' ');

        StatusTableTests.AssertProblem(await host.Post(body), 413, "rejected");
        await AssertStillServing(host);
    }

    [Fact]
    public async Task Ten_megabytes_in_chunks_answer_413_on_the_wire()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var chunk = Encoding.ASCII.GetBytes("10000\r\n" + new string(' ', 0x10000) + "\r\n");

        var answer = await host.Raw(
            [Head("Transfer-Encoding: chunked"), .. Enumerable.Repeat(chunk, 160), "0\r\n\r\n"u8.ToArray()]);

        Assert.StartsWith("HTTP/1.1 413 ", answer, StringComparison.Ordinal);
        Assert.Contains("application/problem+json", answer, StringComparison.Ordinal);
        Assert.Contains("longer than 1048576 bytes", answer, StringComparison.Ordinal);
        await AssertStillServing(host);
    }

    [Fact]
    public async Task A_batch_in_chunks_beyond_its_limit_answers_413()
    {
        var options = new ApiOptions { BatchBodyBytesMax = 2 * 1024 * 1024 };
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: options);
        var chunk = Encoding.ASCII.GetBytes("10000\r\n" + new string(' ', 0x10000) + "\r\n");

        var answer = await host.Raw(
            [Head("Transfer-Encoding: chunked"), "11\r\n{\"transactions\":[\r\n"u8.ToArray(), .. Enumerable.Repeat(chunk, 64), "0\r\n\r\n"u8.ToArray()]);

        Assert.StartsWith("HTTP/1.1 413 ", answer, StringComparison.Ordinal);
        Assert.Contains("urn:snapper:too-large", answer, StringComparison.Ordinal);
        await AssertStillServing(host);
    }

    [Fact]
    public async Task Others_do_not_notice_hostile_requests_beside_them()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        var large = new byte[10 * 1024 * 1024];
        Array.Fill(large, (byte)'[');
        string[] hostile =
        [
            StatusTableTests.WithActors(60_000),
            new string('[', 500_000),
            $$"""{"transactions":[{{string.Join(',', Enumerable.Repeat("{\"nope\":[1]}", 1000))}}]}""",
            "{\"actor\":{\"type\":\"Account\",\"id\":\"a\\u0000\"},\"method\":\"M\"}",
        ];

        var attacks = Enumerable.Range(0, 40).Select(i => i % 5 == 4 ? host.Post(large) : host.Post(hostile[i % 5])).ToArray();
        var good = await Task.WhenAll(Enumerable.Range(0, 200).Select(_ => host.Post(Good)));

        Assert.All(good, answer => Assert.Equal(200, answer.Status));
        Assert.All(await Task.WhenAll(attacks), answer => Assert.Contains(answer.Status, (int[])[200, 400, 413, 422]));
    }

    [Fact]
    public async Task A_body_that_promises_to_be_too_long_is_refused_before_it_is_sent()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Raw(Head("Content-Length: 100000000\r\nExpect: 100-continue"));

        Assert.StartsWith("HTTP/1.1 413 ", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endless_body_is_answered_after_as_much_as_it_takes_to_know()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, host.Address.Port);
        var stream = socket.GetStream();
        await stream.WriteAsync(Head("Transfer-Encoding: chunked"));
        var chunk = Encoding.ASCII.GetBytes("10000\r\n" + new string(' ', 0x10000) + "\r\n");
        for (var sent = 0; sent <= 1024 * 1024; sent += 0x10000)
        {
            await stream.WriteAsync(chunk);
        }

        // The body goes on, but its answer is due now.
        using var deadline = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        var head = new byte[12];
        await stream.ReadExactlyAsync(head, deadline.Token);

        Assert.Equal("HTTP/1.1 413", Encoding.ASCII.GetString(head));
    }

    [Fact]
    public async Task An_access_set_of_100000_actors_answers_422()
    {
        var options = new ApiOptions { TransactionBodyBytesMax = 4 * 1024 * 1024 };
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: options);
        var body = StatusTableTests.WithActors(100_000);

        StatusTableTests.AssertProblem(await host.Post(body), 422, "rejected");
        await AssertStillServing(host);
    }

    [Theory]
    [InlineData("{\"actor\":{\"type\":\"Account\",\"id\":\"a\"},\"method\":\"M\",\"input\":", 1_000)]
    [InlineData("{\"actor\":{\"type\":\"Account\",\"id\":\"a\"},\"method\":\"M\",\"input\":", 500_000)]
    [InlineData("", 1_000)]
    [InlineData("{\"transactions\":", 500_000)]
    public async Task Json_of_any_depth_answers_without_harm(string before, int levels)
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Post(before + new string('[', levels));

        StatusTableTests.AssertProblem(answer, 400, "rejected");
        await AssertStillServing(host);
    }

    [Fact]
    public async Task A_body_that_dribbles_in_is_cut_off()
    {
        var listener = new ApiListener { BodyBytesPerSecondMin = 100_000, BodyGrace = TimeSpan.FromSeconds(1.1) };
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: listener);

        // The rest never comes.
        var answer = await host.Raw(Head("Content-Length: 1000"), "{"u8.ToArray());

        Assert.StartsWith("HTTP/1.1 408 ", answer, StringComparison.Ordinal);
        await AssertStillServing(host);
    }

    [Fact]
    public async Task Broken_chunks_answer_400()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Raw(Head("Transfer-Encoding: chunked"), "zz\r\n"u8.ToArray());

        Assert.StartsWith("HTTP/1.1 400 ", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Headers_beyond_the_limit_answer_431()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Raw(Head(string.Create(CultureInfo.InvariantCulture, $"X-Long: {new string('x', 40_000)}")));

        Assert.StartsWith("HTTP/1.1 431 ", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Connections_beyond_the_limit_are_closed()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: new ApiListener { ConnectionsMax = 1 });
        await AssertStillServing(host); // Its connection is kept alive.

        var answer = await host.Raw(Head("Content-Length: 2"), "{}"u8.ToArray());

        Assert.Empty(answer);
    }

    [Fact]
    public async Task A_caller_that_goes_away_cancels_what_it_submitted()
    {
        var entered = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        var door = new FakeTransactionService
        {
            OnSubmit = async (request, cancellation) =>
            {
                using var registration = cancellation.Register(() => cancelled.TrySetResult());
                entered.SetResult();
                await cancelled.Task;
                return FakeTransactionService.Committed(request);
            },
        };
        await using var host = await ApiHost.Start(door);
        using (var socket = new TcpClient())
        {
            await socket.ConnectAsync(IPAddress.Loopback, host.Address.Port);
            await socket.GetStream().WriteAsync((byte[])[.. Head($"Content-Length: {Good.Length}"), .. Encoding.ASCII.GetBytes(Good)]);
            await entered.Task.WaitAsync(TimeSpan.FromSeconds(10));
        }

        await cancelled.Task.WaitAsync(TimeSpan.FromSeconds(10));
        door.OnSubmit = (request, _) => Task.FromResult(FakeTransactionService.Committed(request));
        await AssertStillServing(host);
    }

    private static byte[] Head(string headers) =>
        Encoding.ASCII.GetBytes($"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n\r\n");

    private static async Task AssertStillServing(ApiHost host) => Assert.Equal(200, (await host.Post(Good)).Status);
}
