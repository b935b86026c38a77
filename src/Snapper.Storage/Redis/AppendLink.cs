using System.Buffers;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Storage.Redis;

/// <summary>
/// One TCP connection to Redis from its making to its end; never used again after any doubt. One thread reads; anyone sends,
/// one at a time. All calls block in the kernel and none is asynchronous: that would put the runtime's socket engine and thread
/// pool between the answer and the thread that waits for it, and costs several times as much.
/// </summary>
internal sealed class AppendLink(RedisOptions options, RemoteCertificateValidationCallback? trust)
{
    /// <summary>
    /// A message up to this many bytes does not block its sender: the answer to the message before has shown that the
    /// socket's send buffer is empty, and it is larger.
    /// </summary>
    public const int UnblockedBytesMax = 64 * 1024;

    private readonly CancellationTokenSource _abort = new();
    private readonly Lock _gate = new();
    private readonly Lock _sending = new();
    private readonly byte[] _received = new byte[RespReply.BytesMax];
    private Socket? _socket;
    private SslStream? _tls;
    private int _filled;
    private int _taken;
    private bool _isAwaiting;
    private bool _closed;

    public bool IsClosed => Volatile.Read(ref _closed);

    /// <summary>Connects, and signs in when the options say so. <see cref="Abort"/> bounds its time.</summary>
    /// <returns>Null, or why Redis certainly does not let us in.</returns>
    /// <exception cref="IOException">It cannot be reached, or was aborted; also <see cref="SocketException"/>, <see cref="System.Security.Authentication.AuthenticationException"/>.</exception>
    public string? Open()
    {
        var socket = Connect();
        socket.NoDelay = true;
        socket.SendBufferSize = 4 * UnblockedBytesMax;

        // A peer that vanished without a word is found while idle, not by the next append.
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, 30);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, 5);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
        if (options.Tls)
        {
            var tls = new SslStream(new NetworkStream(socket, ownsSocket: false), leaveInnerStreamOpen: false, trust);
            tls.AuthenticateAsClient(RedisTrust.Client(options));
            _tls = tls;
        }

        return options.Password is null ? null : SignIn(options.Password);
    }

    /// <summary>Sends a message, or nothing when the link is closed: then its reader tells of the failure.</summary>
    public void Send(AppendMessage message, bool byText = false)
    {
        lock (_sending)
        {
            // Behind this check nobody lets go of the message before the send has ended: see WaitForSender.
            if (!Volatile.Read(ref _closed))
            {
                _isAwaiting = true;
                SendParts(byText ? message.ByText() : message.ByName());
            }
        }
    }

    /// <summary>Sends what is no command of a caller's, and waits for the answer. Only for the reader, before the link's first message.</summary>
    /// <exception cref="IOException">As <see cref="Read"/>.</exception>
    public RespReply Ask(ArraySegment<byte>[] parts)
    {
        SendParts(parts);
        return Read();
    }

    /// <summary>Returns when no thread is inside a send. Only for the reader, which has an answer by then or has closed the link.</summary>
    /// <returns>False: no message was sent since the last call.</returns>
    public bool WaitForSender()
    {
        lock (_sending)
        {
            var isAwaiting = _isAwaiting;
            _isAwaiting = false;
            return isAwaiting;
        }
    }

    /// <summary>Waits for an answer, however long. Only for the reader; the text is good until the next call.</summary>
    /// <param name="isLast">No other answer is due behind it.</param>
    /// <exception cref="RespException">What came is no answer, or more than one.</exception>
    /// <exception cref="IOException">The connection has ended; also <see cref="SocketException"/>.</exception>
    public RespReply Read(bool isLast = true)
    {
        Forget();
        RespReply reply;
        while (!RespReply.TryRead(_received.AsSpan(0, _filled), out reply, out _taken))
        {
            Receive();
        }

        CheckLast(isLast);
        return reply;
    }

    /// <summary>The same for the answer of a <see cref="ReplicaWait"/>, the last one.</summary>
    /// <param name="isForDisk">It asked for disks.</param>
    /// <param name="error">The error that came in its place; null: none did.</param>
    /// <exception cref="RespException">As <see cref="Read"/>; also the others.</exception>
    public ReplicaCount ReadCount(bool isForDisk, out string? error)
    {
        Forget();
        while (_filled == 0)
        {
            Receive();
        }

        error = null;
        ReplicaCount count = default;
        if (_received[0] == (byte)'-')
        {
            RespReply reply;
            while (!RespReply.TryRead(_received.AsSpan(0, _filled), out reply, out _taken))
            {
                Receive();
            }

            error = Encoding.UTF8.GetString(reply.Text);
        }
        else
        {
            while (!ReplicaCount.TryRead(_received.AsSpan(0, _filled), isForDisk, out count, out _taken))
            {
                Receive();
            }
        }

        CheckLast(isLast: true);
        return count;
    }

    /// <summary>Ends the connection from any thread: whoever is inside a call gets an error soon. May be called again.</summary>
    public void Abort()
    {
        lock (_gate)
        {
            if (_closed)
            {
                return;
            }

            Volatile.Write(ref _closed, true);
        }

        _abort.Cancel();
        _socket?.Dispose();
    }

    /// <summary>Ends the connection; nobody is inside a send afterwards. Only for the reader, which calls nothing more.</summary>
    public void End()
    {
        Abort();
        WaitForSender();
        _tls?.Dispose();
    }

    /// <summary>What was read before makes room; what came behind it stays.</summary>
    private void Forget()
    {
        _received.AsSpan(_taken, _filled - _taken).CopyTo(_received);
        _filled -= _taken;
        _taken = 0;
    }

    private void Receive()
    {
        var room = _received.AsSpan(_filled);
        var read = _tls?.Read(room) ?? _socket!.Receive(room, SocketFlags.None);
        if (read == 0)
        {
            throw new IOException("Redis closed the connection.");
        }

        _filled += read;
    }

    private void CheckLast(bool isLast)
    {
        if (isLast && _taken != _filled)
        {
            throw new RespException("more than one answer to one command");
        }
    }

    private Socket Connect()
    {
        IPAddress[] addresses = IPAddress.TryParse(options.Host, out var address)
            ? [address]
            : Dns.GetHostAddressesAsync(options.Host, _abort.Token).GetAwaiter().GetResult();
        for (var i = 0; i < addresses.Length; i++)
        {
            var socket = new Socket(addresses[i].AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            lock (_gate)
            {
                if (_closed)
                {
                    socket.Dispose();
                    throw new IOException("The connection was closed while it was made.");
                }

                _socket = socket;
            }

            try
            {
                socket.Connect(new IPEndPoint(addresses[i], options.Port));
                return socket;
            }
            catch (SocketException) when (i + 1 < addresses.Length)
            {
                // A host may have an address on which Redis does not listen; the last one's error is told.
                socket.Dispose();
            }
        }

        throw new IOException($"The host name '{options.Host}' has no address.");
    }

    private string? SignIn(string password)
    {
        byte[] command = options.User is null
            ? [.. "*2\r\n"u8, .. RespText.Bulk("AUTH"), .. RespText.Bulk(password)]
            : [.. "*3\r\n"u8, .. RespText.Bulk("AUTH"), .. RespText.Bulk(options.User), .. RespText.Bulk(password)];
        var reply = Ask([command]);
        if (reply.Kind != RespKind.Error)
        {
            return null;
        }

        // A server without passwords complains of ours and works; any other trouble is told by the answer to the command itself.
        var error = Encoding.UTF8.GetString(reply.Text);
        return RedisRefusal.Is(error) ? error : null;
    }

    private void SendParts(ArraySegment<byte>[] parts)
    {
        if (_tls is null)
        {
            _socket!.Send(parts, SocketFlags.None);
            return;
        }

        // As one piece: TLS would make a record of each part.
        var length = 0;
        foreach (var part in parts)
        {
            length += part.Count;
        }

        var whole = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            var at = 0;
            foreach (var part in parts)
            {
                part.AsSpan().CopyTo(whole.AsSpan(at));
                at += part.Count;
            }

            _tls.Write(whole, 0, length);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(whole, clearArray: true);
        }
    }
}
