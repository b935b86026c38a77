using System.Buffers.Text;
using System.Net;
using System.Net.Sockets;

namespace Snapper.Benchmarks.Load;

/// <summary>
/// One kept-alive HTTP/1.1 connection over a bare socket: sends bytes, receives one answer, understands Content-Length and chunks and nothing else.
/// It shares the cores with the system under test, so it does as little as can be.
/// </summary>
public sealed class HttpConnection : IDisposable
{
    /// <summary>Greatest answer that is accepted.</summary>
    public const int AnswerBytesMax = 64 << 20;

    private readonly Socket socket;
    private byte[] buffer = new byte[4096];
    private int filled;

    private HttpConnection(Socket socket) => this.socket = socket;

    /// <summary>Connects.</summary>
    /// <exception cref="SocketException">Nobody listens.</exception>
    public static async Task<HttpConnection> OpenAsync(Uri target)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(IPAddress.Parse(target.Host == "localhost" ? "127.0.0.1" : target.Host), target.Port);
            return new HttpConnection(socket);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Sends a request and receives its answer. The body is valid until the next call.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    /// <exception cref="InvalidDataException">The peer closed the connection or does not speak HTTP/1.1 as expected here.</exception>
    public async ValueTask<HttpAnswer> ExchangeAsync(ReadOnlyMemory<byte> request)
    {
        var sent = 0;
        while (sent < request.Length)
        {
            sent += await socket.SendAsync(request[sent..]);
        }

        filled = 0;
        int headEnd;
        while ((headEnd = buffer.AsSpan(0, filled).IndexOf("\r\n\r\n"u8)) < 0)
        {
            await ReceiveAsync();
        }

        var (status, length, chunked) = ReadHead(buffer.AsSpan(0, headEnd + 2));
        var start = headEnd + 4;
        if (!chunked)
        {
            while (filled < start + length)
            {
                await ReceiveAsync();
            }

            return new HttpAnswer(status, buffer.AsMemory(start, length));
        }

        return new HttpAnswer(status, await ReceiveChunksAsync(start));
    }

    /// <inheritdoc />
    public void Dispose() => socket.Dispose();

    // The chunks are moved together in place: what is written never passes what is read.
    private async ValueTask<ReadOnlyMemory<byte>> ReceiveChunksAsync(int start)
    {
        var read = start;
        var written = start;
        while (true)
        {
            int lineEnd;
            while ((lineEnd = buffer.AsSpan(read, filled - read).IndexOf("\r\n"u8)) < 0)
            {
                await ReceiveAsync();
            }

            if (!Utf8Parser.TryParse(buffer.AsSpan(read, lineEnd), out int size, out _, 'x'))
            {
                throw new InvalidDataException("The answer has a chunk without a size.");
            }

            read += lineEnd + 2;
            while (filled < read + size + 2)
            {
                await ReceiveAsync();
            }

            if (size == 0)
            {
                return buffer.AsMemory(start, written - start);
            }

            buffer.AsSpan(read, size).CopyTo(buffer.AsSpan(written));
            written += size;
            read += size + 2;
        }
    }

    private async ValueTask ReceiveAsync()
    {
        if (filled == buffer.Length)
        {
            if (buffer.Length >= AnswerBytesMax)
            {
                throw new InvalidDataException($"The answer is greater than {AnswerBytesMax} bytes.");
            }

            Array.Resize(ref buffer, buffer.Length * 2);
        }

        var received = await socket.ReceiveAsync(buffer.AsMemory(filled));
        if (received == 0)
        {
            throw new InvalidDataException("The peer closed the connection before its answer was complete.");
        }

        filled += received;
    }

    private static (int Status, int Length, bool Chunked) ReadHead(ReadOnlySpan<byte> head)
    {
        // "HTTP/1.1 200 OK"
        if (head.Length < 12 || !Utf8Parser.TryParse(head.Slice(9, 3), out int status, out _))
        {
            throw new InvalidDataException("The answer is not HTTP/1.1.");
        }

        var length = 0;
        var chunked = false;
        var rest = head;
        while (true)
        {
            var end = rest.IndexOf("\r\n"u8);
            if (end <= 0)
            {
                return (status, length, chunked);
            }

            var line = rest[..end];
            if (Starts(line, "content-length:"u8) && !Utf8Parser.TryParse(line[15..].TrimStart((byte)' '), out length, out _))
            {
                throw new InvalidDataException("The answer has a Content-Length that is no number.");
            }

            if (Starts(line, "transfer-encoding:"u8))
            {
                chunked = true;
            }

            rest = rest[(end + 2)..];
        }
    }

    private static bool Starts(ReadOnlySpan<byte> line, ReadOnlySpan<byte> name) =>
        line.Length > name.Length && System.Text.Ascii.EqualsIgnoreCase(line[..name.Length], name);
}

/// <summary>An answer; the body is valid until the connection is used again.</summary>
public readonly record struct HttpAnswer(int Status, ReadOnlyMemory<byte> Body);
