using System.Text;

namespace Snapper.Benchmarks.Load;

/// <summary>Says what an HTTP answer means.</summary>
public interface IAnswerReader
{
    /// <summary>Counts the transactions of one answer.</summary>
    void Read(in HttpAnswer answer, int transactions, Tally tally);
}

/// <summary>Status 200 and a body that contains a mark: for plain calls.</summary>
public sealed class MarkedAnswers(string mark) : IAnswerReader
{
    private readonly byte[] mark = Encoding.UTF8.GetBytes(mark);

    /// <inheritdoc />
    public void Read(in HttpAnswer answer, int transactions, Tally tally)
    {
        if (answer.Status == 200 && answer.Body.Span.IndexOf(mark) >= 0)
        {
            tally.Commit(transactions);
        }
        else
        {
            tally.Error(AnswerText.Describe(answer), transactions);
        }
    }
}

/// <summary>Envelopes of the transaction doors, one or many per answer.</summary>
public sealed class EnvelopeAnswers : IAnswerReader
{
    private static ReadOnlySpan<byte> Committed => "\"outcome\":\"committed\""u8;

    private static ReadOnlySpan<byte> Aborted => "\"outcome\":\"aborted\""u8;

    /// <inheritdoc />
    public void Read(in HttpAnswer answer, int transactions, Tally tally)
    {
        if (answer.Status is not (200 or 409))
        {
            tally.Error(AnswerText.Describe(answer), transactions);
            return;
        }

        var body = answer.Body.Span;
        var committed = body.Count(Committed);
        tally.Commit(committed);
        if (committed == transactions)
        {
            return;
        }

        var aborted = 0;
        for (var rest = body; rest.IndexOf(Aborted) is var at and >= 0;)
        {
            rest = rest[(at + Aborted.Length)..];
            tally.Abort(AnswerText.Reason(rest));
            aborted++;
        }

        if (committed + aborted != transactions)
        {
            tally.Error(AnswerText.Describe(answer), Math.Max(1, transactions - committed - aborted));
        }
    }
}

internal static class AnswerText
{
    private const int TextMax = 160;

    public static string Describe(in HttpAnswer answer)
    {
        var body = answer.Body.Span;
        return $"HTTP {answer.Status} {Encoding.UTF8.GetString(body[..Math.Min(body.Length, TextMax)])}";
    }

    public static string Reason(ReadOnlySpan<byte> envelope)
    {
        var at = envelope.IndexOf("\"reason\":\""u8);
        if (at < 0)
        {
            return "unknown";
        }

        var text = envelope[(at + 10)..];
        var end = text.IndexOf((byte)'"');
        return end < 0 ? "unknown" : Encoding.UTF8.GetString(text[..end]);
    }
}
