using System.Net;
using System.Net.Sockets;

namespace Snapper.Runtime.Tests.Links;

/// <summary>A network between two ends that a test cuts, stops in one direction, or slows.</summary>
internal sealed class TcpProxy : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly int _target;
    private readonly CancellationTokenSource _ending = new();
    private readonly List<Socket> _open = [];
    private readonly List<Task> _tasks = [];
    private readonly Lock _gate = new();

    public TcpProxy(int target)
    {
        _target = target;
        _listener.Start();
        _tasks.Add(Accept());
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>Bytes to the target are swallowed.</summary>
    public volatile bool SwallowsThere;

    /// <summary>Bytes from the target are swallowed.</summary>
    public volatile bool SwallowsBack;

    /// <summary>Connections are closed as soon as they are made.</summary>
    public volatile bool Refuses;

    public volatile int DelayMs;

    /// <summary>Connections that were made.</summary>
    public int Made { get; private set; }

    public void Cut()
    {
        lock (_gate)
        {
            foreach (var socket in _open)
            {
                socket.Dispose();
            }

            _open.Clear();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        _listener.Stop();
        Cut();
        Task[] all;
        lock (_gate)
        {
            all = [.. _tasks];
        }

        await Task.WhenAll(all);
    }

    private async Task Accept()
    {
        while (true)
        {
            Socket from;
            try
            {
                from = await _listener.AcceptSocketAsync(_ending.Token);
            }
            catch (Exception exception) when (exception is OperationCanceledException or ObjectDisposedException
                or SocketException)
            {
                return;
            }

            if (Refuses)
            {
                from.Dispose();
                continue;
            }

            var to = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await to.ConnectAsync(IPAddress.Loopback, _target);
            lock (_gate)
            {
                Made++;
                _open.AddRange([from, to]);
                _tasks.AddRange([Carry(from, to, () => SwallowsThere), Carry(to, from, () => SwallowsBack)]);
            }
        }
    }

    private async Task Carry(Socket from, Socket to, Func<bool> swallows)
    {
        var buffer = new byte[16 << 10];
        try
        {
            while (await from.ReceiveAsync(buffer) is > 0 and var count)
            {
                if (DelayMs > 0)
                {
                    await Task.Delay(DelayMs);
                }

                if (!swallows())
                {
                    await to.SendAsync(buffer.AsMemory(0, count));
                }
            }
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // Cut, or one end has gone.
        }

        from.Dispose();
        to.Dispose();
    }
}
