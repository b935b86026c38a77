using System.Text.RegularExpressions;

namespace Snapper.Server.Tests.Documentation;

/// <summary>What docs/protocol.md and DESIGN.md define.</summary>
internal sealed partial class Definitions
{
    private readonly HashSet<Citation> _defined = [];
    private readonly string _bibliography;

    public Definitions(string protocol, string design)
    {
        var end = protocol.IndexOf("<a name=\"bibliography\"></a>", StringComparison.Ordinal);
        _bibliography = end < 0 ? "" : protocol[end..];
        foreach (Match rule in Rule().Matches(protocol)) _defined.Add(new("rule", rule.Groups[2].Value));
        foreach (Match section in Section().Matches(design)) _defined.Add(new("DESIGN", section.Groups[1].Value));
        foreach (Match section in ThesisSection().Matches(_bibliography)) _defined.Add(new("thesis", section.Groups[1].Value));
    }

    public IReadOnlyCollection<Citation> All => _defined;

    public bool Has(Citation citation) =>
        citation.Kind == "work" ? _bibliography.Contains(citation.Name, StringComparison.Ordinal) : _defined.Contains(citation);

    /// <summary>A rule's heading: its anchor is its id in lower case, so that <c>protocol.md#h3</c> leads to it.</summary>
    [GeneratedRegex("""^### <a name="([a-z]\d{1,2})"></a>((?i:\1)) \S""", RegexOptions.Multiline)]
    private static partial Regex Rule();

    [GeneratedRegex(@"^## (\d+)\. ", RegexOptions.Multiline)]
    private static partial Regex Section();

    [GeneratedRegex(@"^\| (\d+(?:\.\d+)+) \|", RegexOptions.Multiline)]
    private static partial Regex ThesisSection();
}
