using System.Text.Json;
using System.Text.Unicode;

namespace Snapper.Judging.Histories;

/// <summary>Reads one line of a history file: one transaction, or the version of the format. Strict: what the format does not know is an error.</summary>
internal sealed class HistoryLineParser
{
    private const string Fields = "id, process, invoked, completed, outcome, mode, attempts, parallel, readsCount, ops and info";

    private readonly MicroOperationParser _operations = new();
    private readonly HashSet<string> _seen = [];

    /// <summary>True when the line's first field is the version of the format.</summary>
    public static bool IsHeader(ReadOnlySpan<byte> line)
    {
        line = line.TrimStart(" \t"u8);
        return line.StartsWith("{"u8) && line[1..].TrimStart(" \t"u8).StartsWith("\"snapper-history\""u8);
    }

    /// <exception cref="FormatException">It is no version line, or of another version.</exception>
    public static void CheckHeader(ReadOnlySpan<byte> line)
    {
        Guarded(line, static (ref Utf8JsonReader json) =>
        {
            JsonFields.ExpectObject(ref json);
            while (JsonFields.NextField(ref json) is { } name)
            {
                switch (name)
                {
                    case "snapper-history":
                        var version = JsonFields.Integer(ref json, name);
                        if (version != HistoryFile.FormatVersion)
                        {
                            throw new FormatException($"the history has version {version} of the format; this program reads version {HistoryFile.FormatVersion}.");
                        }

                        break;
                    case "info":
                        json.Skip();
                        break;
                    default:
                        throw new FormatException($"the version line has only snapper-history and info, found \"{JsonFields.Clip(name)}\".");
                }
            }

            return true;
        });
    }

    /// <exception cref="FormatException">It is no such line; the message says why.</exception>
    public ObservedTransaction Parse(ReadOnlySpan<byte> line) => Guarded(line, ParseTransaction);

    private ObservedTransaction ParseTransaction(ref Utf8JsonReader json)
    {
        string? id = null;
        long? invoked = null, completed = null;
        ObservedOutcome? outcome = null;
        List<MicroOperation>? operations = null;
        var (process, mode, attempts, parallel, readsCount) = (0, ObservedMode.Unspecified, 1, false, false);
        _seen.Clear();
        JsonFields.ExpectObject(ref json);
        while (JsonFields.NextField(ref json) is { } name)
        {
            if (!_seen.Add(name))
            {
                throw new FormatException($"\"{JsonFields.Clip(name)}\" is there twice.");
            }

            // Null is the same as not being there.
            if (json.TokenType == JsonTokenType.Null)
            {
                continue;
            }

            switch (name)
            {
                case "id": id = JsonFields.Text(ref json, name); break;
                case "process": process = JsonFields.Integer(ref json, name, int.MinValue, int.MaxValue); break;
                case "invoked": invoked = JsonFields.Integer(ref json, name); break;
                case "completed": completed = JsonFields.Integer(ref json, name); break;
                case "outcome": outcome = Outcome(JsonFields.Text(ref json, name)); break;
                case "mode": mode = Mode(JsonFields.Text(ref json, name)); break;
                case "attempts": attempts = JsonFields.Integer(ref json, name, 1, int.MaxValue); break;
                case "parallel": parallel = JsonFields.Truth(ref json, name); break;
                case "readsCount": readsCount = JsonFields.Truth(ref json, name); break;
                case "ops": operations = _operations.Parse(ref json); break;
                case "info": json.Skip(); break;
                default: throw new FormatException($"unknown field \"{JsonFields.Clip(name)}\"; the fields are {Fields} (which takes anything).");
            }
        }

        return new ObservedTransaction
        {
            Id = id ?? throw Missing("id"),
            Process = process,
            Invoked = invoked ?? throw Missing("invoked"),
            Completed = completed,
            Outcome = outcome ?? throw Missing("outcome"),
            Mode = mode,
            Attempts = attempts,
            Parallel = parallel,
            ReadsCount = readsCount,
            Operations = operations ?? throw Missing("ops"),
        };
    }

    private delegate T Read<out T>(ref Utf8JsonReader json);

    private static T Guarded<T>(ReadOnlySpan<byte> line, Read<T> read)
    {
        if (!Utf8.IsValid(line))
        {
            throw new FormatException("the line is not valid UTF-8.");
        }

        var json = new Utf8JsonReader(line);
        try
        {
            json.Read();
            var result = read(ref json);

            // Something behind the object is found only by asking for it.
            json.Read();
            return result;
        }
        catch (JsonException wrong)
        {
            var end = wrong.Message.IndexOf(" LineNumber:", StringComparison.Ordinal);
            throw new FormatException($"not valid JSON at byte {wrong.BytePositionInLine}: {(end < 0 ? wrong.Message : wrong.Message[..end])}", wrong);
        }
        catch (InvalidOperationException wrong)
        {
            throw new FormatException($"near byte {json.TokenStartIndex}: {wrong.Message}", wrong);
        }
    }

    private static FormatException Missing(string name) => new($"\"{name}\" is missing.");

    private static ObservedOutcome Outcome(string text) => text switch
    {
        "committed" => ObservedOutcome.Committed,
        "aborted" => ObservedOutcome.Aborted,
        "unknown" => ObservedOutcome.Unknown,
        _ => throw new FormatException($"\"outcome\" is committed, aborted or unknown, found {JsonFields.Clip(text)}."),
    };

    private static ObservedMode Mode(string text) => text switch
    {
        "pact" => ObservedMode.Pact,
        "act" => ObservedMode.Act,
        _ => throw new FormatException($"\"mode\" is pact or act, found {JsonFields.Clip(text)}."),
    };
}
