using System.Text.Json;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Reporting;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Suite;
using Snapper.Failures;
using Snapper.Terminal;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class ReportingTests
{
    [Fact]
    public void A_table_is_aligned_and_its_cells_cannot_break_it()
    {
        var table = new Table("name", "x");
        table.Add("a|b", "1");
        table.Add("two\nlines", "22");
        Assert.Equal(
            "| name      | x   |\n" +
            "| --------- | --- |\n" +
            "| a\\|b      | 1   |\n" +
            "| two lines | 22  |\n",
            table.ToString());
        Assert.Throws<ArgumentException>(() => table.Add("one cell"));
    }

    [Theory]
    [InlineData(12345.6, "12346")]
    [InlineData(12.34, "12.3")]
    [InlineData(2.345, "2.35")]
    [InlineData(0.1234, "0.123")]
    [InlineData(-0.5, "-0.500")]
    public void Numbers_have_three_digits(double value, string expected) => Assert.Equal(expected, Report.Number(value));

    [Fact]
    public void The_summary_names_bar_aim_verdict_and_the_command_to_measure_again()
    {
        var text = ReportOf(Result() with { Measured = 2.5, Interval = new Interval(2.4, 2.6) }).SummaryTable();
        Assert.Contains("| pact-sidecar | 2.50     | 2.40–2.60     | ≥ 2 | ≥ 3 | bar met | `./snapper bench pact-sidecar` |", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_benchmark_without_a_result_shows_no_number_but_the_reason()
    {
        var markdown = ReportOf(Result() with { Missing = "Snapper PACT: errors: 3 × HTTP 500" }).ToMarkdown();
        Assert.Contains("NO RESULT", markdown, StringComparison.Ordinal);
        Assert.Contains("No result: Snapper PACT: errors: 3 × HTTP 500", markdown, StringComparison.Ordinal);
    }

    [Fact]
    public void A_short_run_says_that_it_is_no_measurement()
    {
        var report = ReportOf(Result());
        Assert.DoesNotContain("not a measurement", report.ToMarkdown(), StringComparison.Ordinal);
        Assert.Contains("not a measurement", (report with { Options = Parsed.Options(["--quick"]) }).ToMarkdown(), StringComparison.Ordinal);
    }

    [Fact]
    public void Every_run_is_in_the_JSON_and_CPU_is_shown_per_process_and_in_sum()
    {
        var run = new RunResult
        {
            Pipelines = 32, Seconds = 2, Committed = 1000, Attempts = 1010, ActAttempts = 0, ActAborted = 0,
            Aborts = new Dictionary<string, long> { ["timeout"] = 10 }, Errors = new Dictionary<string, long>(),
            Cpu = [new CpuShare("server", 100_000), new CpuShare("daprd", 300_000), new CpuShare(CpuMeter.Generator, 50_000)],
            P50 = 1500, P99 = 4000, Max = 5000, Void = null,
        };
        var side = new SideRuns("Snapper PACT", new LoadShape(32), [run], []);
        var report = ReportOf(Result() with { Measured = 2.5, Sides = [side] });
        var markdown = report.ToMarkdown();
        Assert.Contains("500 [500–500]", markdown, StringComparison.Ordinal);
        Assert.Contains("450 [450–450]", markdown, StringComparison.Ordinal);
        Assert.Contains("server 100, daprd 300, load generator 50.0", markdown, StringComparison.Ordinal);
        Assert.Contains("transactions aborted: 10 × timeout", markdown, StringComparison.Ordinal);

        using var json = JsonDocument.Parse(report.ToJson());
        var written = json.RootElement.GetProperty("results")[0].GetProperty("sides")[0].GetProperty("runs")[0];
        Assert.Equal(1000, written.GetProperty("committed").GetInt64());
        Assert.Equal("daprd", written.GetProperty("cpu")[1].GetProperty("role").GetString());
        Assert.Equal(10, written.GetProperty("aborts").GetProperty("timeout").GetInt64());
    }

    [Fact]
    public void Options_are_read_and_wrong_ones_named()
    {
        var options = Parsed.Options(["noop", "--duration", "2.5", "--connections", "8,16", "pact-cpu", "--repeat", "3"]);
        Assert.Equal(["noop", "pact-cpu"], options.Names);
        Assert.Equal(2.5, options.Duration);
        Assert.Equal([8, 16], options.Connections);
        Assert.Equal("--duration 2.5 --connections 8,16 --repeat 3", options.Given);

        Assert.Equal(new BenchmarkOptions().Batches, options.Batches);
        Assert.NotEmpty(options.Pipelines);

        Assert.Contains("--duraton", Wrong("--duraton", "1"), StringComparison.Ordinal);
        Assert.Contains("--repeat", Wrong("--repeat"), StringComparison.Ordinal);
        Assert.Contains("'0'", Wrong("--repeat", "0"), StringComparison.Ordinal);
        Assert.Contains("'8,x'", Wrong("--connections", "8,x"), StringComparison.Ordinal);
        Assert.Equal("v1.2", Parsed.Options(["--old", "v1.2"]).Old);
        Assert.Contains("--old must be a commit", Wrong("--old", "--force"), StringComparison.Ordinal);
        Assert.Contains("nonsense", Assert.Throws<UsageException>(() => BenchmarkSuite.Select(["nonsense"])).Message, StringComparison.Ordinal);

        static string Wrong(params string[] arguments) => Assert.Throws<UsageException>(() => Parsed.Options(arguments)).Message;
    }

    [Fact]
    public void Every_benchmark_has_a_name_of_its_own_and_says_what_it_measures()
    {
        Assert.Equal(BenchmarkSuite.All.Count, BenchmarkSuite.All.Select(each => each.Name).Distinct().Count());
        Assert.All(BenchmarkSuite.All, each => Assert.NotEmpty(each.What));
    }

    private static BenchmarkResult Result() => new() { Name = "pact-sidecar", What = "what", Goal = new Goal(2, 3, true), Command = "./snapper bench pact-sidecar" };

    private static Report ReportOf(BenchmarkResult result) => new(
        new MachineFacts(2, "a cpu", "an os", ".NET", "workstation", 0.5, DateTimeOffset.UnixEpoch, "abc"), new BenchmarkOptions(), [result]);
}
