using System.Text;
using Snapper.Fuzzing.Engine;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Fuzzing.Text;

/// <summary>Histories of others, as <c>./snapper verify --history</c> reads them.</summary>
/// <remarks>Oracle: a history or <see cref="InvalidHistoryException"/> with a line; what was read is written and read to the same again, and can be judged.</remarks>
internal sealed class HistoryTarget : FuzzTarget
{
    private static readonly string[] Values =
    [
        "null", "true", "[]", "{}", "\"\"", "1.5", "1e999", "-0", "9223372036854775808", "\"\\ud800\"", "\"\\u0000\"", "[[]]", "{\"a\":1}", "\"append\"", "[\"r\",\"k\"]", "[\"r\",\"k\",null]", "[\"w\",\"k\",[1]]",
    ];

    public override string Name => "history";

    public override string Attacks => "JSON lines that the judge reads (--history)";

    public override bool IsText => true;

    public override int ShortRun => 5_000;

    public override byte[] Generate(Random random)
    {
        var text = new StringBuilder(random.Percent(80) ? "{\"snapper-history\":1}\n" : "");
        for (var i = random.Next(1, 6); i > 0; i--)
        {
            text.Append(Line(i, random)).Append('\n');
        }

        return Pieces.Bytes(text.ToString());
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        if (random.Percent(40))
        {
            return Pieces.Break(input, other, random);
        }

        var lines = Encoding.UTF8.GetString(input).Split('\n').ToList();
        var theirs = Encoding.UTF8.GetString(other).Split('\n');
        var at = random.Next(lines.Count);
        switch (random.Next(5))
        {
            case 0: lines.Insert(at, random.One(theirs)); break;
            case 1: lines.Insert(at, lines[random.Next(lines.Count)]); break;
            case 2: lines[at] = Swap(lines[at], random); break;
            case 3: lines[at] = lines[at].Replace("\"ops\"", random.One("\"opps\"", "\"id\"", "\"\\u006fps\"", "\"info\""), StringComparison.Ordinal); break;
            default: lines.Insert(at, Line(random.Next(9), random)); break;
        }

        return Pieces.Bytes(string.Join('\n', lines));
    }

    public override string Run(byte[] input)
    {
        History history;
        try
        {
            history = HistoryFile.Read(new MemoryStream(input));
        }
        catch (InvalidHistoryException wrong)
        {
            return wrong.Message.StartsWith("Line ", StringComparison.Ordinal)
                ? wrong.Message
                : throw new FuzzFailureException($"The message names no line: {wrong.Message}");
        }

        using var written = new MemoryStream();
        HistoryFile.Write(history, written);
        var again = HistoryFile.Read(new MemoryStream(written.ToArray()));
        using var twice = new MemoryStream();
        HistoryFile.Write(again, twice);
        if (!written.ToArray().AsSpan().SequenceEqual(twice.ToArray()))
        {
            throw new FuzzFailureException("The history that was read is written, read and written as another one.");
        }

        try
        {
            var report = SerializabilityChecker.Check(history, new CheckOptions());
            return $"judged {report.ToString().Split('\n')[0]}";
        }
        catch (InvalidHistoryException senseless)
        {
            return "senseless: " + senseless.Message;
        }
    }

    private static string Line(int id, Random random)
    {
        var ops = new List<string>();
        for (var i = random.Next(4); i > 0; i--)
        {
            var key = random.One("k1", "k2", "k/3");
            ops.Add(random.Next(5) switch
            {
                0 => $"[\"r\",\"{key}\",[{random.One("", "1", "1,2", "2,1")}]]",
                1 => $"[\"r\",\"{key}\",{random.One("1", "null", "\"x\"")}]",
                2 => $"[\"w\",\"{key}\",{random.Next(4)}]",
                3 => random.One(Values),
                _ => $"[\"append\",\"{key}\",{random.Next(1, 5)}]",
            });
        }

        var fields = new List<string>
        {
            $"\"id\":\"t{id}\"", $"\"process\":{random.Next(3)}", $"\"invoked\":{random.Next(100)}", $"\"completed\":{100 + random.Next(100)}",
            $"\"outcome\":\"{random.One("committed", "aborted", "inDoubt", "unknown")}\"", $"\"mode\":\"{random.One("pact", "act")}\"", $"\"ops\":[{string.Join(',', ops)}]",
        };
        if (random.Percent(20))
        {
            fields[random.Next(fields.Count)] = $"\"{random.One("id", "process", "invoked", "completed", "outcome", "mode", "ops", "attempts", "parallel", "info", "else")}\":{(random.Percent(50) ? random.One(Values) : Pieces.Number(random))}";
        }

        return "{" + string.Join(',', fields) + "}";
    }

    /// <summary>Puts another value behind one of the colons.</summary>
    private static string Swap(string line, Random random)
    {
        var colons = Enumerable.Range(0, line.Length).Where(i => line[i] == ':').ToArray();
        if (colons.Length == 0)
        {
            return line;
        }

        var from = colons[random.Next(colons.Length)] + 1;
        var to = line.IndexOfAny([',', '}'], from);
        return line[..from] + random.One(Values) + (to < 0 ? "" : line[to..]);
    }
}
