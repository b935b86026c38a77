using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Microsoft.Extensions.Logging;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Links;

/// <summary>Takes links of other workers: their packets go to the mailboxes, whose answers go back.</summary>
internal sealed class LinkListener : IAsyncDisposable
{
    private readonly Socket _socket;
    private readonly DirectLinkOptions _options;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _ending = new();
    private readonly Lock _gate = new();
    private readonly HashSet<Socket> _open = []; // guarded by the gate, as the next
    private readonly Dictionary<int, Socket> _current = []; // the last one of each worker: earlier ones are of no use
    private readonly SemaphoreSlim _unproved;
    private long _saidRefused = long.MinValue / 2;
    private long _refused; // since then
    private Task _accepting = Task.CompletedTask;
    private volatile Place? _place;

    private sealed record Place(MailboxHub Hub, string System);

    private LinkListener(Socket socket, DirectLinkOptions options, ILogger logger)
    {
        _socket = socket;
        _options = options;
        _logger = logger;
        _unproved = new SemaphoreSlim(options.MaxUnproved);
    }

    /// <summary>Where it listens.</summary>
    public IPEndPoint Address => (IPEndPoint)_socket.LocalEndPoint!;

    /// <summary>Begins to listen. Links are refused until <see cref="Open"/>.</summary>
    /// <exception cref="SocketException">The address is taken, or is none of this machine.</exception>
    public static LinkListener Start(DirectLinkOptions options, ILogger logger)
    {
        var socket = new Socket(options.Listen.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (options.Listen.AddressFamily == AddressFamily.InterNetworkV6)
            {
                socket.DualMode = true;
            }

            socket.Bind(options.Listen);
            socket.Listen(512);
        }
        catch
        {
            socket.Dispose();
            throw;
        }

        var listener = new LinkListener(socket, options, logger);
        using (ExecutionContext.IsFlowSuppressed() ? default(AsyncFlowControl?) : ExecutionContext.SuppressFlow())
        {
            listener._accepting = listener.Accept();
        }

        return listener;
    }

    /// <summary>Links are taken from now on.</summary>
    /// <param name="hub">Where packets go.</param>
    /// <param name="system">Id of the directory that this worker belongs to.</param>
    public void Open(MailboxHub hub, string system) => _place = new Place(hub, system);

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync().ConfigureAwait(false);
        _socket.Dispose();
        await _accepting.ConfigureAwait(false);
        lock (_gate)
        {
            foreach (var socket in _open)
            {
                socket.Dispose();
            }
        }
    }

    private async Task Accept()
    {
        while (!_ending.IsCancellationRequested)
        {
            try
            {
                await _unproved.WaitAsync(_ending.Token).ConfigureAwait(false);
                var socket = await _socket.AcceptAsync(_ending.Token).ConfigureAwait(false);
                _ = Serve(socket);
            }
            catch (Exception exception) when (exception is OperationCanceledException or ObjectDisposedException
                && _ending.IsCancellationRequested)
            {
                return;
            }
            catch (SocketException exception)
            {
                // Of one connection, or for want of files: the next may be taken.
                _unproved.Release();
                LinkLog.NotAccepted(_logger, exception.Message);
                await Task.Delay(_options.RetryDelay).ConfigureAwait(false);
            }
        }
    }

    private async Task Serve(Socket socket)
    {
        var isProved = false;
        try
        {
            lock (_gate)
            {
                _open.Add(socket);
            }

            socket.NoDelay = true;
            KeepAlive.Set(socket);
            Stream stream = new NetworkStream(socket, ownsSocket: true);
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(_ending.Token);
            limit.CancelAfter(_options.Patience);
            if (_options.Certificate is not null)
            {
                var secure = new SslStream(stream);
                stream = secure;
                await secure.AuthenticateAsServerAsync(LinkCertificates.OfAcceptor(_options),
                    limit.Token).ConfigureAwait(false);
            }

            using var frames = new FrameStream(socket, stream, 8 * _options.Limits.LargestPacket);
            if (await Handshake(frames, limit.Token).ConfigureAwait(false) is not var (hub, from))
            {
                return;
            }

            isProved = true;
            _unproved.Release();
            Replace(from, socket);
            await Answer(frames, hub).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is IOException or SocketException or ObjectDisposedException
            or AuthenticationException or InvalidDataException or OperationCanceledException)
        {
            // The connection is of no use any more; a worker at its other end makes another one.
            LinkLog.Ended(_logger, exception.Message);
        }
        finally
        {
            if (!isProved)
            {
                _unproved.Release();
            }

            socket.Dispose();
            lock (_gate)
            {
                _open.Remove(socket);
            }
        }
    }

    /// <returns>Null: it was refused.</returns>
    private async Task<(MailboxHub Hub, Incarnation From)?> Handshake(FrameStream frames, CancellationToken limit)
    {
        if (await frames.Read(LinkHandshake.MaxBytes, limit).ConfigureAwait(false) is not var (_, first))
        {
            return null;
        }

        var hello = first.ToArray();
        if (_place is not { } place)
        {
            return Refuse(frames, "the worker is starting");
        }

        if (!LinkHandshake.TryRead(hello, place.Hub.Own, place.System, _options.Keys, out var from, out var key,
            out var problem))
        {
            NoteRefused(problem);
            return Refuse(frames, problem);
        }

        var welcome = LinkHandshake.Welcome(hello, place.Hub.Own, key);
        frames.Send(0, welcome);
        if (await frames.Read(LinkHandshake.MaxBytes, limit).ConfigureAwait(false) is not var (_, proof))
        {
            return null;
        }

        if (!LinkHandshake.IsProved(proof.Span, hello, welcome, key))
        {
            NoteRefused(
                $"a connection that says it is {from} does not show this worker's SNAPPER_MAILBOX_SECRET");
            return Refuse(frames, "the proof of the secret is wrong");
        }

        frames.Send(0, [1]);
        return (place.Hub, from);
    }

    /// <summary>A line a second at most: any process of the machine may connect.</summary>
    private void NoteRefused(string problem)
    {
        var now = Environment.TickCount64;
        var others = 0L;
        lock (_gate)
        {
            if (now < _saidRefused + 1000)
            {
                _refused++;
                return;
            }

            (others, _refused, _saidRefused) = (_refused, 0, now);
        }

        LinkLog.Refused(_logger, problem, others);
    }

    private static (MailboxHub, Incarnation)? Refuse(FrameStream frames, string why)
    {
        frames.Send(0, LinkHandshake.Refused(why));
        return null;
    }

    /// <summary>A worker has one link to this one: an older one is closed, whose other end may be over.</summary>
    private void Replace(Incarnation from, Socket socket)
    {
        Socket? older;
        lock (_gate)
        {
            _current.TryGetValue(from.Worker, out older);
            _current[from.Worker] = socket;
        }

        older?.Dispose();
    }

    private async Task Answer(FrameStream frames, MailboxHub hub)
    {
        while (await frames.Read(_options.Limits.LargestPacket,
            CancellationToken.None).ConfigureAwait(false) is var (call, packet))
        {
            if (PassedOnPacket.Is(packet.Span))
            {
                // It waits for a third worker, and must not hold up others.
                _ = PassOn(frames, hub, call, packet.ToArray());
            }
            else
            {
                frames.Send(call, hub.Deliver(packet).Span);
            }
        }
    }

    private static async Task PassOn(FrameStream frames, MailboxHub hub, uint call, byte[] packet) =>
        frames.Send(call, (await hub.Receive(packet).ConfigureAwait(false)).Span);
}
