using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Benchmarks.Tests;

/// <summary>A socket that answers every request with what a function says; keeps the requests' first lines and bodies.</summary>
internal sealed class TestHttpServer : IAsyncDisposable
{
    private readonly TcpListener listener = new(IPAddress.Loopback, 0);
    private readonly Func<string, Task<string>> answer;
    private readonly List<Task> connections = [];
    private readonly List<TcpClient> clients = [];
    private readonly Task accepting;

    /// <param name="answer">From the whole request to the whole answer, both as text.</param>
    public TestHttpServer(Func<string, string> answer)
        : this(request => Task.FromResult(answer(request)))
    {
    }

    /// <param name="answer">The same, for answers that take a while.</param>
    public TestHttpServer(Func<string, Task<string>> answer)
    {
        this.answer = answer;
        listener.Start();
        accepting = AcceptAsync();
    }

    public Uri Address => new($"http://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}");

    public static string Json(int status, string body) =>
        $"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\ncontent-length: {Encoding.UTF8.GetByteCount(body)}\r\n\r\n{body}";

    public async ValueTask DisposeAsync()
    {
        listener.Stop();
        foreach (var client in clients)
        {
            client.Dispose();
        }

        await accepting;
        await Task.WhenAll(connections);
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await listener.AcceptTcpClientAsync();
                clients.Add(client);
                connections.Add(ServeAsync(client));
            }
        }
        catch (Exception stopped) when (stopped is SocketException or ObjectDisposedException)
        {
            return;
        }
    }

    private async Task ServeAsync(TcpClient client)
    {
        var buffer = new byte[1 << 20];
        var filled = 0;
        try
        {
            var stream = client.GetStream();
            while (true)
            {
                var read = await stream.ReadAsync(buffer.AsMemory(filled));
                if (read == 0)
                {
                    return;
                }

                filled += read;
                var text = Encoding.UTF8.GetString(buffer, 0, filled);
                var head = text.IndexOf("\r\n\r\n", StringComparison.Ordinal);
                if (head < 0 || filled < head + 4 + LengthOf(text[..head]))
                {
                    continue;
                }

                filled = 0;
                var reply = await answer(text);
                await stream.WriteAsync(Encoding.UTF8.GetBytes(reply));
                if (reply.Contains("Connection: close", StringComparison.Ordinal))
                {
                    client.Dispose();
                    return;
                }
            }
        }
        catch (Exception stopped) when (stopped is IOException or ObjectDisposedException)
        {
            return;
        }
    }

    private static int LengthOf(string head)
    {
        var line = head.Split("\r\n").Single(text => text.StartsWith("Content-Length: ", StringComparison.Ordinal));
        return int.Parse(line.AsSpan(16), System.Globalization.CultureInfo.InvariantCulture);
    }
}
