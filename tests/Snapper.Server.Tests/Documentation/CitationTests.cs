using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>Every rule, section and work that code, tests or documents cite is defined in docs/protocol.md or DESIGN.md.</summary>
public sealed class CitationTests
{
    private static readonly string s_protocol = Tree.Read("docs", "protocol.md");
    private static readonly string s_design = Tree.Read("DESIGN.md");

    /// <summary>Its samples cite what nothing defines.</summary>
    private const string Own = "tests/Snapper.Server.Tests/Documentation/CitationTests.cs";

    private static readonly Lazy<ILookup<Citation, string>> s_cited = new(() => Tree.Files().Where(file => file != Own).SelectMany(CitedIn)
        .ToLookup(found => found.Citation, found => found.Place));

    [Fact]
    public void Whatever_is_cited_is_defined()
    {
        var missing = Missing(new Definitions(s_protocol, s_design));
        Assert.True(missing.Length == 0, "not defined in docs/protocol.md or DESIGN.md:\n" + string.Join('\n', missing));
    }

    [Fact]
    public void A_definition_that_is_taken_out_is_missed()
    {
        var defined = new Definitions(s_protocol, s_design).All.Where(s_cited.Value.Contains).ToArray();
        Assert.True(defined.Count(citation => citation.Kind == "rule") > 50, "hardly any rule is cited: citations are not found any more");
        foreach (var citation in defined)
        {
            var without = citation.Kind switch
            {
                // The text's other places name it, too; its heading alone defines it.
                "rule" => new Definitions(s_protocol.Replace($"></a>{citation.Name} ", "></a>", StringComparison.Ordinal), s_design),
                "thesis" => new Definitions(s_protocol.Replace($"\n| {citation.Name} |", "\n| |", StringComparison.Ordinal), s_design),
                _ => new Definitions(s_protocol, s_design.Replace($"\n## {citation.Name}. ", "\n## ", StringComparison.Ordinal)),
            };
            Assert.StartsWith($"{citation.Kind} {citation.Name}: ", Assert.Single(Missing(without)), StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_work_that_is_taken_out_of_the_bibliography_is_missed()
    {
        var missing = Missing(new Definitions(s_protocol.Replace("Adya", "", StringComparison.Ordinal), s_design));
        Assert.Contains(missing, text => text.StartsWith("work Adya: ", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("a.cs", "        // H7: it may have read what is undone (A5, L2).", "H7 A5 L2")]
    [InlineData("a.cs", "    /// <summary>Victims (A4 to A6, W3).</summary>", "A4 A6 W3")]
    [InlineData("a.cs", "    Require(x, $\"A8, W3: {actor}: a call\"); // as H1 says", "A8 W3 H1")]
    [InlineData("a.cs", "    var (A1, M9) = Find(\"A1\", \"L99\", A1);", "")]
    [InlineData("a.cs", "    Get(\"http://host/W9\"); // none", "")]
    [InlineData("a.cs", "    // As (H3, B2) and rule Z9; G2 (G0, G2) is an anomaly.", "H3 B2 Z9")]
    [InlineData("a.cs", "    Number(x, \"N0\", $\"{x:D6}\"); // percentiles P50 and P99", "")]
    [InlineData("a.razor", "<path d=\"M99 1l4 5\" />", "")]
    [InlineData("a.razor", "@* Rule H5 as a picture. *@", "H5")]
    [InlineData("a.txt", "# A2, thesis 3.3.2: it waits", "A2 3.3.2")]
    [InlineData("a.md", "rules L1–L3, [H3](protocol.md#h3) and (H2-H4)", "L1 L3 H3 H2 H4")]
    [InlineData("a.md", "[DESIGN.md](../DESIGN.md), section 8, DESIGN 12 and DESIGN.md section 3; section 4 of this", "8 12 3")]
    [InlineData("DESIGN.md", "ids with outcomes (section 7)", "7")]
    [InlineData("a.cs", "// thesis 3.3.2 (PACT), 3.3.3 (ACT); Thesis 4.4, section 5.6 elsewhere", "3.3.2 3.3.3 4.4")]
    [InlineData("a.cs", "// Elle's idea (Kingsbury and Alvaro, VLDB 2020), Nobody et al.", "Elle Kingsbury VLDB 2020 Nobody")]
    public void Citations_are_found_and_nothing_else(string file, string line, string expected) =>
        Assert.Equal(expected, string.Join(' ', Citation.In(file, line).Select(citation => citation.Name)));

    private static IEnumerable<(Citation Citation, string Place)> CitedIn(string file) => Tree.Read(file).Split('\n')
        .SelectMany((line, index) => line.StartsWith("### <a name=", StringComparison.Ordinal) // a definition cites nothing
            ? []
            : Citation.In(file, line).Select(citation => (citation, $"{file}:{index + 1}")));

    private static string[] Missing(Definitions definitions) =>
    [
        .. s_cited.Value.Where(citation => !definitions.Has(citation.Key))
            .Select(citation => $"{citation.Key.Kind} {citation.Key.Name}: {string.Join(", ", citation.Distinct().Take(3))}").Order(StringComparer.Ordinal),
    ];
}
