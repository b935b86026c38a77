using System.Collections.Concurrent;
using Snapper.Failures;
using Snapper.Integration.Tests.Harness;
using Snapper.Live.Cluster;
using Snapper.Live.Faults;
using Snapper.Live.Rounds;
using Snapper.Terminal;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Live;

/// <summary>A short live run of other faults each time; <c>SNAPPER_SEED</c> draws those of a failed run again.</summary>
[RequiresServers]
public sealed class LiveVerificationTests(ITestOutputHelper output)
{
    private static readonly TimeSpan AtMost = TimeSpan.FromMinutes(5);

    [SystemFact]
    [Trait("Lane", "nightly")]
    public async Task A_few_faults_drawn_anew_each_time_break_no_promise()
    {
        var options = new LiveOptions { Rounds = 4, Brief = true };
        options = options with { Seed = LoadOptions.SeedOr(options.Seed) };
        var lines = new ConcurrentQueue<string>();
        using var stop = new CancellationTokenSource(AtMost);

        var found = !await new LiveRun(options, lines.Enqueue).Run(stop.Token);

        var text = string.Join('\n', lines);
        output.WriteLine(text);
        Assert.False(found, text);
        Assert.Contains("nothing found", text, StringComparison.Ordinal);
    }
}

/// <summary>The command line of live runs.</summary>
public sealed class LiveOptionsTests
{
    private static LiveOptions Parse(params string[] line) =>
        LiveOptions.From(CommandLines.Parse(LiveOptions.Command(_ => Task.FromResult(0)), line));

    [Fact]
    public void Options_are_read()
    {
        var options = Parse("--live", "--rounds", "7", "--seed", "11", "--faults", "redis-kill, cut-app", "--markdown", "--workers", "1");

        Assert.Equal((7, 11, true), (options.Rounds, options.Seed, options.Markdown));
        Assert.Equal(["redis-kill", "cut-app"], options.Faults.Select(kind => kind.Name));
    }

    [Fact]
    public void Without_a_list_of_faults_all_are_meant()
    {
        Assert.Equal(FaultCatalog.All, Parse("--live").Faults);
        Assert.Null(Parse("--live", "--workers", "3").ClusterFaults);
    }

    [Theory]
    [InlineData("--workers must be a whole number", "--workers", "9")]
    [InlineData("With several workers there is no fault 'server-kill'", "--faults", "server-kill", "--workers", "2")]
    [InlineData("There is no fault 'sunspots'", "--faults", "sunspots")]
    [InlineData("'--sedes'", "--sedes", "3")]
    [InlineData("'--rounds'", "--rounds")]
    [InlineData("--seed must be a whole number", "--seed", "-1")]
    [InlineData("--faults names none", "--faults", ",")]
    public void A_wrong_option_is_named(string message, params string[] arguments)
    {
        var wrong = Assert.Throws<UsageException>(() => Parse(["--live", .. arguments]));

        Assert.Contains(message, wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void No_two_faults_have_one_name()
    {
        Assert.Equal(FaultCatalog.All.Count, FaultCatalog.All.Select(kind => kind.Name).Distinct().Count());
        Assert.Equal(ClusterFaults.All.Count, ClusterFaults.All.Select(kind => kind.Name).Distinct().Count());
    }

    /// <summary>Each with what it requires: docs/verification.md has no other row, and lacks none.</summary>
    [Fact]
    public void Faults_of_direct_links_are_in_the_document()
    {
        var rows = File.ReadAllLines(Path.Combine(Repository.Root, "docs", "verification.md"))
            .Where(static line => line.StartsWith("| `link-", StringComparison.Ordinal))
            .Select(static line => line.Split('|', StringSplitOptions.TrimEntries))
            .ToDictionary(static cells => cells[1].Trim('`'));
        var faults = ClusterFaults.All
            .Where(static kind => kind.Name.StartsWith("link-", StringComparison.Ordinal)).ToArray();
        Assert.Equal(faults.Select(static kind => kind.Name).Order(), rows.Keys.Order());
        Assert.All(faults, kind => Assert.StartsWith(
            $"{kind.Bound.TotalSeconds:0} s ", rows[kind.Name][3], StringComparison.Ordinal));
    }

    [Fact]
    public void Faults_of_several_workers_are_read_wherever_their_number_stands()
    {
        var options = Parse("--live", "--faults", "master-kill,cut-out", "--workers", "3");

        Assert.Equal(["master-kill", "cut-out"], options.ClusterFaults!.Select(kind => kind.Name));
        Assert.Equal(3, options.Workers);
    }
}
