using System.Reflection;
using System.Text.RegularExpressions;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>docs/troubleshooting.md and the code say the same words.</summary>
public sealed partial class TroubleshootingTests
{
    private static readonly string Root = Repository.Find()!;
    private static readonly string Document = File.ReadAllText(Path.Combine(Root, "docs", "troubleshooting.md"));

    /// <summary>All sources, with strings that are put together over several lines made one, as they are printed.</summary>
    private static readonly Lazy<string> Sources = new(() => Joined().Replace(
        string.Join('\n', Directory.EnumerateFiles(Path.Combine(Root, "src"), "*.cs", SearchOption.AllDirectories)
            .Where(f => !f.Contains("/obj/", StringComparison.Ordinal) && !f.Contains("/bin/", StringComparison.Ordinal)).Append(Path.Combine(Root, "snapper")).Append(Path.Combine(Root, "src", "Snapper.Cli", "setup.sh")).Select(File.ReadAllText)).Replace("\\\"", "\"", StringComparison.Ordinal), ""));

    public static TheoryData<string> Messages()
    {
        var messages = new HashSet<string>(StringComparer.Ordinal);
        foreach (var row in Document.Split('\n').Where(l => l.StartsWith("| ", StringComparison.Ordinal)))
        {
            // The first cell is the symptom. What it quotes is printed, word for word; "..." stands for what differs.
            foreach (Match quoted in Quoted().Matches(row.Split('|')[1])) messages.Add(quoted.Groups[1].Value);
        }

        return [.. messages];
    }

    [Theory]
    [MemberData(nameof(Messages))]
    public void Every_documented_message_is_one_that_the_code_can_print(string message)
    {
        foreach (var part in message.Split("...", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            Assert.True(Sources.Value.Contains(part, StringComparison.Ordinal), $"docs/troubleshooting.md quotes '{message}', and nothing in src prints '{part}'.");
        }
    }

    [Fact]
    public void Every_remedy_of_up_and_doctor_is_in_the_document()
    {
        var remedies =
            typeof(FixHints).GetFields(BindingFlags.Public | BindingFlags.Static).Select(f =>
            (string)f.GetValue(null)!).Append("free it or choose another with");
        foreach (var remedy in remedies)
        {
            Assert.True(Flat(Document).Contains(remedy, StringComparison.Ordinal), $"docs/troubleshooting.md does not have the remedy: {remedy}");
        }
    }

    [Fact]
    public void Every_exit_code_is_in_the_documents()
    {
        var operating = File.ReadAllText(Path.Combine(Root, "docs", "operating.md"));
        foreach (var code in typeof(ExitCode).GetFields().Select(f => (int)f.GetRawConstantValue()!).Where(c => c > 1))
        {
            Assert.True(operating.Contains($"\n| {code} |", StringComparison.Ordinal), $"docs/operating.md has no row for exit code {code}");
        }
    }

    private static string Flat(string text) => Spaces().Replace(text, " ");

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quoted();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();

    [GeneratedRegex("\"\\s*\\+\\s*\\$?\"")]
    private static partial Regex Joined();
}
