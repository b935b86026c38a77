using System.Globalization;
using System.Text.RegularExpressions;
using Snapper.Server.Tests.Documentation;
using Xunit;

namespace Snapper.Server.Tests.Telemetry;

/// <summary>Event ids of log lines: each of one line alone, in the range of its folder in docs/telemetry.md.</summary>
public sealed partial class LogEventTests
{
    [Fact]
    public void Every_log_line_has_an_id_of_its_own_in_the_range_of_its_folder()
    {
        var ranges = Range().Matches(Tree.Read("docs", "telemetry.md"))
            .Select(row => (From: Number(row, 1), To: Number(row, 2), Folder: row.Groups[3].Value + "/")).ToArray();
        var lines = (
            from file in Tree.Files()
            where file.EndsWith(".cs", StringComparison.Ordinal) && !file.StartsWith("tests/", StringComparison.Ordinal)
            from Match line in Message().Matches(Tree.Read(file))
            select (File: file, Id: line.Groups[1].Success ? Number(line, 1) : 0)).ToArray();

        Assert.True(lines.Length > 50, $"{lines.Length} log lines were found.");
        Assert.Distinct(lines.Select(line => line.Id));
        Assert.All(lines, line => Assert.Contains(ranges, range => Holds(range, line)));
        Assert.All(ranges, range => Assert.Single(ranges, other => other.From <= range.To && range.From <= other.To));
    }

    private static bool Holds((int From, int To, string Folder) range, (string File, int Id) line) =>
        line.Id >= range.From && line.Id <= range.To && line.File.StartsWith(range.Folder, StringComparison.Ordinal);

    private static int Number(Match match, int group) =>
        int.Parse(match.Groups[group].Value, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^\| (\d+)–(\d+) \|[^|]*\| `([^`]+)` \|$", RegexOptions.Multiline)]
    private static partial Regex Range();

    [GeneratedRegex(@"\[LoggerMessage\((?:\s*EventId = (\d+))?")]
    private static partial Regex Message();
}
