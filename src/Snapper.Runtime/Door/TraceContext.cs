namespace Snapper.Runtime.Door;

/// <summary>W3C trace context as it comes in headers. What is not as the standard says counts as absent. Allocates nothing.</summary>
public static class TraceContext
{
    private const int TraceIdAt = 3; // version-traceid-spanid-flags
    private const int SpanIdAt = 36;
    private const int FlagsAt = 53;
    private const int Length = 55;

    /// <summary>Versions that do not exist yet may append something.</summary>
    private const int LengthMost = 128;

    private const int StateLengthMost = 512;

    /// <summary>A <c>traceparent</c> that counts.</summary>
    /// <param name="traceParent">The header; null: there is none.</param>
    public static bool IsValid(string? traceParent)
    {
        if (traceParent is not { Length: >= Length and <= LengthMost })
        {
            return false;
        }

        var text = traceParent.AsSpan();
        var version = text[..2];
        return text[2] == '-' && text[SpanIdAt - 1] == '-' && text[FlagsAt - 1] == '-'
            && IsHex(version) && version is not "ff" && (text.Length == Length || (version is not "00" && text[Length] == '-'))
            && IsId(text[TraceIdAt..(SpanIdAt - 1)]) && IsId(text[SpanIdAt..(FlagsAt - 1)]) && IsHex(text[FlagsAt..Length]);
    }

    /// <summary>The caller's sampled flag.</summary>
    /// <param name="traceParent">A <c>traceparent</c> that <see cref="IsValid"/>.</param>
    public static bool IsSampled(string traceParent) => traceParent[Length - 1] is '1' or '3' or '5' or '7' or '9' or 'b' or 'd' or 'f';

    /// <summary>A <c>tracestate</c> that may go along with a valid <c>traceparent</c>: 1 to 512 printable ASCII characters. Vendors read it, nobody here does.</summary>
    /// <param name="traceState">The header; null: there is none.</param>
    public static bool IsState(string? traceState) => traceState is { Length: > 0 and <= StateLengthMost } && !traceState.AsSpan().ContainsAnyExceptInRange(' ', '~');

    private static bool IsId(ReadOnlySpan<char> id) => IsHex(id) && id.ContainsAnyExcept('0');

    private static bool IsHex(ReadOnlySpan<char> text)
    {
        foreach (var c in text)
        {
            if (!char.IsAsciiHexDigitLower(c))
            {
                return false;
            }
        }

        return true;
    }
}
