using System.Buffers;
using System.Text.Json;

namespace Snapper.Judging.Histories;

/// <summary>
/// Histories as JSON lines, so that runs can be kept, and runs of other systems judged. The format is described in <c>docs/histories.md</c>:
/// </summary>
/// <remarks>
/// <code>
/// {"snapper-history":1}
/// {"id":"t1","process":3,"invoked":1000,"completed":1850,"outcome":"committed","mode":"pact","attempts":1,"ops":[["append","k7",3],["r","k9",[1,2]]]}
/// </code>
/// A line is read, judged and forgotten before the next one, so a file may be larger than memory.
/// </remarks>
public static class HistoryFile
{
    /// <summary>The version of the format that is written, and the only one that is read.</summary>
    public const int FormatVersion = 1;

    /// <summary>The longest line that is read, in bytes.</summary>
    public const int LongestLine = 256 << 20;

    /// <summary>Reads a whole history.</summary>
    /// <exception cref="InvalidHistoryException">A line is not what the format asks for; the message names the line and what is wrong with it.</exception>
    /// <exception cref="IOException">The stream cannot be read.</exception>
    public static History Read(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        var history = new History();
        var ids = new HashSet<string>();
        var parser = new HistoryLineParser();
        using var lines = new LineReader(stream, LongestLine);
        var isFirst = true;
        while (lines.Next())
        {
            try
            {
                if (lines.TooLong)
                {
                    throw new FormatException($"the line is longer than {LongestLine} bytes.");
                }

                if (lines.IsBlank || (HistoryLineParser.IsHeader(lines.Line) && ReadHeader(lines.Line, ref isFirst)))
                {
                    continue;
                }

                isFirst = false;
                var transaction = parser.Parse(lines.Line);
                if (!ids.Add(transaction.Id))
                {
                    throw new FormatException($"the id \"{transaction.Id}\" was used on an earlier line; ids are unique in a history.");
                }

                history.Add(transaction, lines.Number);
            }
            catch (Exception wrong) when (wrong is FormatException or InvalidHistoryException)
            {
                throw new InvalidHistoryException($"Line {lines.Number}: {wrong.Message}", wrong);
            }
        }

        return history;
    }

    /// <summary>Reads a whole history from a file.</summary>
    /// <inheritdoc cref="Read(Stream)" path="/exception"/>
    public static History Read(string path)
    {
        using var stream = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0, FileOptions.SequentialScan);
        return Read(stream);
    }

    /// <summary>Writes a whole history: the version line, then one line per transaction in the order of adding.</summary>
    public static void Write(History history, Stream stream)
    {
        ArgumentNullException.ThrowIfNull(history);
        ArgumentNullException.ThrowIfNull(stream);
        stream.Write("{\"snapper-history\":1}\n"u8);
        var buffer = new ArrayBufferWriter<byte>(4096);
        using var json = new Utf8JsonWriter(buffer);
        for (var index = 0; index < history.Count; index++)
        {
            HistoryLineWriter.Write(history[index], json);
            json.Flush();
            json.Reset();
            buffer.Write("\n"u8);
            stream.Write(buffer.WrittenSpan);
            buffer.ResetWrittenCount();
        }
    }

    /// <summary>Writes a whole history to a file, replacing what is there.</summary>
    public static void Write(History history, string path)
    {
        using var stream = File.Create(path);
        Write(history, stream);
    }

    private static bool ReadHeader(ReadOnlySpan<byte> line, ref bool isFirst)
    {
        if (!isFirst)
        {
            throw new FormatException("the line with \"snapper-history\" is the first of a file or is not there.");
        }

        isFirst = false;
        HistoryLineParser.CheckHeader(line);
        return true;
    }
}
