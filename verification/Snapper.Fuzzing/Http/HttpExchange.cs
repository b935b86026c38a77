using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Fuzzing.Http;

/// <summary>An answer as it came over the socket; status 0: the connection ended without one.</summary>
internal sealed record HttpAnswer(int Status, string Head, byte[] Body)
{
    public string Text => Encoding.UTF8.GetString(Body);

    public bool IsJson => Head.Contains("application/json", StringComparison.OrdinalIgnoreCase) || IsProblem;

    public bool IsProblem => Head.Contains("application/problem+json", StringComparison.OrdinalIgnoreCase);
}

/// <summary>Sends bytes to a port as they are, and reads the first answer.</summary>
internal static class HttpExchange
{
    private const int AnswerWithinMs = 20_000;

    /// <param name="port">On loopback.</param>
    /// <param name="request">All of it.</param>
    /// <param name="mayBeCutShort">It may promise more than it has: after a while without an answer it is told that nothing follows.</param>
    /// <exception cref="IOException">No answer came in time; also <see cref="SocketException"/>: the port does not take connections.</exception>
    public static HttpAnswer Send(int port, ReadOnlySpan<byte> request, bool mayBeCutShort = false)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = AnswerWithinMs, SendTimeout = AnswerWithinMs };
        socket.Connect(IPAddress.Loopback, port);
        var withoutBody = request.StartsWith("HEAD "u8);
        try
        {
            socket.Send(request);
        }
        catch (SocketException)
        {
            // It may have answered and closed before it was sent everything; the answer is what counts.
        }

        var received = new MemoryStream();
        var buffer = new byte[16 * 1024];
        var ended = false;
        var shut = !mayBeCutShort;
        while (true)
        {
            if (Parse(received.GetBuffer().AsSpan(0, (int)received.Length), withoutBody, ended) is { } answer)
            {
                return answer;
            }

            if (ended)
            {
                return new HttpAnswer(0, "", []);
            }

            try
            {
                if (!shut && !socket.Poll(300_000, SelectMode.SelectRead))
                {
                    shut = true;
                    socket.Shutdown(SocketShutdown.Send);
                }

                var read = socket.Receive(buffer);
                received.Write(buffer, 0, read);
                ended = read == 0;
            }
            catch (SocketException gone) when (gone.SocketErrorCode is SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.NotConnected or SocketError.Shutdown)
            {
                ended = true;
            }
            catch (SocketException late) when (late.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
            {
                throw new IOException($"No answer within {AnswerWithinMs / 1000} s.");
            }
        }
    }

    private static HttpAnswer? Parse(ReadOnlySpan<byte> received, bool withoutBody, bool ended)
    {
        while (true)
        {
            var headEnd = received.IndexOf("\r\n\r\n"u8);
            if (headEnd < 0)
            {
                return null;
            }

            var head = Encoding.Latin1.GetString(received[..headEnd]);
            var body = received[(headEnd + 4)..];
            var status = head.Length > 12 && int.TryParse(head.AsSpan(9, 3), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 999;
            if (status == 100)
            {
                received = body;
                continue;
            }

            if (withoutBody || status is 204 or 304 || head.Contains("text/event-stream", StringComparison.OrdinalIgnoreCase))
            {
                return new HttpAnswer(status, head, []);
            }

            if (head.Contains("chunked", StringComparison.OrdinalIgnoreCase))
            {
                return Chunked(body) is { } whole ? new HttpAnswer(status, head, whole) : null;
            }

            var length = Length(head);
            return length is { } wanted
                ? body.Length >= wanted ? new HttpAnswer(status, head, body[..wanted].ToArray()) : null
                : ended ? new HttpAnswer(status, head, body.ToArray()) : null;
        }
    }

    private static int? Length(string head)
    {
        const string name = "Content-Length:";
        var at = head.IndexOf(name, StringComparison.OrdinalIgnoreCase);
        if (at < 0)
        {
            return null;
        }

        var end = head.IndexOf('\r', at);
        return int.Parse(head.AsSpan(at + name.Length, (end < 0 ? head.Length : end) - at - name.Length).Trim(), NumberStyles.None, CultureInfo.InvariantCulture);
    }

    private static byte[]? Chunked(ReadOnlySpan<byte> body)
    {
        var whole = new MemoryStream();
        while (true)
        {
            var line = body.IndexOf("\r\n"u8);
            if (line < 0 || !int.TryParse(Encoding.ASCII.GetString(body[..line]), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var size) || body.Length < line + 2 + size + 2)
            {
                return null;
            }

            if (size == 0)
            {
                return whole.ToArray();
            }

            whole.Write(body.Slice(line + 2, size));
            body = body[(line + 2 + size + 2)..];
        }
    }
}
