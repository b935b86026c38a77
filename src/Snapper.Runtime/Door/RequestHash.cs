using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Snapper.Runtime.Door;

/// <summary>
/// Hashes by which a worker knows requests (I2). Cryptographic, so that no caller can hit the entry of another one on
/// purpose.
/// </summary>
public static class RequestHash
{
    /// <summary>
    /// Of a whole request, as its caller sends it: tells a repetition from another request with the same id. What the
    /// root's method declares is not part of it: a newer version of the method may declare something else.
    /// </summary>
    public static UInt128 Of(TransactionRequest request)
    {
        var isGiven = request.AccessSource != AccessSource.Method;
        var asked = isGiven ? request.Access : null;
        var size = 64 + request.Input.Length + (3 * (request.Actor.Type.Length + request.Actor.Id.Length + request.Method.Length));
        foreach (var access in asked ?? [])
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
            Add(buffer, ref length, (int)(isGiven ? request.Mode : TransactionMode.Act));
            Add(buffer, ref length, (int)request.AccessMode);
            Add(buffer, ref length, asked?.Length ?? -1);
            foreach (var access in asked ?? [])
            {
                Add(buffer, ref length, access.Actor.Type);
                Add(buffer, ref length, access.Actor.Id);
                Add(buffer, ref length, access.Calls);
            }

            request.Input.Span.CopyTo(buffer.AsSpan(length));
            return Hash(buffer.AsSpan(0, length + request.Input.Length));
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    /// <summary>Of an id.</summary>
    public static UInt128 OfId(string id)
    {
        Span<byte> text = stackalloc byte[512];
        var length = Encoding.UTF8.GetBytes(id, text);
        return Hash(text[..length]);
    }

    private static UInt128 Hash(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[32];
        SHA256.HashData(bytes, hash);
        return new UInt128(BitConverter.ToUInt64(hash), BitConverter.ToUInt64(hash[8..]));
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
