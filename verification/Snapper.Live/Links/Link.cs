using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Snapper.Live.Links;

/// <summary>
/// A road between two processes, on loopback, on which anything may happen. In clear weather nobody can tell it from none: it listens exactly while its
/// target does, passes every byte on at once, and ends a connection the way in which the other side has ended it.
/// </summary>
/// <param name="name">For messages.</param>
/// <param name="port">Where callers come in; null: not known yet.</param>
/// <param name="target">The port on which the target listens; null: not known yet.</param>
/// <param name="callerOf">Tells from the port of a caller who it is, so that each has a <see cref="Lane"/> of its own; null: nobody is told from others.</param>
/// <param name="receiverOf">Tells from what a caller sends whom it is for, if it begins a request, so that each receiver has a <see cref="Lane"/>; null: nobody is told from others.</param>
/// <param name="leadsTo">Where callers really arrive; null, or none told: at the target.</param>
internal sealed class Link(
    string name, Func<int?> port, Func<int?> target, Func<int, string?>? callerOf = null, Func<ReadOnlySpan<byte>, string?>? receiverOf = null,
    Func<int?>? leadsTo = null) : IRoad, IAsyncDisposable
{
    private static readonly TimeSpan LookAgain = TimeSpan.FromMilliseconds(15);

    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentDictionary<LinkConnection, Task> _connections = new();
    private readonly ConcurrentDictionary<string, Lane> _lanes = new();
    private readonly Lock _gate = new();
    private Socket? _listener;
    private bool _refuses;
    private volatile bool _freezes;
    private bool _targetIsThere;
    private Task _keeping = Task.CompletedTask;

    public string Name => name;

    /// <summary>From the caller to the target.</summary>
    public Direction Up { get; } = new();

    /// <summary>From the target to the caller.</summary>
    public Direction Down { get; } = new();

    /// <summary>The part of the road that belongs to one caller, or to one receiver.</summary>
    public Lane Of(string caller) => _lanes.GetOrAdd(caller, static _ => new Lane());

    /// <summary>Connections that it carries now.</summary>
    public int Connections => _connections.Count;

    public void Start() => _keeping = Task.Run(Keep);

    /// <summary>Breaks every connection with a reset, and refuses new ones when asked to, until <see cref="Heal"/>.</summary>
    public void Cut(bool refuses)
    {
        lock (_gate)
        {
            _refuses = refuses;
            ListenOrNot();
        }

        foreach (var connection in _connections.Keys)
        {
            connection.Reset();
        }
    }

    /// <summary>
    /// What callers send on the connections of now stays under way, even when they die; new connections are free. <see cref="Heal"/> delivers it: so late
    /// can a packet be.
    /// </summary>
    public void Strand()
    {
        foreach (var connection in _connections.Keys)
        {
            connection.Sent.Set(new Weather(Holds: true));
        }
    }

    /// <summary>Nothing that callers send passes from now on, on any lane; new connections are refused. Answers pass. <see cref="Cut"/> loses what is under way.</summary>
    public void Freeze()
    {
        lock (_gate)
        {
            _refuses = _freezes = true;
            ListenOrNot();
        }

        Strand();
    }

    /// <summary>Clear weather in both directions, for old and new connections.</summary>
    public void Heal()
    {
        lock (_gate)
        {
            _refuses = _freezes = false;
            ListenOrNot();
        }

        Up.Set(Weather.Clear);
        Down.Set(Weather.Clear);
        foreach (var connection in _connections.Keys)
        {
            connection.Sent.Set(Weather.Clear);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        Cut(refuses: true);
        await _keeping;
        await Task.WhenAll(_connections.Values);
        _stop.Dispose();
    }

    /// <summary>A connection of its own to the target tells at once when that goes away.</summary>
    private async Task Keep()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                if (target() is { } there)
                {
                    await probe.ConnectAsync("127.0.0.1", there, _stop.Token);
                    TargetIs(there: true);
                    while (await probe.ReceiveAsync(new byte[256], _stop.Token) > 0)
                    {
                        // Greetings of a server that speaks first.
                    }

                    continue;
                }
            }
            catch (SocketException)
            {
                TargetIs(there: false);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(LookAgain, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void TargetIs(bool there)
    {
        lock (_gate)
        {
            _targetIsThere = there;
            ListenOrNot();
        }
    }

    /// <summary>Needs the gate.</summary>
    private void ListenOrNot()
    {
        if (!_targetIsThere || _refuses || _stop.IsCancellationRequested)
        {
            _listener?.Dispose();
            _listener = null;
        }
        else if (_listener is null && port() is { } here)
        {
            var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                listener.Bind(new IPEndPoint(IPAddress.Loopback, here));
                listener.Listen(512);
            }
            catch (SocketException)
            {
                // The next look at the target tries again: a connection of before may still hold the port.
                listener.Dispose();
                return;
            }

            _listener = listener;
            _ = Accept(listener);
        }
    }

    private async Task Accept(Socket listener)
    {
        try
        {
            while (true)
            {
                var caller = await listener.AcceptAsync(_stop.Token);
                if ((leadsTo?.Invoke() ?? target()) is not { } there)
                {
                    caller.Dispose();
                    continue;
                }

                var lane = callerOf?.Invoke(((IPEndPoint)caller.RemoteEndPoint!).Port) is { } who ? Of(who) : null;
                var connection = new LinkConnection(caller, lane?.Up ?? Up, lane?.Down ?? Down);
                if (lane?.Enters(connection) == false)
                {
                    connection.Dispose();
                    continue;
                }

                var started = new TaskCompletionSource();
                _connections[connection] = Carry(connection, lane, there, started.Task);
                if (_freezes)
                {
                    // It came in while the road was frozen, and was not among those that were.
                    connection.Sent.Set(new Weather(Holds: true));
                }

                started.SetResult();
            }
        }
        catch (Exception closed) when (closed is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            // It does not listen any more; the keeper opens another one.
        }
    }

    private async Task Carry(LinkConnection connection, Lane? lane, int there, Task isListed)
    {
        await isListed;
        using (connection)
        {
            await connection.Run(there, receiverOf is null ? null : sent => receiverOf(sent.Span) is { } who ? Of(who) : null);
        }

        lane?.Leaves(connection);
        _connections.TryRemove(connection, out _);
    }
}
