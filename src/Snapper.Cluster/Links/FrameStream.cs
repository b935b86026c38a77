using System.Buffers;
using System.Buffers.Binary;
using System.Net.Sockets;

namespace Snapper.Cluster.Links;

/// <summary>
/// Frames on a connection: four bytes with the length of the rest, four with the number of the call, little-endian, and
/// the content.
/// What is sent while a write is under way goes in the next one. Sending is thread-safe; one reads.
/// </summary>
/// <param name="socket">The connection.</param>
/// <param name="stream">Over it, encrypted or not. Disposed with this.</param>
/// <param name="maxWaitingBytes">So much may wait for a write; with more the other end takes too little, and the
/// connection is closed.</param>
internal sealed class FrameStream(Socket socket, Stream stream, int maxWaitingBytes) : IDisposable
{
    private const int HeadBytes = 8;
    private const int FirstBuffer = 16 << 10;
    private const int KeptBuffer = 256 << 10;

    private readonly Lock _gate = new();
    private ArrayBufferWriter<byte> _waiting = new(FirstBuffer); // guarded by the gate, as those below
    private ArrayBufferWriter<byte> _spare = new(FirstBuffer);
    private bool _isWriting;
    private bool _isClosed;

    private byte[] _read = new byte[FirstBuffer]; // by the one reader
    private int _begin;
    private int _end;

    private long _lastReceived;

    /// <summary>When bytes came last, in milliseconds of the machine's clock since its start; 0: never.</summary>
    public long LastReceived => Volatile.Read(ref _lastReceived);

    /// <summary>Queues a frame; copies it.</summary>
    /// <returns>False: the connection is over.</returns>
    public bool Send(uint call, ReadOnlySpan<byte> content)
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            if (_waiting.WrittenCount > maxWaitingBytes)
            {
                _isClosed = true;
                socket.Dispose(); // the reader sees an error
                return false;
            }

            var space = _waiting.GetSpan(HeadBytes + content.Length);
            BinaryPrimitives.WriteInt32LittleEndian(space, sizeof(uint) + content.Length);
            BinaryPrimitives.WriteUInt32LittleEndian(space[sizeof(int)..], call);
            content.CopyTo(space[HeadBytes..]);
            _waiting.Advance(HeadBytes + content.Length);
            if (_isWriting)
            {
                return true;
            }

            _isWriting = true;
        }

        _ = Write();
        return true;
    }

    /// <summary>The next frame.</summary>
    /// <param name="maxBytes">Largest content.</param>
    /// <param name="cancellation">Gives up; the connection is of no use then.</param>
    /// <returns>Number of the call and the content, which is valid until the next read; null: the other end has
    /// closed.</returns>
    /// <exception cref="IOException">The connection is broken.</exception>
    /// <exception cref="InvalidDataException">A frame is too long or too short.</exception>
    public async ValueTask<(uint Call, ReadOnlyMemory<byte> Content)?> Read(int maxBytes,
        CancellationToken cancellation)
    {
        while (true)
        {
            var length = HeadBytes;
            if (_end - _begin >= HeadBytes)
            {
                var rest = BinaryPrimitives.ReadInt32LittleEndian(_read.AsSpan(_begin));
                if (rest < sizeof(uint) || rest - sizeof(uint) > maxBytes)
                {
                    throw new InvalidDataException(
                        $"A frame of a link says that it has {rest} bytes; {maxBytes} are the most.");
                }

                length = sizeof(int) + rest;
                if (_end - _begin >= length)
                {
                    var call = BinaryPrimitives.ReadUInt32LittleEndian(_read.AsSpan(_begin + sizeof(int)));
                    var content = _read.AsMemory(_begin + HeadBytes, length - HeadBytes);
                    _begin += length;
                    return (call, content);
                }
            }

            MakeRoom(length);
            var count = await stream.ReadAsync(_read.AsMemory(_end), cancellation).ConfigureAwait(false);
            if (count == 0)
            {
                return null;
            }

            Volatile.Write(ref _lastReceived, Environment.TickCount64);
            _end += count;
        }
    }

    /// <summary>Closes the connection at once; the reader sees an error.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
        }

        socket.Dispose(); // before the stream, which would say goodbye first where it is encrypted
        stream.Dispose();
    }

    /// <summary>
    /// What was read and not used yet goes to the front; a large buffer is given back once a small one will do.
    /// </summary>
    private void MakeRoom(int length)
    {
        var used = _end - _begin;
        if (used == 0 && _read.Length > KeptBuffer && length <= FirstBuffer)
        {
            _read = new byte[FirstBuffer];
        }
        else if (_read.Length < length)
        {
            var larger = new byte[Math.Max(length, _read.Length * 2)];
            _read.AsSpan(_begin, used).CopyTo(larger);
            _read = larger;
        }
        else if (_begin > 0)
        {
            _read.AsSpan(_begin, used).CopyTo(_read);
        }

        (_begin, _end) = (0, used);
    }

    private async Task Write()
    {
        while (true)
        {
            ArrayBufferWriter<byte> full;
            lock (_gate)
            {
                if (_isClosed || _waiting.WrittenCount == 0)
                {
                    _isWriting = false;
                    return;
                }

                (full, _waiting, _spare) = (_waiting, _spare, _waiting);
            }

            try
            {
                await stream.WriteAsync(full.WrittenMemory, CancellationToken.None).ConfigureAwait(false);
            }
            catch (Exception exception) when (exception is IOException or SocketException or ObjectDisposedException
                or InvalidOperationException)
            {
                Dispose(); // the reader sees an error
                return;
            }

            if (full.Capacity > KeptBuffer)
            {
                full = new ArrayBufferWriter<byte>(FirstBuffer);
            }
            else
            {
                full.ResetWrittenCount();
            }

            lock (_gate)
            {
                _spare = full;
            }
        }
    }
}
