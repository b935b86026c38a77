using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Requests;

/// <summary>Hash of a whole request, to tell a repetition from another request with the same key (I2).</summary>
public static class RequestHash
{
    public static UInt128 Of(TransactionRequest request)
    {
        var size = 64 + request.Input.Length + (3 * (request.Actor.Type.Length + request.Actor.Id.Length + request.Method.Length));
        foreach (var access in request.Access ?? [])
        {
            size += 16 + (3 * (access.Actor.Type.Length + access.Actor.Id.Length));
        }

        var buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            var length = 0;
            Add(buffer, ref length, request.Actor.Type);
            Add(buffer, ref length, request.Actor.Id);
            Add(buffer, ref length, request.Method);
            Add(buffer, ref length, (int)request.Mode);
            Add(buffer, ref length, (int)request.AccessMode);
            Add(buffer, ref length, request.Access?.Length ?? -1);
            foreach (var access in request.Access ?? [])
            {
                Add(buffer, ref length, access.Actor.Type);
                Add(buffer, ref length, access.Actor.Id);
                Add(buffer, ref length, access.Calls);
            }

            request.Input.Span.CopyTo(buffer.AsSpan(length));
            return IdempotencyIndex.Hash(buffer.AsSpan(0, length + request.Input.Length));
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static void Add(byte[] buffer, ref int length, string text)
    {
        var written = Encoding.UTF8.GetBytes(text, buffer.AsSpan(length + 4));
        BinaryPrimitives.WriteInt32LittleEndian(buffer.AsSpan(length), written);
        length += 4 + written;
    }

    private static void Add(byte[] buffer, ref int length, int number)
    {
        BinaryPrimitives.WriteInt32LittleEndian(buffer.AsSpan(length), number);
        length += 4;
    }
}
