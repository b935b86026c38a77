using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Snapper.TransactionLog.Redis;

/// <summary>
/// The client library's way to a Redis that it cannot sign in to by itself: it knows no users of access control lists and no certificates of one's own. It connects to a loopback port here,
/// with a password that only this process knows; each connection is continued to the real server, by TLS where that is wanted, and its first command, the library's AUTH, is replaced by the real one. Everything
/// else passes as it is, in both directions.
/// </summary>
/// <remarks>The hot path does not go this way: appends have a connection of their own (<see cref="AppendLink"/>), which speaks TLS and signs in as a user.</remarks>
internal sealed class RedisTunnel : IAsyncDisposable
{
    private static readonly TimeSpan GreetWithin = TimeSpan.FromSeconds(5);

    private readonly RedisOptions _options;
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stop = new();
    private readonly byte[] _greeting;
    private readonly Lock _gate = new();
    private readonly HashSet<Task> _open = [];
    private readonly Task _accepting;

    /// <summary>Opens the port.</summary>
    public RedisTunnel(RedisOptions options)
    {
        _options = options;
        Password = RandomNumberGenerator.GetHexString(64, lowercase: true);
        _greeting = [.. "*2\r\n$4\r\nAUTH\r\n"u8, .. RespText.Bulk(Password)];
        _listener.Start();
        _accepting = Task.Run(Accept);
    }

    /// <summary>What the library signs in with. Good for this process alone.</summary>
    public string Password { get; }

    /// <summary>Where the library finds it.</summary>
    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        _listener.Stop();
        await _accepting.ConfigureAwait(false);
        Task[] open;
        lock (_gate)
        {
            open = [.. _open];
        }

        await Task.WhenAll(open).ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task Accept()
    {
        while (!_stop.IsCancellationRequested)
        {
            Socket client;
            try
            {
                client = await _listener.AcceptSocketAsync(_stop.Token).ConfigureAwait(false);
            }
            catch (Exception ended) when (_stop.IsCancellationRequested && ended is OperationCanceledException or SocketException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException)
            {
                continue; // one that was gone before it was taken; the next one may come
            }

            var passing = Task.Run(() => Pass(client));
            lock (_gate)
            {
                _open.Add(passing);
            }

            _ = passing.ContinueWith(Forget, TaskScheduler.Default);
        }
    }

    private void Forget(Task passing)
    {
        lock (_gate)
        {
            _open.Remove(passing);
        }
    }

    /// <summary>One connection to its end. Whatever fails ends it; the library then makes another, as it does with a server that goes away.</summary>
    private async Task Pass(Socket client)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
        try
        {
            client.NoDelay = true;
            using var near = new NetworkStream(client, ownsSocket: true);
            if (!await IsOurs(near, end.Token).ConfigureAwait(false))
            {
                return;
            }

            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            await using var far = await Open(socket, end.Token).ConfigureAwait(false);
            if (_options.Password is null)
            {
                // Nobody to sign in as: the library's AUTH is answered here.
                await near.WriteAsync("+OK\r\n"u8.ToArray(), end.Token).ConfigureAwait(false);
            }
            else
            {
                await far.WriteAsync(SignIn(_options.User, _options.Password), end.Token).ConfigureAwait(false);
                await far.FlushAsync(end.Token).ConfigureAwait(false);
            }

            // Either side ends both: half a connection is of no use to either.
            await await Task.WhenAny(near.CopyToAsync(far, end.Token), far.CopyToAsync(near, end.Token)).ConfigureAwait(false);
        }
        catch (Exception ended) when (ended is IOException or SocketException or OperationCanceledException or ObjectDisposedException or System.Security.Authentication.AuthenticationException)
        {
            // The library hears of a closed connection, and its commands say that the server cannot be reached.
        }
        finally
        {
            await end.CancelAsync().ConfigureAwait(false);
            client.Dispose();
        }
    }

    private async Task<bool> IsOurs(NetworkStream near, CancellationToken cancellation)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(GreetWithin);
        var greeting = new byte[_greeting.Length];
        await near.ReadExactlyAsync(greeting, patience.Token).ConfigureAwait(false);
        return CryptographicOperations.FixedTimeEquals(greeting, _greeting);
    }

    private async Task<Stream> Open(Socket socket, CancellationToken cancellation)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(RedisOptions.ConnectTimeout);
        await socket.ConnectAsync(_options.Host, _options.Port, patience.Token).ConfigureAwait(false);
        var plain = new NetworkStream(socket, ownsSocket: false);
        if (!_options.Tls)
        {
            return plain;
        }

        var tls = new SslStream(plain, leaveInnerStreamOpen: false);
        await tls.AuthenticateAsClientAsync(RedisTrust.Client(_options), patience.Token).ConfigureAwait(false);
        return tls;
    }

    /// <summary>The server's answer to it is what the library takes for the answer to its own AUTH.</summary>
    private static byte[] SignIn(string? user, string password) => user is null
        ? [.. "*2\r\n"u8, .. RespText.Bulk("AUTH"), .. RespText.Bulk(password)]
        : [.. "*3\r\n"u8, .. RespText.Bulk("AUTH"), .. RespText.Bulk(user), .. RespText.Bulk(password)];
}
