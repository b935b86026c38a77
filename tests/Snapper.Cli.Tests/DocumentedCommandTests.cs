using System.Text.RegularExpressions;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Every command in the README and in docs/ is one that there is, with options that it has.</summary>
public sealed partial class DocumentedCommandTests
{
    private static readonly string Root = Repository.Find()!;

    public static TheoryData<string> Files() => [.. Paths()];

    private static IEnumerable<string> Paths() =>
        new[] { "README.md", "DESIGN.md", "loadtest/README.md", "src/Snapper.Cli/README.md", "dapr.yaml" }.Concat(Directory.EnumerateFiles(Path.Combine(Root, "docs"), "*.md").Select(f => Path.GetRelativePath(Root, f)));

    [Theory]
    [MemberData(nameof(Files))]
    public void Commands_and_options_are_there(string file)
    {
        var wrong = new List<string>();
        foreach (var (line, command, options) in Commands(File.ReadAllText(Path.Combine(Root, file))))
        {
            if (CommandLine.Program.Subcommands.FirstOrDefault(s => s.Name == command) is not { } known)
            {
                if (command is not ("help" or "COMMAND")) wrong.Add($"there is no command '{command}': {line}");
                continue;
            }

            foreach (var option in options.Where(o => known.Options.All(one => one.Name != o) && o != "--help"))
            {
                if (!Sources(command).Contains(option, StringComparison.Ordinal)) wrong.Add($"'{command}' has no option '{option}': {line}");
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
        foreach (var command in CommandLine.Program.Subcommands)
        {
            Assert.True(all.Contains($"./snapper {command.Name}", StringComparison.Ordinal), $"no document shows ./snapper {command.Name}");
        }
    }

    /// <summary>Wherever <c>./snapper</c> stands: a command, and the options up to the end of the line, of the quotation, or of the shell's command.</summary>
    private static IEnumerable<(string Line, string Command, string[] Options)> Commands(string text)
    {
        foreach (Match match in Command().Matches(text.Replace("\\\n", " ", StringComparison.Ordinal)))
        {
            yield return (match.Value, match.Groups[1].Value, [.. Option().Matches(match.Groups[2].Value).Select(o => o.Groups[1].Value)]);
        }
    }

    /// <summary>The sources of the programs of the clone, which the script <c>snapper</c> starts.</summary>
    private static string Sources(string command)
    {
        string[] folders = command switch
        {
            "bench" => ["loadtest/Snapper.Benchmarks"],
            "load" => ["loadtest/Snapper.Load"],
            "verify" => ["verification"],
            "test" => ["tests/Snapper.TestRunner"],
            "setup" => ["src/Snapper.Cli"],
            _ => [],
        };
        return string.Concat(folders.SelectMany(f => Directory.EnumerateFiles(Path.Combine(Root, f), "*.*", SearchOption.AllDirectories))
            .Where(f => f.EndsWith(".cs", StringComparison.Ordinal) || f.EndsWith("setup.sh", StringComparison.Ordinal)).Select(File.ReadAllText));
    }

    // In a clone, or as a tool: there it begins the line of a block of code.
    [GeneratedRegex(@"(?:\./snapper|^(?:    )?snapper) ([a-zA-Z]+)([^\n`'#|&;)]*)", RegexOptions.Multiline)]
    private static partial Regex Command();

    [GeneratedRegex(@"(?:^|\s)(--[a-z][-a-z]*)")]
    private static partial Regex Option();
}
