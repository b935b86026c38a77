using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Judging.Histories;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>
/// Histories as text, one transaction per line: <c>id invoked..completed [aborted|unknown] [parallel]: append k 1; read k [1 2]; read k</c>.
/// </summary>
internal static partial class Script
{
    public static History Parse(string text)
    {
        var history = new History();
        foreach (var line in text.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            history.Add(ParseLine(line));
        }

        return history;
    }

    private static ObservedTransaction ParseLine(string line)
    {
        var match = Line().Match(line);
        if (!match.Success)
        {
            throw new FormatException($"Not a transaction: {line}");
        }

        return new ObservedTransaction
        {
            Id = match.Groups["id"].Value,
            Invoked = Number(match.Groups["invoked"].Value),
            Completed = match.Groups["completed"].Value is "" ? null : Number(match.Groups["completed"].Value),
            Outcome = match.Groups["flags"].Value switch
            {
                var flags when flags.Contains("aborted", StringComparison.Ordinal) => ObservedOutcome.Aborted,
                var flags when flags.Contains("unknown", StringComparison.Ordinal) => ObservedOutcome.Unknown,
                _ => ObservedOutcome.Committed,
            },
            Parallel = match.Groups["flags"].Value.Contains("parallel", StringComparison.Ordinal),
            Operations = [.. match.Groups["ops"].Value.Split(';', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Select(ParseOperation)],
        };
    }

    private static MicroOperation ParseOperation(string text)
    {
        var words = text.Split(' ', 3);
        return words[0] switch
        {
            "append" => MicroOperation.Append(words[1], Number(words[2])),
            "read" when words.Length == 2 => MicroOperation.UnseenRead(words[1]),
            "read" => MicroOperation.Read(words[1], [.. words[2].Trim('[', ']').Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(Number)]),
            _ => throw new FormatException($"Not an operation: {text}"),
        };
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^(?<id>\S+) +(?<invoked>\d+)\.\.(?<completed>\d*)(?<flags>[a-z ]*): *(?<ops>.*)$")]
    private static partial Regex Line();
}
