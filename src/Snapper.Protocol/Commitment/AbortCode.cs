namespace Snapper.Protocol.Commitment;

/// <summary>What programs read of an abort that the application has given a code.</summary>
/// <param name="Code">The code; <see cref="IsCode"/>.</param>
/// <param name="Details">JSON that goes with it, at most <see cref="MostBytes"/> bytes; null: none.</param>
public sealed record AbortCode(string Code, string? Details)
{
    /// <summary>Longest code.</summary>
    public const int LongestCode = 64;

    /// <summary>Most bytes of the details, as UTF-8.</summary>
    public const int MostBytes = 4 * 1024;

    // No message has it: it is replaced there.
    private const char Separator = '\0';

    /// <summary>1 to 64 characters, each a lower-case letter, a digit or <c>_</c>.</summary>
    public static bool IsCode(ReadOnlySpan<char> code)
    {
        foreach (var c in code)
        {
            if (c is not ((>= 'a' and <= 'z') or (>= '0' and <= '9') or '_'))
            {
                return false;
            }
        }

        return code.Length is >= 1 and <= LongestCode;
    }

    /// <summary>
    /// Message, code and details as one text: how an abort stands in the log, and goes from worker to worker. A version
    /// that knows no codes reads all of it as the message.
    /// </summary>
    /// <param name="message">The message.</param>
    /// <param name="code">Null: it has none.</param>
    public static string Join(string message, AbortCode? code) =>
        code is null ? WithoutSeparator(message)
            : $"{WithoutSeparator(message)}{Separator}{code.Code}{Separator}{code.Details}";

    /// <summary>
    /// The parts of a text that <see cref="Join"/> has made, or of one that an earlier version wrote: that is the
    /// message.
    /// </summary>
    public static (string Message, AbortCode? Code) Split(string text)
    {
        var first = text.IndexOf(Separator, StringComparison.Ordinal);
        var second = first < 0 ? -1 : text.IndexOf(Separator, first + 1);
        if (second < 0 || !IsCode(text.AsSpan(first + 1, second - first - 1)))
        {
            return (text, null);
        }

        var details = text[(second + 1)..];
        return (text[..first], new AbortCode(text[(first + 1)..second], details.Length == 0 ? null : details));
    }

    /// <summary>The text without what separates its parts from each other.</summary>
    public static string WithoutSeparator(string text) => text.Contains(Separator, StringComparison.Ordinal)
        ? text.Replace(Separator, '\uFFFD') : text;
}
