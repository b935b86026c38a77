using System.Text.RegularExpressions;
using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>
/// Code in pages that are listed here is cut from the sample, which is built and run; its indentation alone may differ.
/// </summary>
public sealed partial class SnippetTests
{
    private static readonly string s_sample = Path.Combine(Tree.Root, "samples", "Orders");

    /// <summary>C# for other systems, which cannot be cut from this tree.</summary>
    private const string Foreign = "cs";

    /// <summary>Pages, and of which languages each has at least one piece.</summary>
    public static TheoryData<string, string[]> Pages() => new()
    {
        { "outcomes.md", ["csharp", "ts", "python", "go", "java"] },
        { "from-orleans.md", ["csharp"] },
        { "from-sagas.md", ["csharp"] },
    };

    [Theory]
    [MemberData(nameof(Pages))]
    public void Code_of_the_page_is_in_the_sample(string page, string[] languages)
    {
        var pieces = Fence().Matches(Tree.Read("docs", page)).Select(static fence =>
            (Language: fence.Groups[1].Value, Code: Lines(fence.Groups[2].Value)))
            .Where(static piece => piece.Language != Foreign).ToArray();
        Assert.Equal(languages.Order(), pieces.Select(static piece => piece.Language).Distinct().Order());
        foreach (var (language, code) in pieces)
        {
            Assert.True(
                Sources(language).Any(file => Has(Lines(File.ReadAllText(file)), code)),
                $"docs/{page}: no file of samples/Orders has this:\n{string.Join('\n', code)}");
        }
    }

    [Fact]
    public void A_changed_line_is_missed()
    {
        string[] source = ["class A", "{", "    int B()", "    {", "", "        return 1;", "    }", "}"];
        Assert.True(Has(source, ["int B()", "{", "", "    return 1;", "}"]));
        Assert.False(Has(source, ["int B()", "{", "    return 1;", "}"]));
        Assert.False(Has(source, ["int B()", "{", "", "    return 2;", "}"]));
        Assert.False(Has(source, ["int B()", "{", "", "return 1;", "}"]));
    }

    private static bool Has(string[] source, string[] piece) =>
        Enumerable.Range(0, Math.Max(0, source.Length - piece.Length + 1)).Any(start =>
        {
            var indent = source[start].Length - source[start].TrimStart().Length;
            return piece.Index().All(line => source[start + line.Index] is var text
                && (text.Length == 0 || text[..Math.Min(indent, text.Length)] == source[start][..indent])
                && (text.Length == 0 ? "" : text[indent..]) == line.Item);
        });

    private static IEnumerable<string> Sources(string language)
    {
        var kind = language switch { "csharp" => ".cs", "python" => ".py", _ => "." + language };
        return Directory.EnumerateFiles(s_sample, "*" + kind, SearchOption.AllDirectories);
    }

    private static string[] Lines(string text) =>
        [.. text.TrimEnd('\n').Split('\n').Select(static line => line.TrimEnd())];

    [GeneratedRegex(@"^```([a-z]+)\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fence();
}
