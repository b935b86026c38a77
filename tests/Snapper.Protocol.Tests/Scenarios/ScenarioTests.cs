using System.Text;

namespace Snapper.Protocol.Tests.Scenarios;

/// <summary>
/// Every text of this folder: its trace must be what the machines really do. After a deliberate change of the protocol run
/// with SNAPPER_REWRITE=1, and commit the changed traces only if you understand what caused them.
/// </summary>
public sealed class ScenarioTests
{
    private const string RewriteVariable = "SNAPPER_REWRITE";

    public static TheoryData<string> Names()
    {
        var names = new TheoryData<string>();
        foreach (var path in System.IO.Directory.GetFiles(Folder(), "*.txt").Order(StringComparer.Ordinal))
        {
            names.Add(Path.GetFileNameWithoutExtension(path));
        }

        return names;
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void The_trace_is_as_written(string name)
    {
        var path = Path.Combine(Folder(), name + ".txt");
        var written = File.ReadAllText(path);
        var happened = Scenario.Replay(written);
        if (Environment.GetEnvironmentVariable(RewriteVariable) == "1")
        {
            File.WriteAllText(path, happened);
            return;
        }

        if (written != happened)
        {
            Assert.Fail($"{name}.txt: - as written, + as it happened ({RewriteVariable}=1 rewrites it)\n{Difference(written.Split('\n'), happened.Split('\n'))}");
        }
    }

    [Fact]
    public void A_changed_trace_shows_its_difference() =>
        Assert.Equal("  a\n- b\n+ x\n  c\n", Difference(["a", "b", "c"], ["a", "x", "c"]));

    [Fact]
    public void An_unknown_command_is_refused_by_name()
    {
        var failure = Assert.Throws<FormatException>(() => Scenario.Replay("world a\nexplode\n"));
        Assert.Contains("explode", failure.Message, StringComparison.Ordinal);
    }

    internal static string Folder()
    {
        for (var at = new DirectoryInfo(AppContext.BaseDirectory); at is not null; at = at.Parent)
        {
            if (File.Exists(Path.Combine(at.FullName, "Directory.Build.props")))
            {
                return Path.Combine(at.FullName, "tests", "Snapper.Protocol.Tests", "Scenarios");
            }
        }

        throw new DirectoryNotFoundException($"No source tree above {AppContext.BaseDirectory}.");
    }

    /// <summary>Lines by their longest common subsequence.</summary>
    private static string Difference(string[] old, string[] now)
    {
        var length = new int[old.Length + 1, now.Length + 1];
        for (var i = old.Length - 1; i >= 0; i--)
        {
            for (var j = now.Length - 1; j >= 0; j--)
            {
                length[i, j] = old[i] == now[j] ? length[i + 1, j + 1] + 1 : Math.Max(length[i + 1, j], length[i, j + 1]);
            }
        }

        var text = new StringBuilder();
        for (int i = 0, j = 0; i < old.Length || j < now.Length;)
        {
            if (i < old.Length && j < now.Length && old[i] == now[j])
            {
                text.Append("  ").Append(old[i++]).Append('\n');
                j++;
            }
            else if (j == now.Length || (i < old.Length && length[i + 1, j] >= length[i, j + 1]))
            {
                text.Append("- ").Append(old[i++]).Append('\n');
            }
            else
            {
                text.Append("+ ").Append(now[j++]).Append('\n');
            }
        }

        return text.ToString();
    }
}
