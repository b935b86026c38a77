using System.Buffers;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Snapper.Sidecar.Hosting;

/// <summary>A request body in a pooled buffer, or the finding that it is too large.</summary>
internal readonly struct RequestBody
{
    // What is read and thrown away of a body over the limit, so that the sender gets an answer instead of a reset.
    private const long DiscardAtMost = 64 * 1024 * 1024;

    private readonly byte[]? _rented;
    private readonly int _length;

    private RequestBody(byte[] rented, int length)
    {
        _rented = rented;
        _length = length;
    }

    public bool TooLarge { get; private init; }

    public bool NoRoom { get; private init; }

    public ReadOnlyMemory<byte> Memory => _rented is null ? default : _rented.AsMemory(0, _length);

    /// <summary>Gives the buffer back; the memory must not be used afterwards.</summary>
    public void Return()
    {
        if (_rented is not null)
        {
            ArrayPool<byte>.Shared.Return(_rented);
        }
    }

    public static ValueTask<RequestBody> Read(HttpContext context, int maxBytes, IBodyRoom? room)
    {
        var length = context.Request.ContentLength;
        if (length == 0)
        {
            return new ValueTask<RequestBody>(default(RequestBody));
        }

        // Kestrel's own limit would cut the connection; ours answers.
        if (context.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
        {
            limit.MaxRequestBodySize = null;
        }

        if (length > maxBytes)
        {
            return Discard(context, noRoom: false);
        }

        var first = (int?)length ?? Math.Min(maxBytes, 4096);
        return room is null || room.TryTake(first)
            ? Read(context, maxBytes, (int?)length, first, room)
            : Discard(context, noRoom: true);
    }

    private static async ValueTask<RequestBody> Read(
        HttpContext context, int maxBytes, int? length, int first, IBodyRoom? room)
    {
        var reader = context.Request.BodyReader;
        var buffer = ArrayPool<byte>.Shared.Rent(first);
        var filled = 0;
        var noRoom = false;
        try
        {
            while (true)
            {
                var read = await reader.ReadAsync(context.RequestAborted);
                var data = read.Buffer;
                if (filled + data.Length > maxBytes)
                {
                    reader.AdvanceTo(data.End);
                    break;
                }

                if (filled + data.Length > buffer.Length)
                {
                    var larger = (int)Math.Max(filled + data.Length, Math.Min(maxBytes, buffer.Length * 2L));
                    if (room is not null && !room.TryTake(larger - buffer.Length))
                    {
                        noRoom = true;
                        reader.AdvanceTo(data.End);
                        break;
                    }

                    buffer = Grow(buffer, filled, larger);
                }

                data.CopyTo(buffer.AsSpan(filled));
                filled += (int)data.Length;
                reader.AdvanceTo(data.End);
                if (read.IsCompleted || filled == length)
                {
                    return new RequestBody(buffer, filled);
                }
            }
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(buffer);
            throw;
        }

        ArrayPool<byte>.Shared.Return(buffer);
        return await Discard(context, noRoom);
    }

    private static byte[] Grow(byte[] buffer, int filled, int size)
    {
        var larger = ArrayPool<byte>.Shared.Rent(size);
        buffer.AsSpan(0, filled).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(buffer);
        return larger;
    }

    private static async ValueTask<RequestBody> Discard(HttpContext context, bool noRoom)
    {
        var reader = context.Request.BodyReader;
        long discarded = 0;
        while (discarded < DiscardAtMost)
        {
            var read = await reader.ReadAsync(context.RequestAborted);
            discarded += read.Buffer.Length;
            reader.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted)
            {
                break;
            }
        }

        return new RequestBody { TooLarge = !noRoom, NoRoom = noRoom };
    }
}
