using Microsoft.Extensions.Configuration;
using Snapper.Cli.Supervision;
using Snapper.Security;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary><c>up</c> says at its start that a dashboard will not be shown anything.</summary>
public sealed class DashboardTokenTests : IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void Tokens_without_one_for_the_dashboard_are_told_of()
    {
        Assert.Null(Why(null, null));
        Assert.Null(Why(null, "snapper_any"));
        var file = Path.Combine(_temp.Path, "tokens.jsonl");
        File.WriteAllText(file, $$"""{"name":"vera","role":"viewer","sha256":"{{TokenHash.Of(TokenHash.NewToken())}}"}""");
        Assert.Contains("SNAPPER_TOKEN is not set", Why(file, null), StringComparison.Ordinal);
        Assert.Contains("SNAPPER_TOKEN is not set", Why(file, ""), StringComparison.Ordinal);
        Assert.Null(Why(file, "snapper_any"));
        Assert.Contains("cannot be read", Why(file + ".none", null), StringComparison.Ordinal);
    }

    private static string? Why(string? file, string? token) => Deployment.WhyBlind(
        new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?> { [SecuritySettings.FileVariable] = file, ["SNAPPER_TOKEN"] = token }).Build());
}
