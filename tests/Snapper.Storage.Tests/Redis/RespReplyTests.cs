using System.Text;
using Snapper.Storage.Redis;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

public sealed class RespReplyTests
{
    [Theory]
    [InlineData("+OK\r\n", "Simple", "OK")]
    [InlineData("+\r\n", "Simple", "")]
    [InlineData("-NOSCRIPT No matching script.\r\n", "Error", "NOSCRIPT No matching script.")]
    [InlineData("$2\r\nOK\r\n", "Bulk", "OK")]
    [InlineData("$0\r\n\r\n", "Bulk", "")]
    [InlineData("$4\r\n\r\n\r\n\r\n", "Bulk", "\r\n\r\n")]
    [InlineData("$12\r\nFENCED epoch\r\n", "Bulk", "FENCED epoch")]
    public void An_answer_cut_at_any_point_waits_for_the_rest(string answer, string kind, string text)
    {
        var bytes = Encoding.Latin1.GetBytes(answer);
        for (var cut = 0; cut < bytes.Length; cut++)
        {
            Assert.False(RespReply.TryRead(bytes.AsSpan(0, cut), out _, out _), $"complete after {cut} bytes");
        }

        foreach (var behind in new[] { "", "$", "+OK\r\n", "\0" })
        {
            Assert.True(RespReply.TryRead([.. bytes, .. Encoding.Latin1.GetBytes(behind)], out var reply, out var length));
            Assert.Equal((kind, text, bytes.Length), (reply.Kind.ToString(), Encoding.Latin1.GetString(reply.Text), length));
        }
    }

    [Theory]
    [InlineData(":1\r\n", 1)]
    [InlineData("*1\r\n", 1)]
    [InlineData("HTTP/1.1 400 Bad Request\r\n", 1)]
    [InlineData("\0", 1)]
    [InlineData("+OK\n", 4)]
    [InlineData("+OK\rx", 5)]
    [InlineData("$-1\r\n", 5)]
    [InlineData("$+2\r\nOK\r\n", 5)]
    [InlineData("$\r\n", 3)]
    [InlineData("$2x\r\nOK\r\n", 5)]
    [InlineData("$32769\r\n", 8)]
    [InlineData("$99999999999\r\n", 12)]
    [InlineData("$2\r\nOKx\n", 7)]
    [InlineData("$2\r\nOK\rx", 8)]
    public void What_is_no_answer_is_told_at_the_byte_that_shows_it(string bytes, int shownBy)
    {
        var all = Encoding.Latin1.GetBytes(bytes);
        for (var cut = 0; cut < shownBy; cut++)
        {
            Assert.False(RespReply.TryRead(all.AsSpan(0, cut), out _, out _), $"complete after {cut} bytes");
        }

        for (var cut = shownBy; cut <= all.Length; cut++)
        {
            Assert.Throws<RespException>(() => RespReply.TryRead(all.AsSpan(0, cut), out _, out _));
        }
    }

    [Fact]
    public void The_longest_text_fits_and_a_longer_line_does_not()
    {
        byte[] longest = [.. Encoding.ASCII.GetBytes($"${RespReply.TextMax}\r\n"), .. new byte[RespReply.TextMax], 13, 10];
        Assert.True(RespReply.TryRead(longest, out var reply, out var length));
        Assert.Equal((RespReply.TextMax, longest.Length), (reply.Text.Length, length));
        Assert.True(longest.Length <= RespReply.BytesMax);

        var line = Enumerable.Repeat((byte)'-', RespReply.TextMax + 1).ToArray();
        Assert.False(RespReply.TryRead(line, out _, out _));
        Assert.Throws<RespException>(() => RespReply.TryRead([.. line, (byte)'x'], out _, out _));
    }

    [Fact]
    public void More_bytes_never_change_what_fewer_have_shown()
    {
        var random = new Random(20240611);
        var alphabet = "+-$:*0129OK\r\n\r\nx"u8.ToArray();
        var (whole, broken) = (0, 0);
        for (var round = 0; round < 200_000; round++)
        {
            var bytes = new byte[random.Next(1, 14)];
            bytes[0] = "+-$"u8[random.Next(3)];
            for (var i = 1; i < bytes.Length; i++)
            {
                bytes[i] = alphabet[random.Next(alphabet.Length)];
            }

            var before = "more";
            for (var cut = 0; cut <= bytes.Length; cut++)
            {
                var now = Outcome(bytes.AsSpan(0, cut));
                Assert.True(before == "more" || before == now, $"{Convert.ToHexString(bytes)} cut at {cut}: {before}, then {now}");
                before = now;
            }

            whole += before.StartsWith("answer", StringComparison.Ordinal) ? 1 : 0;
            broken += before == "broken" ? 1 : 0;
        }

        Assert.True(whole > 1000 && broken > 1000, $"{whole} whole, {broken} broken: the bytes try too little");
    }

    private static string Outcome(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return RespReply.TryRead(bytes, out var reply, out var length) ? $"answer {reply.Kind} {Convert.ToHexString(reply.Text)} {length}" : "more";
        }
        catch (RespException)
        {
            return "broken";
        }
    }
}
