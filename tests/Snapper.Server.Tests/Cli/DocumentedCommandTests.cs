using System.Text;
using System.Text.RegularExpressions;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Server.Tests.Cli;

/// <summary>Every command in the README and in docs/ is one that there is, with options that it has.</summary>
public sealed partial class DocumentedCommandTests
{
    private static readonly string Root = Repository.Find()!;

    public static TheoryData<string> Files() => [.. Paths()];

    private static IEnumerable<string> Paths() =>
        new[] { "README.md", "DESIGN.md", "loadtest/README.md", "dapr.yaml" }.Concat(Directory.EnumerateFiles(Path.Combine(Root, "docs"), "*.md").Select(f => Path.GetRelativePath(Root, f)));

    [Theory]
    [MemberData(nameof(Files))]
    public void Commands_and_options_are_there(string file)
    {
        var wrong = new List<string>();
        foreach (var (line, command, options) in Commands(File.ReadAllText(Path.Combine(Root, file))))
        {
            if (CommandLine.Syntaxes.FirstOrDefault(s => s.Name == command) is not { } syntax)
            {
                if (command is not ("help" or "COMMAND")) wrong.Add($"there is no command '{command}': {line}");
                continue;
            }

            foreach (var option in options.Where(o => syntax.Options.All(known => known.Name != o)))
            {
                if (!syntax.PassesOn || !Programs(command).Contains($"\"{option}\"", StringComparison.Ordinal)) wrong.Add($"'{command}' has no option '{option}': {line}");
            }
        }

        Assert.True(wrong.Count == 0, $"{file}: {string.Join("; ", wrong)}");
    }

    [Fact]
    public void The_commands_of_the_documents_are_found()
    {
        var found = Commands("    A=1 ./snapper up --data DIR   # note --x\n```sh\n./snapper doctor \\\n  --redis R\n```\ntext `./snapper load NAME --rate 5` and './snapper setup'").ToArray();
        Assert.Equal(["up --data", "doctor --redis", "load --rate", "setup "], found.Select(f => $"{f.Command} {string.Join(' ', f.Options)}"));
    }

    [Fact]
    public void Every_visible_command_is_documented()
    {
        var all = string.Concat(Paths().Select(f => File.ReadAllText(Path.Combine(Root, f))));
        foreach (var syntax in CommandLine.Syntaxes) Assert.True(all.Contains($"./snapper {syntax.Name}", StringComparison.Ordinal), $"no document shows ./snapper {syntax.Name}");
    }

    /// <summary>Wherever <c>./snapper</c> stands: a command, and the options up to the end of the line, of the quotation, or of the shell's command.</summary>
    private static IEnumerable<(string Line, string Command, string[] Options)> Commands(string text)
    {
        foreach (Match match in Command().Matches(text.Replace("\\\n", " ", StringComparison.Ordinal)))
        {
            yield return (match.Value, match.Groups[1].Value, [.. Option().Matches(match.Groups[2].Value).Select(o => o.Groups[1].Value)]);
        }
    }

    /// <summary>The sources of the programs to which a command passes its arguments on.</summary>
    private static string Programs(string command)
    {
        string[] folders = command switch
        {
            "bench" => ["loadtest/Snapper.Benchmarks"],
            "load" => ["loadtest"],
            "verify" => ["verification/Snapper.Verify", "verification/Snapper.Live", "verification/Snapper.Fuzzing", "verification/Snapper.Testing"],
            "test" => ["tests/Snapper.TestRunner"],
            _ => [],
        };
        return folders.Where(f => Directory.Exists(Path.Combine(Root, f)))
            .SelectMany(f => Directory.EnumerateFiles(Path.Combine(Root, f), "*.cs", SearchOption.AllDirectories))
            .Aggregate(new StringBuilder(), (all, f) => all.Append(File.ReadAllText(f))).ToString();
    }

    [GeneratedRegex(@"\./snapper ([a-zA-Z]+)([^\n`'#|&;)]*)")]
    private static partial Regex Command();

    [GeneratedRegex(@"(?:^|\s)(--[a-z][-a-z]*)")]
    private static partial Regex Option();
}
