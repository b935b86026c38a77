using System.Text;
using Snapper.Testing.Histories;
using Snapper.Testing.Serializability;
using Snapper.Testing.Tests.Serializability;
using Xunit;

namespace Snapper.Testing.Tests.Histories;

public sealed class HistoryFileTests
{
    [Fact]
    public void A_history_survives_writing_and_reading()
    {
        var history = new History();
        new SerialHistories(7).Make(300).ForEach(history.Add);
        history.Add(new ObservedTransaction { Id = "odd \"id\"\n", Invoked = 1, Outcome = ObservedOutcome.Unknown, Operations = [MicroOperation.Append("k\u0000\U0001F600", long.MinValue)] });

        var first = Write(history);
        var second = Write(Read(first));

        Assert.Equal(first, second);
        Assert.Equal(1 + history.Count, first.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
        Assert.Contains("""{"id":"odd \u0022id\u0022\n","process":0,"invoked":1,"outcome":"unknown","attempts":1,"ops":[["append","k\u0000""", first, StringComparison.Ordinal);
    }

    [Fact]
    public void Only_the_required_fields_are_needed_and_info_takes_anything()
    {
        var history = Read("""
            {"id":"t1","invoked":0,"completed":1,"outcome":"committed","ops":[["append",7,1]],"info":{"node":["n1"]}}

            {"id":"t2","invoked":2,"completed":3,"outcome":"committed","mode":"act","parallel":true,"ops":[["r","7",[]],["r","8",null],["r","9"]]}
            """);

        Assert.Equal(2, history.Count);
        Assert.True(history[1].Parallel);
        Assert.Equal([AnomalyKind.LostAppend], SerializabilityChecker.Check(history).Counts.Keys);
    }

    [Theory]
    [InlineData("""{"id":"t1"}""", "\"invoked\" is missing")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"fine","ops":[]}""", "\"outcome\" is committed, aborted or unknown, found fine")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"committed","ops":[]}""", "no completion time")]
    [InlineData("""{"id":"t1","invoked":2,"completed":1,"outcome":"committed","ops":[]}""", "before it was invoked")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["append","k"]]}""", "operation 1: the value is a whole number of 64 bits, found nothing more")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["cas","k",1]]}""", "an operation is")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["append","k",1.5]]}""", "Line 3")]
    [InlineData("""{"id":"t1","invoked":"x","outcome":"unknown","ops":[]}""", "Line 3")]
    [InlineData("[1]", "expected an object, found an array")]
    [InlineData("{", "Line 3")]
    public void A_wrong_line_is_named_with_what_is_wrong(string line, string message)
    {
        var good = """{"id":"t0","invoked":0,"outcome":"aborted","ops":[]}""";

        var wrong = Assert.Throws<InvalidHistoryException>(() => Read($"{good}\n\n{line}\n"));

        Assert.StartsWith("Line 3: ", wrong.Message, StringComparison.Ordinal);
        Assert.Contains(message, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Bytes_that_are_not_text_are_refused()
    {
        using var stream = new MemoryStream([.. "{\"id\":\""u8, 0xFF, 0xFE, .. "\"}\n"u8]);

        Assert.Contains("not valid UTF-8", Assert.Throws<InvalidHistoryException>(() => HistoryFile.Read(stream)).Message, StringComparison.Ordinal);
    }

    private static string Write(History history)
    {
        using var stream = new MemoryStream();
        HistoryFile.Write(history, stream);
        return Encoding.UTF8.GetString(stream.ToArray());
    }

    private static History Read(string text)
    {
        using var stream = new MemoryStream(Encoding.UTF8.GetBytes(text));
        return HistoryFile.Read(stream);
    }
}
