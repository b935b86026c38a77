using System.Buffers.Text;

namespace Snapper.Storage.Redis;

/// <summary>What kind of answer Redis gave.</summary>
internal enum RespKind : byte
{
    /// <summary>A short word, as <c>+OK</c>.</summary>
    Simple,

    /// <summary>A refusal or a fault; its first word is a code.</summary>
    Error,

    /// <summary>Bytes with their length, as scripts answer.</summary>
    Bulk,
}

/// <summary>An answer in RESP2, of the kinds that AUTH and the append scripts give. The text lives in the buffer it was read from.</summary>
internal readonly ref struct RespReply(RespKind kind, ReadOnlySpan<byte> text)
{
    /// <summary>Longest text of an answer in bytes. Ours are some hundred bytes long; more means that the two sides are out of step.</summary>
    public const int TextMax = 32 * 1024;

    /// <summary>Room that an answer needs: its text, its kind, its length and two line ends.</summary>
    public const int BytesMax = TextMax + 16;

    public RespKind Kind { get; } = kind;

    public ReadOnlySpan<byte> Text { get; } = text;

    /// <summary>Reads the answer at the beginning of what has arrived. It may be cut anywhere: then more has to arrive first.</summary>
    /// <param name="bytes">What has arrived.</param>
    /// <param name="reply">The answer, when it is there as a whole.</param>
    /// <param name="length">Its length in bytes.</param>
    /// <returns>False: not all of it has arrived.</returns>
    /// <exception cref="RespException">These bytes are no such answer, whatever follows.</exception>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out RespReply reply, out int length)
    {
        reply = default;
        length = 0;
        if (bytes.IsEmpty)
        {
            return false;
        }

        var kind = bytes[0] switch
        {
            (byte)'+' => RespKind.Simple,
            (byte)'-' => RespKind.Error,
            (byte)'$' => RespKind.Bulk,
            _ => throw new RespException($"an answer that begins with byte 0x{bytes[0]:x2}, which is no text and no error"),
        };
        if (!TryLine(bytes[1..], kind == RespKind.Bulk ? 10 : TextMax, out var line))
        {
            return false;
        }

        length = 1 + line.Length + 2;
        if (kind != RespKind.Bulk)
        {
            reply = new RespReply(kind, line);
            return true;
        }

        var rest = bytes[length..];
        var size = Size(line);
        if (rest.Length < size + 2)
        {
            // The text's end shows a wrong length as soon as one byte of it is there.
            CheckEnd(rest.Length > size ? rest[size..] : default);
            return false;
        }

        CheckEnd(rest.Slice(size, 2));
        reply = new RespReply(kind, rest[..size]);
        length += size + 2;
        return true;
    }

    private static bool TryLine(ReadOnlySpan<byte> bytes, int max, out ReadOnlySpan<byte> line)
    {
        line = default;
        var end = bytes.IndexOfAny((byte)'\r', (byte)'\n');
        if ((end < 0 ? bytes.Length : end) > max)
        {
            throw new RespException($"a line of more than {max} bytes");
        }

        if (end < 0 || (bytes[end] == '\r' && end + 1 == bytes.Length))
        {
            return false;
        }

        CheckEnd(bytes.Slice(end, bytes[end] == '\r' ? 2 : 1));
        line = bytes[..end];
        return true;
    }

    private static int Size(ReadOnlySpan<byte> line)
    {
        // The length has to be digits alone: the parser for numbers would take a sign, and -1 is Redis' word for nothing.
        if (line.IndexOfAnyExceptInRange((byte)'0', (byte)'9') >= 0 || !Utf8Parser.TryParse(line, out int size, out var digits) || digits != line.Length || size > TextMax)
        {
            throw new RespException($"a text whose length is not a number from 0 to {TextMax}");
        }

        return size;
    }

    private static void CheckEnd(ReadOnlySpan<byte> end)
    {
        if (!"\r\n"u8.StartsWith(end))
        {
            throw new RespException("a line that does not end with CR LF");
        }
    }
}

/// <summary>Redis, or something in its place, sent what is no answer to a command of ours. What was sent before has an unknown effect.</summary>
internal sealed class RespException(string what) : IOException($"Redis sent {what}; the connection is closed.");
