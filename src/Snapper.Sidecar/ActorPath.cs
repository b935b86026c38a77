using System.Buffers;
using System.Globalization;
using System.Text;

namespace Snapper.Sidecar;

/// <summary>How actor types, ids and method names travel in the paths of Dapr's HTTP API.</summary>
/// <remarks>
/// daprd decodes a path once, keeps the decoded id, and writes that id into the app's callback path, where it is decoded
/// again. Ids with <c>/</c>, <c>?</c>, <c>#</c>, <c>\</c> or control characters it refuses (400), and a <c>%</c> it writes as it is, which breaks the
/// callback or changes the id. So a caller encodes an id with such characters twice (<see cref="EncodeId"/>): the id that
/// daprd then sees is plain, and the app's decoding restores the original. All other ids look as they do for any Dapr client.
/// </remarks>
public static class ActorPath
{
    private const string Hex = "0123456789ABCDEF";

    private static readonly SearchValues<char> Unreserved =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");

    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>The path segment that makes <paramref name="id"/> arrive exactly at the app, through daprd and the stand-in alike.</summary>
    /// <exception cref="ArgumentException">
    /// The id is empty, has a lone surrogate, which UTF-8 cannot carry, or the character U+0000, which HTTP servers refuse in a path however it is encoded.
    /// </exception>
    public static string EncodeId(string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        if (id.Contains('\0', StringComparison.Ordinal))
        {
            throw new ArgumentException("The actor id has the character U+0000; no HTTP path can carry it.", nameof(id));
        }

        if (id.AsSpan().IndexOfAnyExcept(Unreserved) < 0 && id is not ("." or ".."))
        {
            return id;
        }

        return Encode(NeedsSecondEncoding(id) ? Encode(id) : id);
    }

    /// <summary>Percent-encodes everything but unreserved characters; for names that hold nothing that daprd refuses.</summary>
    /// <exception cref="ArgumentException">The text is empty or has a lone surrogate.</exception>
    public static string EncodeName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return name.AsSpan().IndexOfAnyExcept(Unreserved) < 0 ? name : Encode(name);
    }

    /// <summary>Decodes one path segment.</summary>
    /// <param name="segment">The segment as it stood in the request line.</param>
    /// <param name="text">The decoded text.</param>
    /// <returns>False: a <c>%</c> without two hexadecimal digits, or bytes that are not UTF-8.</returns>
    public static bool TryDecode(ReadOnlySpan<char> segment, out string text)
    {
        if (segment.IndexOf('%') < 0 && Ascii.IsValid(segment))
        {
            text = segment.ToString();
            return true;
        }

        text = "";
        var limit = StrictUtf8.GetMaxByteCount(segment.Length);
        var rented = ArrayPool<byte>.Shared.Rent(limit);
        try
        {
            var length = 0;
            for (var i = 0; i < segment.Length; i++)
            {
                if (segment[i] != '%')
                {
                    // Raw text beyond ASCII is no valid request line; no client that encodes properly sends it.
                    if (segment[i] > 0x7F)
                    {
                        return false;
                    }

                    rented[length++] = (byte)segment[i];
                    continue;
                }

                if (i + 2 >= segment.Length || !byte.TryParse(segment.Slice(i + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out rented[length]))
                {
                    return false;
                }

                length++;
                i += 2;
            }

            text = StrictUtf8.GetString(rented, 0, length);
            return true;
        }
        catch (DecoderFallbackException)
        {
            return false;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    /// <summary>
    /// The name that a decoded segment stands for where a name is escaped once: of <c>.</c> and <c>..</c>, which every HTTP stack on the way takes for another path, escaped or not, the dots are
    /// escaped twice, so that <c>%2E</c> and <c>%2E%2E</c> are left here.
    /// </summary>
    public static string WithDots(string decoded) => IsEscapedDots(decoded) ? decoded.Length == 3 ? "." : ".." : decoded;

    /// <summary>It is <c>%2E</c> or <c>%2E%2E</c>, which no name may be, since it stands for dots.</summary>
    public static bool IsEscapedDots(ReadOnlySpan<char> name) => name.Equals("%2E", StringComparison.OrdinalIgnoreCase) || name.Equals("%2E%2E", StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Whether a letter, a digit, <c>-</c>, <c>_</c>, <c>~</c> or a <c>.</c> that is not of a dot segment is escaped. Who encodes a name leaves
    /// them, so the escape was part of the name, and what it decodes to is another one.
    /// </summary>
    internal static bool HasNeedlessEscape(ReadOnlySpan<char> segment)
    {
        if (IsEscapedDots(segment))
        {
            return false;
        }

        for (var at = segment.IndexOf('%'); at >= 0 && at + 2 < segment.Length; at++)
        {
            if (segment[at] == '%'
                && byte.TryParse(segment.Slice(at + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var value)
                && Unreserved.Contains((char)value))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether daprd would refuse a (decoded) actor type or id with this character.</summary>
    internal static bool IsForbiddenByDapr(char c) => c is '/' or '?' or '#' or '\\' or '\0';

    private static bool NeedsSecondEncoding(string id)
    {
        // Every HTTP stack on the way removes dot segments, encoded or not.
        if (id is "." or "..")
        {
            return true;
        }

        foreach (var c in id)
        {
            if (c == '%' || IsForbiddenByDapr(c) || char.IsControl(c))
            {
                return true;
            }
        }

        return false;
    }

    private static string Encode(string text)
    {
        if (text is "." or "..")
        {
            return text.Replace(".", "%2E", StringComparison.Ordinal);
        }

        byte[] bytes;
        try
        {
            bytes = StrictUtf8.GetBytes(text);
        }
        catch (EncoderFallbackException)
        {
            throw new ArgumentException("The name has a lone surrogate; UTF-8 cannot carry it.", nameof(text));
        }

        var builder = new StringBuilder(bytes.Length * 2);
        foreach (var b in bytes)
        {
            if (b < 0x80 && Unreserved.Contains((char)b))
            {
                builder.Append((char)b);
            }
            else
            {
                builder.Append('%').Append(Hex[b >> 4]).Append(Hex[b & 15]);
            }
        }

        return builder.ToString();
    }
}
