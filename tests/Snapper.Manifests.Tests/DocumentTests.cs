using System.Text.RegularExpressions;
using Snapper.Server.Commands;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>docs/kubernetes.md says what is so.</summary>
public sealed partial class DocumentTests
{
    private static readonly string s_text = Tree.Read("docs", "kubernetes.md");

    [Fact]
    public void The_secrets_that_it_makes_are_those_that_production_needs()
    {
        var made = Secret().Matches(s_text).ToDictionary(match => match.Groups[1].Value, match => Key().Matches(match.Groups[2].Value).Select(key => key.Groups[1].Value).ToArray());
        Assert.Equal(Rendered.Secrets.Keys.Order(), made.Keys.Order());
        foreach (var (name, keys) in Rendered.Secrets) Assert.Equal(keys.Order(), made[name].Order());
    }

    /// <summary>Beyond Kubernetes the same rights are enough; a password is to be written there.</summary>
    [Fact]
    public void The_line_for_a_Redis_of_ones_own_is_the_one_that_is_mounted()
    {
        var mounted = Tree.Read("k8s", "components", "redis", "users.acl").Split('\n')
            .Single(line => line.StartsWith("user snapper ", StringComparison.Ordinal));
        var shown = mounted.Replace(" PASSWORD ", " >PASSWORD ", StringComparison.Ordinal);
        Assert.Contains($"\n{shown}\n", Tree.Read("docs", "security.md"), StringComparison.Ordinal);
    }

    [Fact]
    public void Folders_and_files_that_it_names_are_there()
    {
        var named = Paths().Matches(s_text).Select(match => match.Value.TrimEnd('/', '.')).Distinct().ToArray();
        Assert.NotEmpty(named);
        Assert.Equal([], named.Where(path => !Path.Exists(Tree.Path(path))));
    }

    [Fact]
    public void Variables_that_it_names_are_options_of_the_worker()
    {
        string[] options =
        [
            .. WorkerCommand.Command.Options.Select(option => WorkerCommand.Variable(option.Name)),
            "SNAPPER_DASHBOARD_WORKERS", "SNAPPER_REDIS_PASSWORD_FILE", "SNAPPER_REDIS_USER", "SNAPPER_TOKEN",
            "SNAPPER_REDIS_TLS", "SNAPPER_REDIS_CA",
        ];
        Assert.Equal([], Variables().Matches(s_text).Select(match => match.Value).Distinct().Except(options));
    }

    [GeneratedRegex("create secret generic (\\S+)(.*)")]
    private static partial Regex Secret();

    [GeneratedRegex("--from-(?:literal|file)=([a-z.]+)=")]
    private static partial Regex Key();

    [GeneratedRegex("\\bk8s/[-a-z0-9/.]+")]
    private static partial Regex Paths();

    [GeneratedRegex("\\bSNAPPER_[A-Z_]+\\b")]
    private static partial Regex Variables();
}
