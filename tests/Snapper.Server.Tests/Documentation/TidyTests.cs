using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>
/// Style of code and documents. What broke a rule when the rule was made is counted in tests/tidy.txt, per folder; a count may only shrink.
/// With SNAPPER_TIDY=write in the environment the list is written anew, if nothing has grown.
/// </summary>
public sealed partial class TidyTests
{
    private const int MaxCodeColumns = 120;
    private const int MaxMarkdownColumns = 160;
    private const int MaxCell = 200;
    private const string Rules = "tests/tidy.txt counts what breaks the style (words of docs/glossary.md, 120 columns of code, 160 of Markdown, cells of 200). "
        + "Repair what was added; where a count has shrunk, write the list with SNAPPER_TIDY=write:";

    private static readonly string[] s_forbidden = ForbiddenIn(Tree.Read("docs", "glossary.md"));
    private static readonly Regex s_word = new($@"\b({string.Join('|', s_forbidden.Select(Regex.Escape))})\b", RegexOptions.IgnoreCase | RegexOptions.Compiled);

    [Fact]
    public void No_count_of_the_list_grows()
    {
        var listed = Tree.Read("tests", "tidy.txt");
        var counted = Count(Tree.Files().Select(file => (file, Tree.Read(file))));
        var (before, now) = (Read(listed), Read(counted));
        if (Environment.GetEnvironmentVariable("SNAPPER_TIDY") == "write" && now.All(one => one.Value <= before.GetValueOrDefault(one.Key)))
        {
            File.WriteAllText(Path.Combine(Tree.Root, "tests", "tidy.txt"), counted);
            return;
        }

        var grown = now.Keys.Where(name => before.GetValueOrDefault(name) < now[name]).Order(StringComparer.Ordinal).ToArray();
        Assert.True(grown.Length == 0, $"{Rules}\n{string.Join('\n', grown.Select(name => $"{name}: listed {before.GetValueOrDefault(name)}, is {now.GetValueOrDefault(name)}"))}");
    }

    [Fact]
    public void Namespaces_are_those_of_their_file() => Assert.DoesNotContain(Tree.Files(), static file =>
        Path.GetExtension(file) == ".cs" && BlockNamespace().IsMatch(Tree.Read(file)));

    [Fact]
    public void The_forbidden_words_are_those_of_the_glossary()
    {
        Assert.Contains("somebody", s_forbidden);
        Assert.Contains("come to rest", s_forbidden);
        Assert.True(s_forbidden.Length > 10);
    }

    [Theory]
    [InlineData("src/A/a.cs", "// Nobody waits, somebody's request does.", "src/A words 2\n")]
    [InlineData("src/A/a.cs", "var somebodyElse = 1;", "")]
    [InlineData("docs/a.md", "A `somebody` is code.", "")]
    [InlineData("src/A/a.cs", "public int Nobody => 1;", "")]
    [InlineData("src/A/a.cs", "    Say(\"nobody waits\");", "src/A words 1\n")]
    public void Words_are_those_of_prose(string file, string text, string counted) => Assert.Equal(counted, Count([(file, text)]));

    [Fact]
    public void Lines_and_cells_have_a_width()
    {
        var wide = new string('x', 130);
        Assert.Equal("src/A lines 1\n", Count([("src/A/a.cs", $"{wide}\n{wide[..120]}\n")]));
        Assert.Equal("", Count([("docs/a.md", wide)]));
        Assert.Equal("docs lines 1\n", Count([("docs/a.md", wide + wide)]));
        Assert.Equal("docs cells 1\n", Count([("docs/a.md", $"| a | {wide}{wide} | b |")]));
        Assert.Equal("", Count([("docs/a.md", $"```\n{wide}{wide}\n```")]));
    }

    private static string Count(IEnumerable<(string File, string Text)> files)
    {
        var counts = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (var (file, text) in files)
        {
            var isCode = Path.GetExtension(file) is ".cs" or ".razor";
            if ((isCode || file.EndsWith(".md", StringComparison.Ordinal)) && file is not ("docs/glossary.md" or "tests/Snapper.Server.Tests/Documentation/TidyTests.cs"))
            {
                Note(counts, Folder(file), isCode ? OfCode(text) : OfMarkdown(text));
            }
        }

        var list = new StringBuilder();
        foreach (var (name, count) in counts)
        {
            list.Append(name).Append(' ').Append(count).Append('\n');
        }

        return list.ToString();
    }

    private static void Note(SortedDictionary<string, int> counts, string folder, (int Lines, int Cells, int Words) found)
    {
        Add("lines", found.Lines);
        Add("cells", found.Cells);
        Add("words", found.Words);

        void Add(string rule, int count)
        {
            if (count > 0)
            {
                counts[$"{folder} {rule}"] = counts.GetValueOrDefault($"{folder} {rule}") + count;
            }
        }
    }

    private static (int Lines, int Cells, int Words) OfCode(string text)
    {
        var (lines, words) = (0, 0);
        foreach (var line in text.Split('\n'))
        {
            lines += line.TrimEnd().Length > MaxCodeColumns ? 1 : 0;
            foreach (Match prose in Prose().Matches(line))
            {
                words += s_word.Count(prose.Value);
            }
        }

        return (lines, 0, words);
    }

    private static (int Lines, int Cells, int Words) OfMarkdown(string text)
    {
        var (lines, cells, words, isCode) = (0, 0, 0, false);
        foreach (var line in text.Split('\n'))
        {
            isCode ^= line.StartsWith("```", StringComparison.Ordinal);
            if (isCode)
            {
                continue;
            }

            words += s_word.Count(Code().Replace(line, ""));
            if (line.StartsWith('|'))
            {
                cells += line.Split('|').Count(cell => cell.Trim().Length > MaxCell);
            }
            else
            {
                lines += line.TrimEnd().Length > MaxMarkdownColumns ? 1 : 0;
            }
        }

        return (lines, cells, words);
    }

    private static string Folder(string file)
    {
        var parts = file.Split('/');
        return parts.Length > 2 && parts[0] is "src" or "tests" or "verification" ? $"{parts[0]}/{parts[1]}" : parts.Length > 1 ? parts[0] : ".";
    }

    private static Dictionary<string, int> Read(string list) => list.Split('\n', StringSplitOptions.RemoveEmptyEntries)
        .ToDictionary(line => line[..line.LastIndexOf(' ')], line => int.Parse(line[line.LastIndexOf(' ')..], CultureInfo.InvariantCulture));

    private static string[] ForbiddenIn(string glossary) =>
    [
        .. glossary.Split("\n## Words")[1].Split('\n').Where(line => line.StartsWith("| *", StringComparison.Ordinal))
            .SelectMany(line => Italic().Match(line).Groups[1].Value.Split(',', StringSplitOptions.TrimEntries))
            .Where(word => word is not ("hear" or "tell" or "say" or "learn" or "look" or "looks at")), // as nouns and in other senses they are fine
    ];

    [GeneratedRegex("^namespace [^;]*$", RegexOptions.Multiline)]
    private static partial Regex BlockNamespace();

    [GeneratedRegex(@"\*([^*]+)\*")]
    private static partial Regex Italic();

    // Comments, and what stands between quotes.
    [GeneratedRegex("""//.*|"[^"]*"|@\*.*|<!--.*""")]
    private static partial Regex Prose();

    [GeneratedRegex("`[^`]*`")]
    private static partial Regex Code();
}
