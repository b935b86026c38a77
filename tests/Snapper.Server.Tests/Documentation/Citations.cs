using System.Text.RegularExpressions;

namespace Snapper.Server.Tests.Documentation;

/// <summary>What a text cites: rules of the protocol, sections of DESIGN.md, sections of the thesis, works by their authors or venues.</summary>
/// <param name="Kind">"rule", "DESIGN", "thesis" or "work".</param>
/// <param name="Name">The id, the section's number, or the name.</param>
internal readonly partial record struct Citation(string Kind, string Name)
{
    /// <summary>
    /// Citations in a line. In C# these stand in comments, and in texts that are more than an id:
    /// identifiers such as <c>A1</c> and data such as <c>"A1"</c> cite nothing.
    /// </summary>
    /// <param name="file">Its name says which language the line is of.</param>
    public static IEnumerable<Citation> In(string file, string line)
    {
        var prose = file.EndsWith(".cs", StringComparison.Ordinal) ? ProseOfCode(line)
            : file.EndsWith(".razor", StringComparison.Ordinal) ? ProseOfRazor(line)
            : line;
        foreach (Match id in RuleId().Matches(prose)) yield return new("rule", id.Value);
        foreach (Match list in ListOfIds().Matches(prose))
        {
            // A letter that no group of rules has is a mistake where rules are cited. G0 to G2 are Adya's anomalies.
            foreach (Match id in AnyId().Matches(list.Value).Where(id => !RuleId().IsMatch(id.Value) && id.Value[0] != 'G')) yield return new("rule", id.Value);
        }

        foreach (Match section in DesignSection().Matches(prose)) yield return new("DESIGN", section.Groups[1].Value);
        if (file == "DESIGN.md")
        {
            foreach (Match section in OwnSection().Matches(prose)) yield return new("DESIGN", section.Groups[1].Value);
        }

        foreach (Match sections in ThesisSections().Matches(prose))
        {
            foreach (Match section in Number().Matches(sections.Value)) yield return new("thesis", section.Value);
        }

        foreach (Match work in Work().Matches(prose)) yield return new("work", work.Groups.Values.Skip(1).First(group => group.Success).Value);
    }

    private static string ProseOfCode(string line)
    {
        var comment = Comment().Matches(line).FirstOrDefault(start => line[..start.Index].Count(c => c == '"') % 2 == 0)?.Index ?? line.Length;
        var texts = Literal().Matches(line[..comment]).Select(text => text.Value).Where(text => text.Length > "\"A10\"".Length);
        return string.Join(' ', texts.Append(line[comment..]));
    }

    /// <summary>Paths of pictures are full of what looks like ids.</summary>
    private static string ProseOfRazor(string line) => Attribute().Replace(line, "");

    [GeneratedRegex(@"(?<![\w%\\.#/])[LHWAIRMK]\d{1,2}(?!\w)")]
    private static partial Regex RuleId();

    [GeneratedRegex(@"\b[A-Z]\d{1,2}\b")]
    private static partial Regex AnyId();

    [GeneratedRegex(@"(?:\((?=[^()]*\b[LHWAIRMK]\d)|\b[Rr]ules? )[A-Z]\d{1,2}(?:(?:, | to | and |[-–])[A-Z]\d{1,2})*")]
    private static partial Regex ListOfIds();

    [GeneratedRegex(@"\bDESIGN(?:\.md)?(?:\]\([^)]*\))?,? (?:section |§ ?)?(\d+)\b")]
    private static partial Regex DesignSection();

    [GeneratedRegex(@"\bsection (\d+)\b")]
    private static partial Regex OwnSection();

    [GeneratedRegex(@"\b[Tt]hesis'? (?:section )?\d+(?:\.\d+)+(?: \([^)]*\))?(?:,? (?:and )?\d+(?:\.\d+)+(?: \([^)]*\))?)*")]
    private static partial Regex ThesisSections();

    [GeneratedRegex(@"\d+(?:\.\d+)+")]
    private static partial Regex Number();

    [GeneratedRegex(
        @"(\p{Lu}\p{L}+) et al\.|\b((?:SIGMOD|P?VLDB|SoCC|OSDI|SOSP|EDBT|ICDE|TODS|OPODIS) \d{4})" +
        @"|\b(Adya|Berenson|Fekete|Elle|Jepsen|Kingsbury|Lamport|Rosenkrantz)\b")]
    private static partial Regex Work();

    [GeneratedRegex("\"(?:[^\"\\\\]|\\\\.)*\"")]
    private static partial Regex Literal();

    [GeneratedRegex(@"(?<!:)//")]
    private static partial Regex Comment();

    [GeneratedRegex("\\b(?:d|viewBox|points|transform)=(?:\"@[^>]*|\"[^\"]*\")")]
    private static partial Regex Attribute();
}
