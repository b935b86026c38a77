using System.Net;
using System.Net.Sockets;

namespace Snapper.Storage.Tests.Support;

/// <summary>A proxy on loopback that can swallow answers, cut connections and refuse new ones.</summary>
public sealed class TcpProxy : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private volatile int _target;
    private readonly List<TcpClient> _clients = [];
    private readonly CancellationTokenSource _end = new();
    private readonly Task _accepting;
    private volatile bool _refusing;
    private volatile bool _swallowingAnswers;

    public TcpProxy(int target)
    {
        _target = target;
        _listener.Start();
        _accepting = Accept();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>New connections lead there; those that are made stay where they are.</summary>
    public void LeadTo(int target) => _target = target;

    /// <summary>From now on requests arrive and answers do not.</summary>
    public void SwallowAnswers() => _swallowingAnswers = true;

    /// <summary>Cuts every connection and refuses new ones.</summary>
    public void Cut()
    {
        _refusing = true;
        CloseAll();
    }

    /// <summary>Back to normal; connections whose answers were swallowed are cut, for their answers are out of step.</summary>
    public void Heal()
    {
        var wasSwallowing = _swallowingAnswers;
        _swallowingAnswers = false;
        _refusing = false;
        if (wasSwallowing)
        {
            // After the change: a connection that is accepted meanwhile has lost no answer yet.
            CloseAll();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        _listener.Stop();
        CloseAll();
        await _accepting;
        _end.Dispose();
    }

    private async Task Accept()
    {
        while (!_end.IsCancellationRequested)
        {
            try
            {
                var near = await _listener.AcceptTcpClientAsync(_end.Token);
                if (_refusing)
                {
                    near.Dispose();
                    continue;
                }

                var far = new TcpClient();
                await far.ConnectAsync(IPAddress.Loopback, _target);
                lock (_clients)
                {
                    _clients.Add(near);
                    _clients.Add(far);
                }

                _ = Pump(near, far, isAnswer: false);
                _ = Pump(far, near, isAnswer: true);
            }
            catch (Exception error) when (error is SocketException or OperationCanceledException or ObjectDisposedException)
            {
                // The end, or a target that is away: the near side sees a closed connection.
            }
        }
    }

    private async Task Pump(TcpClient from, TcpClient to, bool isAnswer)
    {
        var buffer = new byte[64 * 1024];
        var hasLostAnswers = false;
        try
        {
            while (await from.GetStream().ReadAsync(buffer) is > 0 and var length)
            {
                if (isAnswer && _swallowingAnswers)
                {
                    hasLostAnswers = true;
                }
                else if (hasLostAnswers)
                {
                    break;
                }
                else
                {
                    await to.GetStream().WriteAsync(buffer.AsMemory(0, length));
                }
            }
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException or SocketException)
        {
            // A cut connection ends both directions.
        }

        from.Dispose();
        to.Dispose();
    }

    private void CloseAll()
    {
        lock (_clients)
        {
            foreach (var client in _clients)
            {
                client.Dispose();
            }

            _clients.Clear();
        }
    }
}
