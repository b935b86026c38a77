using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Snapper.Storage.Tests.Support;

/// <summary>A server on loopback that reads RESP commands and leaves each answer to the test.</summary>
public sealed class ScriptedRedis : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Func<Connection, string[], Task> _answer;
    private readonly X509Certificate2? _certificate;
    private readonly List<TcpClient> _clients = [];
    private readonly Task _accepting;
    private int _connections;

    /// <param name="answer">Called for each command, with its parts as Latin-1.</param>
    /// <param name="certificate">Given: speaks TLS.</param>
    public ScriptedRedis(Func<Connection, string[], Task> answer, X509Certificate2? certificate = null)
    {
        _answer = answer;
        _certificate = certificate;
        _listener.Start();
        _accepting = Accept();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public int Connections => Volatile.Read(ref _connections);

    public async ValueTask DisposeAsync()
    {
        _listener.Stop();
        lock (_clients)
        {
            _clients.ForEach(c => c.Dispose());
        }

        await _accepting;
    }

    private async Task Accept()
    {
        List<Task> served = [];
        try
        {
            while (true)
            {
                var client = await _listener.AcceptTcpClientAsync();
                client.NoDelay = true;
                lock (_clients)
                {
                    _clients.Add(client);
                }

                served.Add(Serve(client, Interlocked.Increment(ref _connections)));
            }
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // The listener was stopped.
        }

        await Task.WhenAll(served);
    }

    private async Task Serve(TcpClient client, int number)
    {
        // Reads block: they must not hold up whoever accepts.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            Stream stream = client.GetStream();
            if (_certificate is not null)
            {
                var tls = new SslStream(stream);
                await tls.AuthenticateAsServerAsync(_certificate);
                stream = tls;
            }

            var connection = new Connection(stream, client, number);
            var input = new BufferedStream(stream, 64 * 1024);
            while (Line(input) is { } head)
            {
                var parts = new string[int.Parse(head[1..], CultureInfo.InvariantCulture)];
                for (var i = 0; i < parts.Length; i++)
                {
                    var bytes = new byte[int.Parse(Line(input)![1..], CultureInfo.InvariantCulture) + 2];
                    await input.ReadExactlyAsync(bytes);
                    parts[i] = Encoding.Latin1.GetString(bytes, 0, bytes.Length - 2);
                }

                await _answer(connection, parts);
            }
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or SocketException or NotSupportedException)
        {
            // The client or the test has closed the connection; a buffered stream then says that it cannot be read.
        }
    }

    private static string? Line(Stream input)
    {
        var line = new StringBuilder();
        while (input.ReadByte() is >= 0 and var b)
        {
            if (b == '\n')
            {
                return line.ToString(0, line.Length - 1);
            }

            line.Append((char)b);
        }

        return null;
    }

    /// <summary>One client's connection; <paramref name="Number"/> counts from 1.</summary>
    public sealed record Connection(Stream Stream, TcpClient Client, int Number)
    {
        public Task Send(string latin1) => Stream.WriteAsync(Encoding.Latin1.GetBytes(latin1)).AsTask();

        public async Task SendByteByByte(string latin1)
        {
            foreach (var c in latin1)
            {
                await Send(c.ToString());
                await Stream.FlushAsync();
                await Task.Yield();
            }
        }
    }
}
