using System.Text;

namespace Snapper.Fuzzing.Engine;

/// <summary>Tells outcomes apart that differ in more than their numbers and the caller's own words.</summary>
internal static class Signature
{
    private const int LengthMax = 160;

    /// <summary>The words with runs of digits, and what stands in quotes, taken out.</summary>
    public static string Of(string outcome)
    {
        var text = new StringBuilder(Math.Min(outcome.Length, LengthMax));
        char? quote = null;
        foreach (var c in outcome)
        {
            if (text.Length >= LengthMax)
            {
                break;
            }

            if (quote is { } open)
            {
                quote = c == open ? null : quote;
                continue;
            }

            if (c is '\'' or '"')
            {
                quote = c;
                text.Append('…');
            }
            else if (!char.IsDigit(c))
            {
                text.Append(c);
            }
            else if (text.Length == 0 || text[^1] != '#')
            {
                text.Append('#');
            }
        }

        return text.ToString();
    }

    /// <summary>A failure's words: what distinguishes one bug from another while an input shrinks.</summary>
    public static string Of(Exception failure)
    {
        var where = failure is FuzzFailureException ? "" : failure.StackTrace?.Split('\n').FirstOrDefault(line => line.Contains("Snapper.", StringComparison.Ordinal))?.Trim() ?? "";
        var at = where.IndexOf(" in ", StringComparison.Ordinal);
        return $"{failure.GetType().Name}: {Of(failure.Message)} {(at < 0 ? where : where[..at])}";
    }
}
