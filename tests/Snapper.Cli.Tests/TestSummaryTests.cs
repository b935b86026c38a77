using Snapper.TestRunner;
using Xunit;

namespace Snapper.Cli.Tests;

public sealed class TestSummaryTests : IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    private void Report(string name, string results, string runInfos = "") => File.WriteAllText(_temp.File(name + ".trx"),
        $"""
        <?xml version="1.0" encoding="utf-8"?>
        <TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
          <Results>{results}</Results>
          <ResultSummary outcome="Completed"><RunInfos>{runInfos}</RunInfos></ResultSummary>
        </TestRun>
        """);

    private const string Passed = """<UnitTestResult testName="A.good" outcome="Passed" />""";
    private const string Failed = """<UnitTestResult testName="A.bad" outcome="Failed"><Output><ErrorInfo><Message>one is not two&#xA;more</Message></ErrorInfo></Output></UnitTestResult>""";
    private const string Skipped = """<UnitTestResult testName="A.absent" outcome="NotExecuted"><Output><ErrorInfo><Message>needs redis-server</Message></ErrorInfo></Output></UnitTestResult>""";

    [Fact]
    public void All_projects_are_added_up()
    {
        Report("a", Passed + Passed);
        Report("b", Passed);
        var summary = TestSummary.Read(_temp.Path, testRunFailed: false, failOnSkipped: true);
        Assert.True(summary.Succeeded);
        Assert.Equal("3 passed, 0 failed", summary.LastLine);
        Assert.Empty(summary.Details);
    }

    [Fact]
    public void A_failure_is_counted_and_named_with_its_message()
    {
        Report("a", Passed + Failed);
        var summary = TestSummary.Read(_temp.Path, testRunFailed: true, failOnSkipped: false);
        Assert.False(summary.Succeeded);
        Assert.Equal("1 passed, 1 failed", summary.LastLine);
        Assert.Equal(["failed: A.bad: one is not two", "    more"], summary.Details);
    }

    [Fact]
    public void A_test_that_did_not_run_is_listed_with_its_reason_and_fails_where_that_is_asked_for()
    {
        Report("a", Passed + Skipped);
        var here = TestSummary.Read(_temp.Path, testRunFailed: false, failOnSkipped: false);
        Assert.True(here.Succeeded);
        Assert.Equal("1 passed, 0 failed, 1 skipped", here.LastLine);
        Assert.Equal(["did not run: A.absent: needs redis-server"], here.Details);

        var ci = TestSummary.Read(_temp.Path, testRunFailed: false, failOnSkipped: true);
        Assert.False(ci.Succeeded);
        Assert.Equal("1 passed, 1 failed", ci.LastLine);
    }

    [Fact]
    public void A_crashed_test_host_is_a_failure_although_its_finished_tests_passed()
    {
        Report("a", Passed, """<RunInfo outcome="Error"><Text>The active test run was aborted. Reason: Test host process crashed</Text></RunInfo>""");
        var summary = TestSummary.Read(_temp.Path, testRunFailed: true, failOnSkipped: false);
        Assert.False(summary.Succeeded);
        Assert.Equal("1 passed, 1 failed", summary.LastLine);
    }

    [Fact]
    public void A_failing_test_with_a_crash_in_its_name_is_counted_once()
    {
        Report("a", Passed + Failed, """<RunInfo outcome="Error"><Text>[xUnit.net 00:01:33.13]     A.CrashTests.Aborted_writes_vanish [FAIL]</Text></RunInfo>""");
        Assert.Equal("1 passed, 1 failed", TestSummary.Read(_temp.Path, testRunFailed: true, failOnSkipped: false).LastLine);
    }

    [Fact]
    public void A_runner_that_fails_without_a_failed_test_is_a_failure()
    {
        Report("a", Passed);
        Assert.Equal("1 passed, 1 failed", TestSummary.Read(_temp.Path, testRunFailed: true, failOnSkipped: false).LastLine);
    }

    [Fact]
    public void A_report_that_breaks_off_is_a_failure()
    {
        Report("a", Passed);
        File.WriteAllText(_temp.File("b.trx"), "<TestRun><Results>");
        Assert.Equal("1 passed, 1 failed", TestSummary.Read(_temp.Path, testRunFailed: false, failOnSkipped: false).LastLine);
    }

    [Fact]
    public void No_test_at_all_is_not_a_success()
    {
        var summary = TestSummary.Read(_temp.Path, testRunFailed: false, failOnSkipped: false);
        Assert.False(summary.Succeeded);
        Assert.Equal("0 passed, 0 failed", summary.LastLine);
        Assert.Equal(["no test ran"], summary.Details);
    }
}
