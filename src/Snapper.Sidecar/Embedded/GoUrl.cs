using System.Buffers;
using System.Globalization;
using System.Text;

namespace Snapper.Sidecar.Embedded;

/// <summary>How daprd, written in Go, reads and writes URLs: where that loses something, callers of the stand-in meet the same loss.</summary>
internal static class GoUrl
{
    // What Go leaves as it is in a path that it encodes itself, and what it accepts beyond that in one that is encoded already.
    private static readonly SearchValues<char> Plain =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@");

    private static readonly SearchValues<char> PlainOrEncoded =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@!'()*[]%");

    /// <summary>Decodes one segment of the API's path; <c>+</c> is a space there.</summary>
    /// <returns>False with the broken escape.</returns>
    public static bool TryUnescape(string segment, out string text, out string? brokenEscape) =>
        TryDecode(segment.Replace('+', ' '), out text, out brokenEscape);

    /// <summary>
    /// Turns a decoded callback path into the one on the wire. A <c>%</c> in it is taken for an escape.
    /// </summary>
    /// <returns>False with the broken escape.</returns>
    public static bool TryEscapePath(string path, out string escaped, out string? brokenEscape)
    {
        if (!TryDecode(path, out var decoded, out brokenEscape))
        {
            escaped = "";
            return false;
        }

        escaped = path.AsSpan().IndexOfAnyExcept(PlainOrEncoded) < 0 ? path : Escape(decoded);
        return true;
    }

    private static bool TryDecode(string text, out string decoded, out string? brokenEscape)
    {
        decoded = text;
        brokenEscape = null;
        if (!text.Contains('%', StringComparison.Ordinal))
        {
            return true;
        }

        var bytes = new List<byte>(text.Length);
        Span<byte> utf8 = stackalloc byte[4];
        for (var i = 0; i < text.Length;)
        {
            if (text[i] == '%')
            {
                if (i + 3 > text.Length || !byte.TryParse(text.AsSpan(i + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var value))
                {
                    brokenEscape = text.Substring(i, Math.Min(3, text.Length - i));
                    return false;
                }

                bytes.Add(value);
                i += 3;
                continue;
            }

            Rune.DecodeFromUtf16(text.AsSpan(i), out var rune, out var consumed);
            bytes.AddRange(utf8[..rune.EncodeToUtf8(utf8)]);
            i += consumed;
        }

        decoded = Encoding.UTF8.GetString([.. bytes]);
        return true;
    }

    private static string Escape(string path)
    {
        var builder = new StringBuilder(path.Length * 2);
        foreach (var b in Encoding.UTF8.GetBytes(path))
        {
            if (b < 0x80 && Plain.Contains((char)b))
            {
                builder.Append((char)b);
            }
            else
            {
                builder.Append(CultureInfo.InvariantCulture, $"%{b:X2}");
            }
        }

        return builder.ToString();
    }
}
