using System.Text.RegularExpressions;
using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>Links of the documents lead to files and anchors that exist.</summary>
public sealed partial class LinkTests
{
    public static TheoryData<string> Documents() => [.. Tree.Documents()];

    [Theory]
    [MemberData(nameof(Documents))]
    public void Links_lead_somewhere(string document)
    {
        var broken = new List<string>();
        foreach (Match link in Link().Matches(Fenced().Replace(Tree.Read(document), "")))
        {
            var target = link.Groups[1].Value;
            if (target.Contains("://", StringComparison.Ordinal) || target.StartsWith("mailto:", StringComparison.Ordinal)) continue;
            var (path, anchor) = target.Split('#') is [var file, var name] ? (file, name) : (target, "");
            var folder = Path.Combine(Tree.Root, Path.GetDirectoryName(document)!);
            var full = path.Length == 0 ? Path.Combine(Tree.Root, document) : Path.GetFullPath(Path.Combine(folder, path));
            if (!Path.Exists(full) || (anchor.Length > 0 && full.EndsWith(".md", StringComparison.Ordinal) && !Anchors(File.ReadAllText(full)).Contains(anchor)))
            {
                broken.Add(target);
            }
        }

        Assert.Equal([], broken);
    }

    [Fact]
    public void Pictures_are_small_and_shown()
    {
        var documents = string.Join('\n', Tree.Documents().Select(static one => Tree.Read(one)));
        foreach (var picture in Directory.GetFiles(Path.Combine(Tree.Root, "docs", "pictures")))
        {
            Assert.InRange(new FileInfo(picture).Length, 1, 150_000);
            Assert.Contains($"pictures/{Path.GetFileName(picture)})", documents, StringComparison.Ordinal);
        }
    }

    private static HashSet<string> Anchors(string text) =>
    [
        .. Named().Matches(text).Select(name => name.Groups[1].Value),
        .. Heading().Matches(Fenced().Replace(text, "")).Select(heading => Slug(heading.Groups[1].Value)),
    ];

    /// <summary>The anchor that GitHub gives a heading.</summary>
    private static string Slug(string heading) => Dropped().Replace(Tag().Replace(heading, "").Trim().ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex(@"\]\(([^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex("^```.*?^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fenced();

    [GeneratedRegex("<a (?:name|id)=\"([^\"]+)\"")]
    private static partial Regex Named();

    [GeneratedRegex("^#+ (.+)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex("<[^>]+>")]
    private static partial Regex Tag();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex Dropped();
}
