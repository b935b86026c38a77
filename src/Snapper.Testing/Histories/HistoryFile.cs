using System.Buffers;
using System.Text;
using System.Text.Json;

namespace Snapper.Testing.Histories;

/// <summary>Histories as JSON lines, so that runs can be kept, and runs of other systems judged.</summary>
/// <remarks>
/// One JSON object per line, UTF-8, one line per transaction, in any order; empty lines are skipped:
/// <code>
/// {"id":"t1","process":3,"invoked":1000,"completed":1850,"outcome":"committed","mode":"pact","attempts":1,"ops":[["append","k7",3],["r","k9",[1,2]]]}
/// </code>
/// <list type="bullet">
/// <item><c>id</c> (string), <c>invoked</c> (integer), <c>outcome</c> and <c>ops</c> are required; unknown fields are ignored.</item>
/// <item><c>outcome</c>: <c>committed</c>, <c>aborted</c> or <c>unknown</c> (no answer, or in doubt).</item>
/// <item><c>invoked</c>, <c>completed</c>: ticks of one monotonic clock shared by all processes, in any unit. <c>completed</c> is required when committed,
/// otherwise it may be missing or null. An equal pair (one's completion, the other's invocation) orders nothing.</item>
/// <item><c>ops</c>: <c>["append", key, integer]</c> or <c>["r", key, [integers]]</c>; the list is null or missing when the client never saw it.
/// Keys are strings, or integers, which are taken as their text. A value is appended to a key at most once in a history.</item>
/// <item><c>process</c> (integer, 0), <c>mode</c> (<c>pact</c> or <c>act</c>), <c>attempts</c> (integer, 1) and <c>parallel</c> (true: the operations were issued at once) may be missing.</item>
/// </list>
/// </remarks>
public static class HistoryFile
{
    /// <summary>Reads a whole history.</summary>
    /// <exception cref="InvalidHistoryException">A line is not such an object; the message names the line and what is wrong with it.</exception>
    public static History Read(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        var history = new History();
        using var reader = new StreamReader(stream, new UTF8Encoding(false, throwOnInvalidBytes: true), leaveOpen: true);
        var lineNumber = 0L;
        while (NextLine(reader, ++lineNumber) is { } line)
        {
            if (string.IsNullOrWhiteSpace(line))
            {
                continue;
            }

            try
            {
                history.Add(HistoryLine.Parse(line));
            }
            catch (Exception wrong) when (wrong is JsonException or InvalidOperationException or FormatException or InvalidHistoryException)
            {
                throw new InvalidHistoryException($"Line {lineNumber}: {wrong.Message}", wrong);
            }
        }

        return history;
    }

    /// <summary>Reads a whole history from a file.</summary>
    /// <inheritdoc cref="Read(Stream)" path="/exception"/>
    public static History Read(string path)
    {
        using var stream = File.OpenRead(path);
        return Read(stream);
    }

    /// <summary>Writes a whole history, one line per transaction, in the order of adding.</summary>
    public static void Write(History history, Stream stream)
    {
        ArgumentNullException.ThrowIfNull(history);
        ArgumentNullException.ThrowIfNull(stream);
        var buffer = new ArrayBufferWriter<byte>(4096);
        using var json = new Utf8JsonWriter(buffer);
        for (var index = 0; index < history.Count; index++)
        {
            HistoryLine.Write(history[index], json);
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

    private static string? NextLine(StreamReader reader, long lineNumber)
    {
        try
        {
            return reader.ReadLine();
        }
        catch (DecoderFallbackException wrong)
        {
            throw new InvalidHistoryException($"Line {lineNumber} or a later one is not valid UTF-8: {wrong.Message}", wrong);
        }
    }
}
