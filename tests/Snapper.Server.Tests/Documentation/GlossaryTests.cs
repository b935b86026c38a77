using System.Text.RegularExpressions;
using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>docs/glossary.md has one name for each thing.</summary>
public sealed partial class GlossaryTests
{
    private static readonly string[][] s_rows =
    [
        .. Tree.Read("docs", "glossary.md").Split("\n## Words")[0].Split('\n')
            .Where(line => line.StartsWith("| ", StringComparison.Ordinal) && !line.StartsWith("| term |", StringComparison.Ordinal))
            .Select(line => line.Trim('|').Split('|')),
    ];

    [Fact]
    public void Each_row_has_a_term_a_meaning_and_what_it_replaces()
    {
        Assert.True(s_rows.Length > 80);
        Assert.All(s_rows, row => Assert.True(row.Length == 3 && row[0].Trim().Length > 0 && row[1].Trim().Length > 0, string.Join('|', row)));
    }

    [Fact]
    public void Each_term_stands_once() => Assert.Equal([], s_rows.GroupBy(row => row[0].Trim()).Where(term => term.Count() > 1).Select(term => term.Key));

    [Fact]
    public void What_is_replaced_is_no_term_and_has_one_row()
    {
        var terms = s_rows.SelectMany(row => Name().Matches(row[0] + row[1]).Select(name => name.Value)).ToHashSet();
        var replaced = s_rows.SelectMany(row => Name().Matches(row[2]).Select(name => name.Value)).ToArray();
        Assert.Equal([], replaced.Where(terms.Contains));
        Assert.Equal([], replaced.GroupBy(name => name).Where(name => name.Count() > 1).Select(name => name.Key));
    }

    [GeneratedRegex("`[^`]+`")]
    private static partial Regex Name();
}
