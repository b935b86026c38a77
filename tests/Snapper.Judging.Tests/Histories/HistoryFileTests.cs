using System.Text;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;
using Snapper.Judging.Tests.Serializability;
using Xunit;

namespace Snapper.Judging.Tests.Histories;

public sealed class HistoryFileTests
{
    [Fact]
    public void A_history_survives_writing_and_reading()
    {
        var history = new History();
        new SerialHistories(7).Make(300).ForEach(history.Add);
        history.Add(new ObservedTransaction
        {
            Id = "refused", Invoked = 1, Completed = 2, Outcome = ObservedOutcome.Aborted, ReadsCount = true,
            Operations = [MicroOperation.Append("own", 1), MicroOperation.Read("own", 1), MicroOperation.Append("own", 2), MicroOperation.Read("own", 1, 2)],
        });
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
    [InlineData("""{"id":"t1","invoked":1,"completed":2,"outcome":"committed","readsCount":true,"ops":[]}""", "The reads of transaction t1 count, and it is not aborted")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"aborted","readsCount":true,"ops":[]}""", "The reads of transaction t1 count, and it is not completed")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["append","k"]]}""", "operation 1: the value is a whole number of 64 bits, found nothing more")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["cas","k",1]]}""", "an operation is")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["append","k",1.5]]}""", "Line 3")]
    [InlineData("""{"id":"t1","invoked":"x","outcome":"unknown","ops":[]}""", "Line 3")]
    [InlineData("""{"id":"t0","invoked":1,"outcome":"unknown","ops":[]}""", "the id \"t0\" was used on an earlier line")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[],"compelted":2}""", "unknown field \"compelted\"; the fields are id, process")]
    [InlineData("""{"id":"t1","id":"t2","invoked":1,"outcome":"unknown","ops":[]}""", "\"id\" is there twice")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["append","k",1,2]]}""", "found one field more, 2")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["r","k",[1],2]]}""", "found one field more, 2")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["r","k",[1,"a"]]]}""", "an element of a list is a whole number of 64 bits, found \"a\"")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["r","k",7]]}""", "operation 1: what \"r\" returned is a list of whole numbers or null, found 7")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["r","k"],["w","k",1],["append","k",1]]}""", "uses k as a list (Append); before, it was a register")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["w","k",0]]}""", "is at least 1 (0 is the key before its first write), found 0")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["rv","k",-1]]}""", "is at least 0, found -1")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[["rv",true,1]]}""", "a key is a string or a whole number, found true")]
    [InlineData("""{"id":"t1","invoked":1e30,"outcome":"unknown","ops":[]}""", "\"invoked\" is a whole number of 64 bits, found 1e30")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":{}}""", "\"ops\" is an array of operations, found an object")]
    [InlineData("""{"id":"t1","invoked":1,"attempts":0,"outcome":"unknown","ops":[]}""", "\"attempts\" is from 1 to")]
    [InlineData("""{"id":"\ud800","invoked":1,"outcome":"unknown","ops":[]}""", "near byte")]
    [InlineData("""{"id":"t1","invoked":1,"outcome":"unknown","ops":[]} {}""", "not valid JSON at byte")]
    [InlineData("""{"snapper-history":1}""", "is the first of a file")]
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

    [Theory]
    [InlineData("""{"snapper-history":2}""", "version 2 of the format; this program reads version 1")]
    [InlineData("""{"snapper-history":"1"}""", "is a whole number")]
    [InlineData("""{"snapper-history":1,"id":"t1"}""", "found \"id\"")]
    public void A_version_line_of_another_sort_is_refused(string line, string message)
    {
        var wrong = Assert.Throws<InvalidHistoryException>(() => Read(line));

        Assert.StartsWith("Line 1: ", wrong.Message, StringComparison.Ordinal);
        Assert.Contains(message, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_transaction_that_is_refused_leaves_nothing_behind()
    {
        var history = new History();
        var transaction = new ObservedTransaction { Id = "t1", Invoked = 1, Outcome = ObservedOutcome.Aborted, Operations = [MicroOperation.Append("x", 1), MicroOperation.Write("x", 1)] };
        Assert.Throws<InvalidHistoryException>(() => history.Add(transaction));

        history.Add(transaction with { Operations = [MicroOperation.Write("x", 1)] });

        Assert.Equal((1, 1), (history.Count, history.OperationCount));
        Assert.Equal("write x version 1", history[0].Operations[0].ToString());
    }

    [Fact]
    public void Registers_survive_writing_and_reading()
    {
        const string Text = """
            {"snapper-history":1}
            {"id":"t1","process":0,"invoked":0,"completed":1,"outcome":"committed","attempts":1,"ops":[["w","x",1,7],["rv","x",null,7],["w","y",2],["r","x",null]]}
            {"id":"t2","process":0,"invoked":0,"outcome":"unknown","attempts":1,"ops":[["w","x",null,9],["rv","y",0]]}

            """;

        Assert.Equal(Text.ReplaceLineEndings("\n"), Write(Read(Text)));
    }

    [Fact]
    public void Lines_may_be_cut_anywhere_and_end_in_any_way()
    {
        var text = "\uFEFF" + Write(SmallHistory(3)).Replace("\n", "\r\n", StringComparison.Ordinal).TrimEnd();
        using var drops = new DropByDrop(Encoding.UTF8.GetBytes(text));

        Assert.Equal(Write(SmallHistory(3)), Write(HistoryFile.Read(drops)));
    }

    [Fact]
    public void A_line_longer_than_the_buffer_is_read()
    {
        var list = string.Join(',', Enumerable.Range(1, 200_000));

        var history = Read($$"""{"id":"t1","invoked":1,"outcome":"aborted","ops":[["r","k",[{{list}}]]]}""" + "\n");

        Assert.Equal(200_000, history[0].Operations[0].List!.Count);
    }

    /// <summary>Whatever is done to a good file, it is read, or refused with the line.</summary>
    [Fact]
    public void Damaged_files_are_read_or_refused_and_never_crash_the_reader_or_the_checker()
    {
        string[] pieces = ["{", "}", "[", "]", ",", ":", "\"", "null", "-1", "1e9", "99999999999999999999", "\\u0000", "\\ud800", "\n", "\"ops\"", "[\"append\",\"k1\",1]", "[\"w\",\"k\",1]", "{\"snapper-history\":1}", "\uFEFF", "é"];
        var (read, refused) = (0, 0);
        for (var seed = 0; seed < 5_000; seed++)
        {
            var random = new Random(seed);
            var bytes = Encoding.UTF8.GetBytes(Write(SmallHistory(seed % 50))).ToList();
            for (var changes = 1 + random.Next(3); changes > 0; changes--)
            {
                var at = random.Next(bytes.Count);
                switch (random.Next(4))
                {
                    case 0: bytes[at] = (byte)random.Next(256); break;
                    case 1: bytes.RemoveRange(at, Math.Min(1 + random.Next(20), bytes.Count - at)); break;
                    case 2: bytes.InsertRange(at, Encoding.UTF8.GetBytes(pieces[random.Next(pieces.Length)])); break;
                    default: bytes[at] = (byte)"0123456789"[random.Next(10)]; break;
                }

                if (bytes.Count == 0)
                {
                    break;
                }
            }

            try
            {
                using var stream = new MemoryStream([.. bytes]);
                var history = HistoryFile.Read(stream);
                _ = SerializabilityChecker.Check(history).ToString();
                read++;
            }
            catch (InvalidHistoryException wrong)
            {
                Assert.NotEmpty(wrong.Message);
                refused++;
            }
        }

        Assert.True(read > 100 && refused > 1000, $"The test is lopsided: {read} read, {refused} refused.");
    }

    private static History SmallHistory(int seed)
    {
        var history = new History();
        new SerialHistories(seed) { Keys = 2, Processes = 3 }.Make(8).ForEach(history.Add);
        foreach (var transaction in SerialRegisters.Make(new Random(seed), 4, 2))
        {
            history.Add(transaction with { Id = "register " + transaction.Id });
        }

        return history;
    }

    /// <summary>A stream that gives one byte at a time.</summary>
    private sealed class DropByDrop(byte[] bytes) : MemoryStream(bytes)
    {
        public override int Read(byte[] buffer, int offset, int count) => base.Read(buffer, offset, Math.Min(1, count));
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
