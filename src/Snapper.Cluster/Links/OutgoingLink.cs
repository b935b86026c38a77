using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Links;

/// <summary>
/// A connection to another worker that this one has made: it carries this worker's packets and their answers.
/// Thread-safe.
/// </summary>
internal sealed class OutgoingLink : IDisposable
{
    private readonly FrameStream _frames;
    private readonly int _maxBytes;
    private readonly TimeSpan _patience;
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private readonly Dictionary<uint, TaskCompletionSource<ReadOnlyMemory<byte>>> _calls = [];
    private uint _lastCall;
    private string? _over;

    private OutgoingLink(FrameStream frames, DirectLinkOptions options)
    {
        _frames = frames;
        _maxBytes = options.Limits.LargestPacket;
        _patience = options.Patience;
    }

    /// <summary>Connects and shows who this worker is.</summary>
    /// <param name="own">This worker.</param>
    /// <param name="to">Exactly the incarnation that shall answer.</param>
    /// <param name="address">Where it listens.</param>
    /// <param name="system">Id of the directory that both belong to.</param>
    /// <param name="options">How workers link.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <exception cref="IOException">It cannot be made; the message says why.</exception>
    public static async Task<OutgoingLink> Connect(
        Incarnation own, Incarnation to, LinkAddress address, string system, DirectLinkOptions options,
            CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(options.Patience);
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        FrameStream? frames = null;
        try
        {
            await socket.ConnectAsync(address.Host, address.Port, limit.Token).ConfigureAwait(false);
            KeepAlive.Set(socket);
            Stream stream = new NetworkStream(socket, ownsSocket: true);
            if (options.Certificate is not null)
            {
                var secure = new SslStream(stream);
                stream = secure;
                await secure.AuthenticateAsClientAsync(LinkCertificates.OfConnector(options, address.Host),
                    limit.Token).ConfigureAwait(false);
            }

            frames = new FrameStream(socket, stream, 8 * options.Limits.LargestPacket);
            var hello = LinkHandshake.Hello(own, to, system, options.Keys);
            frames.Send(0, hello);
            var welcome = await Next(frames, limit.Token).ConfigureAwait(false);
            var proof = LinkHandshake.Proof(hello, welcome, options.Keys, out var problem)
                ?? throw new IOException($"{problem}.");
            frames.Send(0, proof);
            if (LinkHandshake.Refusal(await Next(frames, limit.Token).ConfigureAwait(false)) is { } refusal)
            {
                throw new IOException($"{refusal}.");
            }

            var link = new OutgoingLink(frames, options);
            return link;
        }
        catch (Exception exception) when (IsBroken(exception) || exception is OperationCanceledException)
        {
            frames?.Dispose();
            socket.Dispose();
            cancellation.ThrowIfCancellationRequested();
            throw new IOException(
                $"No link to {to} at {address.Place}: "
                + (exception is OperationCanceledException
                    ? $"nothing that answers within {options.Patience.TotalMilliseconds:0} ms." : exception.Message),
                    exception);
        }
    }

    /// <summary>Sends a packet.</summary>
    /// <returns>The answer; it fails when the link ends before, and is cancelled when the caller gives up.</returns>
    public Task<ReadOnlyMemory<byte>> Call(ReadOnlyMemory<byte> packet, CancellationToken cancellation)
    {
        // Its continuation sends the next packet, on the thread that has read the answer.
        var answer = new TaskCompletionSource<ReadOnlyMemory<byte>>();
        uint call;
        lock (_gate)
        {
            if (_over is not null)
            {
                return Task.FromException<ReadOnlyMemory<byte>>(new IOException(_over));
            }

            call = ++_lastCall;
            _calls.Add(call, answer);
        }

        if (cancellation.CanBeCanceled)
        {
            var registration = cancellation.UnsafeRegister(static state => ((GivenUp)state!).Do(),
                new GivenUp(this, call, Environment.TickCount64));
            _ = answer.Task.ContinueWith(static (_, state) => ((CancellationTokenRegistration)state!).Unregister(),
                registration,
                CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        }

        if (!_frames.Send(call, packet.Span))
        {
            End("The link is closed.");
        }

        return answer.Task;
    }

    /// <summary>Reads answers until the link ends.</summary>
    /// <returns>Why it has ended.</returns>
    public async Task<string> Run()
    {
        try
        {
            while (await _frames.Read(_maxBytes, CancellationToken.None).ConfigureAwait(false) is var (call, content))
            {
                TaskCompletionSource<ReadOnlyMemory<byte>>? answer;
                lock (_gate)
                {
                    _calls.Remove(call, out answer);
                }

                answer?.TrySetResult(content.ToArray()); // the caller may keep it
            }

            End("The other worker has closed the link.");
        }
        catch (Exception exception) when (IsBroken(exception))
        {
            End($"The link broke: {exception.Message}");
        }

        return _over!;
    }

    /// <summary>Ends it: calls that are open fail.</summary>
    public void Dispose() => End("This worker has closed the link.");

    /// <summary>The first reason stays.</summary>
    private void End(string why)
    {
        TaskCompletionSource<ReadOnlyMemory<byte>>[] open;
        lock (_gate)
        {
            _over ??= why;
            open = [.. _calls.Values];
            _calls.Clear();
        }

        _frames.Dispose();
        foreach (var answer in open)
        {
            answer.TrySetException(new IOException(_over));
        }
    }

    private static bool IsBroken(Exception exception) =>
        exception is IOException or InvalidDataException or SocketException or ObjectDisposedException
            or AuthenticationException;

    private static async Task<byte[]> Next(FrameStream frames, CancellationToken cancellation) =>
        await frames.Read(LinkHandshake.MaxBytes, cancellation).ConfigureAwait(false) is var (_, content)
            ? content.ToArray()
            : throw new IOException("the connection was closed before the link was made.");

    /// <summary>A call that its caller has given up.</summary>
    private sealed class GivenUp(OutgoingLink link, uint call, long since)
    {
        public void Do()
        {
            TaskCompletionSource<ReadOnlyMemory<byte>>? answer;
            lock (link._gate)
            {
                link._calls.Remove(call, out answer);
            }

            answer?.TrySetCanceled();

            // Nothing at all has come back for so long: the connection may be open at one end only.
            if (answer is not null && link._frames.LastReceived < since
                && Environment.TickCount64 - since >= link._patience.TotalMilliseconds * 0.9)
            {
                link.End($"Nothing has come from the other worker for {link._patience.TotalMilliseconds:0} ms.");
            }
        }
    }
}
