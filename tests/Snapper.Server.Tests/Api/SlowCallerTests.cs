using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.Runtime.Door;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Memory is looked at, which others on other threads would use, too.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneCollection
{
    public const string Name = "alone";
}

/// <summary>Callers that send the most of a body and stop, or that ask for much and take nothing of it.</summary>
[Collection(AloneCollection.Name)]
public sealed class SlowCallerTests
{
    private const int Megabyte = 1024 * 1024;
    private const int Transactions = 16;
    private const string Good = """{"actor":{"type":"Account","id":"alice"},"method":"M"}""";
    private const string Much = """{"actor":{"type":"Account","id":"alice"},"method":"Much"}""";

    private static string MuchBatch { get; } =
        $$"""{"transactions":[{{string.Join(',', Enumerable.Repeat(Much, Transactions))}}]}""";

    [Theory]
    [InlineData((512 * 1024) - 1, null)] // 8 s at the usual 64 KiB/s
    [InlineData((16 * 1024 * 1024) - 1, 8.0 * 1024 * 1024)]
    public async Task A_body_that_comes_at_once_but_for_its_last_byte_is_given_up(int sent, double? rate)
    {
        var listener = rate is { } least
            ? new ApiListener { BodyBytesPerSecondMin = least, BodyGrace = TimeSpan.FromSeconds(1.1) }
            : new ApiListener();
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: listener);
        var body = new byte[sent];
        Array.Fill(body, (byte)' ');
        Encoding.ASCII.GetBytes("{\"transactions\":[", body);
        var watch = Stopwatch.StartNew();

        var answer = await host.Raw(Head(sent + 1), body);

        Assert.StartsWith("HTTP/1.1 408 ", answer, StringComparison.Ordinal);
        Assert.InRange(watch.Elapsed, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(25));
        Assert.Equal(200, (await host.Post(Good)).Status);
    }

    [Fact]
    public async Task Answers_that_are_not_taken_hold_little_memory_and_their_connections_are_closed_in_time()
    {
        const int callers = 4;
        var door = Door();
        await using var host = await ApiHost.Start(door, options: Options());
        Assert.Equal(200, (await host.Post(Good)).Status);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var sockets = new List<Socket>();
        try
        {
            for (var i = 0; i < callers; i++)
            {
                sockets.Add(await AskForMuch(host));
            }

            await Eventually.True("all have run", () => door.Submitted >= 1 + (callers * Transactions));

            Assert.Equal(200, (await host.Post(Good)).Status);
            var held = GC.GetTotalMemory(forceFullCollection: true) - before;
            Assert.InRange(held, long.MinValue, 16L * 1024 * 1024);
            foreach (var socket in sockets)
            {
                Assert.True(await IsClosed(socket), "It is still open.");
            }

            Assert.Equal(200, (await host.Post(Good)).Status);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
        }
    }

    [Fact]
    public async Task An_answer_that_is_taken_a_little_at_a_time_is_not_waited_for_without_end()
    {
        await using var host = await ApiHost.Start(Door(), options: Options());
        using var socket = await AskForMuch(host);
        var taken = 0;
        var isOpen = true;
        var watch = Stopwatch.StartNew();
        while (isOpen && watch.Elapsed < TimeSpan.FromSeconds(30))
        {
            await Task.Delay(500);
            try
            {
                var part = await socket.ReceiveAsync(new byte[64 * 1024]); // the web server itself is content with that
                taken += part;
                isOpen = part > 0;
            }
            catch (SocketException)
            {
                isOpen = false;
            }
        }

        Assert.False(isOpen);
        Assert.InRange(taken, 1, Transactions * Megabyte / 2);
    }

    [Fact]
    public async Task A_large_answer_of_a_batch_arrives_whole()
    {
        await using var host = await ApiHost.Start(Door());

        var answer = await host.Post(MuchBatch);

        var results = answer.Json.GetProperty("results").EnumerateArray().ToArray();
        Assert.Equal((200, "application/json", Transactions), (answer.Status, answer.MediaType, results.Length));
        Assert.All(results, result => Assert.Equal(Megabyte - 2, result.GetProperty("result").GetString()!.Length));
    }

    private static FakeTransactionService Door()
    {
        var result = Encoding.ASCII.GetBytes($"\"{new string('x', Megabyte - 2)}\"");
        var door = FakeTransactionService.Answering(request => new TransactionEnvelope
        {
            Id = request.Id ?? "g-1",
            Outcome = Outcome.Committed,
            Result = request.Method == "Much" ? result : "1"u8.ToArray(),
        });
        door.Keep = false;
        return door;
    }

    private static async Task<Socket> AskForMuch(ApiHost host)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.ReceiveBufferSize = 8192;
        await socket.ConnectAsync(IPAddress.Loopback, host.Address.Port);
        await socket.SendAsync((byte[])[.. Head(MuchBatch.Length), .. Encoding.ASCII.GetBytes(MuchBatch)]);
        return socket;
    }

    private static ApiOptions Options() =>
        new() { AnswerGrace = TimeSpan.FromSeconds(2), AnswerBytesPerSecondMin = 1024 * 1024 };

    /// <summary>What is sent to it is refused, within 20 s: to read would be to take the answer.</summary>
    private static async Task<bool> IsClosed(Socket socket)
    {
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < TimeSpan.FromSeconds(20); await Task.Delay(50))
        {
            try
            {
                await socket.SendAsync(" "u8.ToArray());
            }
            catch (SocketException)
            {
                return true;
            }
        }

        return false;
    }

    private static byte[] Head(int length) => Encoding.ASCII.GetBytes(
        "POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + $"Content-Length: {length}\r\n\r\n");
}
