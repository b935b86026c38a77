using System.Net.Sockets;

namespace Snapper.Live.Links;

/// <summary>One connection through a link: a socket on either side, and a pump for each direction.</summary>
internal sealed class LinkConnection(Socket caller, Direction up, Direction down) : IDisposable
{
    private const int BufferBytes = 64 * 1024;

    private readonly CancellationTokenSource _end = new();
    private readonly Socket _target = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private volatile Lane? _receiver;
    private int _reset;

    /// <summary>Its own, besides the link's: what its caller has sent and nobody has received yet.</summary>
    public Direction Sent { get; } = new();

    /// <summary>Carries bytes until both sides have ended, or one has broken; a broken side breaks the other.</summary>
    /// <param name="targetPort">Where to.</param>
    /// <param name="receiverOf">The lane of the receiver, where what the caller sends begins a request to one; null: there are none.</param>
    public async Task Run(int targetPort, Func<ReadOnlyMemory<byte>, Lane?>? receiverOf)
    {
        try
        {
            caller.NoDelay = true;
            await up.Pass(0, _end.Token);
            await _target.ConnectAsync("127.0.0.1", targetPort, _end.Token);
            await Task.WhenAll(Pump(caller, _target, up, receiverOf), Pump(_target, caller, down, null));
            _target.Dispose();
            caller.Dispose();
            _receiver?.Leaves(this);
        }
        catch (Exception broken) when (broken is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            Reset();
        }
    }

    /// <summary>Ends it as a crash does: both sides get a reset, and what was under way is lost.</summary>
    public void Reset()
    {
        if (Interlocked.Exchange(ref _reset, 1) != 0)
        {
            return;
        }

        _receiver?.Leaves(this);
        _end.Cancel();
        Abort(caller);
        Abort(_target);
    }

    public void Dispose()
    {
        Reset();
        _end.Dispose();
    }

    private static void Abort(Socket socket)
    {
        try
        {
            socket.LingerState = new LingerOption(true, 0);
        }
        catch (Exception gone) when (gone is SocketException or ObjectDisposedException)
        {
            // It has ended already; there is nobody to tell.
        }

        socket.Dispose();
    }

    /// <summary>What follows is for this receiver: callers send one request at a time on a connection.</summary>
    private void Address(Lane lane)
    {
        _receiver?.Leaves(this);
        _receiver = lane;
        if (!lane.Enters(this))
        {
            Reset();
        }
    }

    private async Task Pump(Socket from, Socket to, Direction direction, Func<ReadOnlyMemory<byte>, Lane?>? receiverOf)
    {
        try
        {
            var buffer = new byte[BufferBytes];
            while (true)
            {
                var read = await from.ReceiveAsync(buffer.AsMemory(0, Math.Min(BufferBytes, direction.PieceBytes)), _end.Token);
                await direction.Pass(read, _end.Token);
                if (read > 0 && receiverOf?.Invoke(buffer.AsMemory(0, read)) is { } lane)
                {
                    Address(lane);
                }

                if (_receiver is { } receiver)
                {
                    await (direction == up ? receiver.Up : receiver.Down).Pass(read, _end.Token);
                }

                if (direction == up)
                {
                    await Sent.Pass(0, _end.Token);
                }

                if (read == 0)
                {
                    to.Shutdown(SocketShutdown.Send);
                    return;
                }

                for (var sent = 0; sent < read;)
                {
                    sent += await to.SendAsync(buffer.AsMemory(sent, read - sent), _end.Token);
                }
            }
        }
        catch (Exception broken) when (broken is SocketException or ObjectDisposedException)
        {
            // The other pump must not wait for bytes that never come.
            Reset();
            throw;
        }
    }
}
