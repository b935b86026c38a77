using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Snapper.AspNetCore.Processes;

namespace Snapper.Server.Tests.Harness;

/// <summary>
/// A stranger to a Redis, who speaks its protocol without any client library and hears each answer as it is. One caller at a time.
/// </summary>
internal sealed class RawRedis : IDisposable
{
    private readonly TcpClient _client;
    private readonly BufferedStream _stream;

    private RawRedis(TcpClient client, Stream stream)
    {
        _client = client;
        _stream = new BufferedStream(stream);
    }

    /// <summary>Connects; every answer must come within <paramref name="timeout"/>.</summary>
    /// <exception cref="SocketException">Nobody listens there, or the name is unknown.</exception>
    /// <exception cref="TimeoutException">Nobody answered.</exception>
    public static async Task<RawRedis> Connect(HostAndPort address, TimeSpan timeout)
    {
        var client = new TcpClient { NoDelay = true };
        try
        {
            await client.ConnectAsync(address.Host, address.Port).WaitAsync(timeout);
            client.ReceiveTimeout = client.SendTimeout = (int)timeout.TotalMilliseconds;
            return new RawRedis(client, client.GetStream());
        }
        catch
        {
            client.Dispose();
            throw;
        }
    }

    /// <summary>Runs one command.</summary>
    /// <returns>The parts of the answer as text: one for a simple answer, all elements for a list.</returns>
    /// <exception cref="RawRedisException">Redis answered with an error.</exception>
    /// <exception cref="IOException">The connection broke or nothing came in time.</exception>
    public IReadOnlyList<string> Ask(params string[] command)
    {
        var request = new StringBuilder().Append(CultureInfo.InvariantCulture, $"*{command.Length}\r\n");
        foreach (var part in command) request.Append(CultureInfo.InvariantCulture, $"${Encoding.UTF8.GetByteCount(part)}\r\n{part}\r\n");
        _stream.Write(Encoding.UTF8.GetBytes(request.ToString()));
        _stream.Flush();
        var answer = new List<string>();
        ReadInto(answer);
        return answer;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stream.Dispose();
        _client.Dispose();
    }

    private void ReadInto(List<string> answer)
    {
        var line = ReadLine();
        switch (line.Length == 0 ? '\0' : line[0])
        {
            case '+' or ':':
                answer.Add(line[1..]);
                break;
            case '-':
                throw new RawRedisException(line[1..]);
            case '$':
                var length = int.Parse(line.AsSpan(1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
                answer.Add(length < 0 ? "" : ReadText(length));
                break;
            case '*':
                var count = int.Parse(line.AsSpan(1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
                for (var i = 0; i < count; i++) ReadInto(answer);
                break;
            default:
                throw new IOException("what answers there does not speak the Redis protocol");
        }
    }

    private string ReadText(int length)
    {
        var bytes = new byte[length + 2];
        _stream.ReadExactly(bytes);
        return Encoding.UTF8.GetString(bytes, 0, length);
    }

    private string ReadLine()
    {
        const int longest = 4096;
        var line = new StringBuilder();
        while (line.Length < longest)
        {
            var next = _stream.ReadByte();
            if (next < 0) throw new IOException("the connection was closed");
            if (next == '\n') return line.ToString().TrimEnd('\r');
            line.Append((char)next);
        }

        throw new IOException("what answers there does not speak the Redis protocol");
    }
}

/// <summary>Redis answered with an error; the message is Redis' own.</summary>
internal sealed class RawRedisException(string message) : Exception(message);
