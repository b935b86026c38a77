using System.Diagnostics;
using System.Globalization;
using Snapper.Server.Cli;
using Snapper.Server.Supervision;
using Xunit;

namespace Snapper.Server.Tests.Cli;

/// <summary>What operators type, as a process with an environment of its own, before a worker that says what the test wants.</summary>
public sealed class OperatorCommandTests
{
    private const string Workers = """
        {"workers":[{"worker":"w1","epoch":3,"state":"live","master":true,"leaseMs":3900,"entries":2048,"url":"http://127.0.0.1:1","pid":1,"version":"t","expirations":0,"evictions":0},
                    {"worker":"w2","epoch":4,"state":"live","master":false,"leaseMs":3900,"entries":0,"url":"http://127.0.0.1:2","pid":2,"version":"t","expirations":0,"evictions":0}]}
        """;

    private const string Planned = """
        {"id":"m-1","state":"planned","keys":1,"reason":"","parts":[{"plan":"m-1.1","from":"w1","to":"w2","keys":1,"state":"planned","phases":[]}]}
        """;

    private const string Done = """
        {"id":"m-1","state":"done","keys":1,"reason":"","parts":[{"plan":"m-1.1","from":"w1","to":"w2","keys":1,"state":"done","phases":[]}]}
        """;

    [Theory]
    [InlineData("workers", "GET /v1/workers")]
    [InlineData("drain w1", "POST /v1/migrations")]
    [InlineData("migrate Account/alice", "POST /v1/migrations")]
    [InlineData("rebalance", "POST /v1/migrations")]
    public async Task Commands_send_the_token_of_their_environment(string line, string asked)
    {
        await using var worker = await StubWorker.Start("apptok");
        worker.Says("GET /v1/workers", 200, Workers).Says("POST /v1/migrations", 202, Planned).Says("GET /v1/migrations/m-1", 200, Done);
        var command = line.Split(' ');

        var (exit, output) = await Run("apptok", [command[0], "--url", worker.Url, .. command[1..]]);

        Assert.True(exit == ExitCode.Success, output);
        Assert.Contains(worker.Asked, question => question.What == asked);
        Assert.All(worker.Asked, question => Assert.Equal("apptok", question.Token));
    }

    [Theory]
    [InlineData(null, "Set APP_API_TOKEN to the one that the workers were started with.")]
    [InlineData("othertok", "APP_API_TOKEN is set here, but to another token than that worker's.")]
    public async Task Without_the_right_token_a_command_says_what_is_missing(string? token, string message)
    {
        await using var worker = await StubWorker.Start("apptok");

        var (exit, output) = await Run(token, ["workers", "--url", worker.Url]);

        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains(message, output, StringComparison.Ordinal);
        Assert.Single(worker.Asked);
        Assert.DoesNotContain("tok,", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Leave_sends_the_token_and_without_it_ends_at_once()
    {
        using var folder = new TempFolder();
        await using var worker = await StubWorker.Start("apptok");
        worker.Says("GET /v1/workers", 200, Workers);
        Pretend(folder.Path, worker.Url);

        var (exit, output) = await Run(null, ["leave", "--data", folder.Path, "w2"]);

        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("it wants a token", output, StringComparison.Ordinal);
        Assert.Single(worker.Asked); // it is not asked again and again
    }

    [Fact]
    public async Task A_command_that_follows_a_migration_goes_on_while_its_worker_starts_again()
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", 202, Planned)
            .Says("GET /v1/migrations/m-1", 503, """{"status":503,"detail":"The worker is starting."}""")
            .Says("GET /v1/migrations/m-1", 503, """{"status":503,"detail":"The worker is starting."}""")
            .Says("GET /v1/migrations/m-1", 200, Done);

        var (exit, output) = await Run(null, ["drain", "--url", worker.Url, "w1"]);

        Assert.True(exit == ExitCode.Success, output);
        Assert.Contains("m-1: done", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_command_that_follows_a_migration_says_each_step_once_as_it_happens()
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", 202, Planned)
            .Says("GET /v1/migrations/m-1", 200, Moving("planned", 3, "planned", "freezing"))
            .Says("GET /v1/migrations/m-1", 200, Moving("planned", 3, "planned", "freezing", "draining"))
            .Says("GET /v1/migrations/m-1", 200, Moving("done", 0, "planned", "freezing", "draining", "handingover", "done"));

        var (exit, output, _) = await InProcess("migrate", "Account/alice", "--url", worker.Url, "--to=w2");

        Assert.Equal(ExitCode.Success, exit);
        Assert.Equal(
            [
                "  m-1.1: planned, 1 from w1 to w2", "  m-1.1: freezing after 10 ms", "  m-1.1: 3 requests wait", "  m-1.1: draining after 20 ms", "  m-1.1: handingover after 30 ms",
                "  m-1.1: done after 40 ms", "  m-1.1: 0 requests wait", "m-1.1: 1 from w1 to w2: done, at most 3 requests waited", "m-1: done, 1 in all",
            ],
            output.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public async Task Migrations_are_listed_and_shown_with_their_steps()
    {
        await using var worker = await StubWorker.Start();
        var moving = Moving("planned", 2, "planned", "freezing");
        worker.Says("GET /v1/migrations", 200, $$"""{"migrations":[{{moving}}]}""").Says("GET /v1/migrations/m-1", 200, moving);

        var (listed, list, _) = await InProcess("migrations", "--url", worker.Url);
        var (shown, one, _) = await InProcess("migrations", "m-1", "--url", worker.Url);

        Assert.Equal((ExitCode.Success, ExitCode.Success), (listed, shown));
        Assert.Contains("planned        1      1  2026-01-01 00:00:00Z  m-1: because", list, StringComparison.Ordinal);
        Assert.Contains("  m-1.1: freezing after 10 ms\n  m-1.1: 2 requests wait\n", one, StringComparison.Ordinal);
        Assert.Contains("m-1: planned, 1 in all", one, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(409, "w2 cannot move to w3 now")]
    [InlineData(503, "The store that all workers share (Redis) cannot be reached")]
    public async Task A_refusal_is_a_failure_and_no_wrong_command_line(int status, string detail)
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", status, $$"""{"status":{{status}},"detail":"{{detail}}"}""");

        var (exit, output, errors) = await InProcess("drain", "w2", "--url", worker.Url);

        Assert.Equal((ExitCode.Failure, "", $"snapper: {detail}\n"), (exit, output, errors));
    }

    [Fact]
    public async Task Where_no_worker_answers_the_command_fails_and_says_so()
    {
        var url = (await StubWorker.Start()) is var gone ? gone.Url : "";
        await gone.DisposeAsync();

        var (exit, _, errors) = await InProcess("workers", "--url", url);

        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains($"no worker answers at {url}", errors, StringComparison.Ordinal);
        Assert.DoesNotContain("help", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Options_may_stand_behind_arguments()
    {
        using var folder = new TempFolder();
        var (exit, _, errors) = await InProcess("leave", "w2", "--data", folder.Path);

        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains($"runs on {folder.Path}", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("usage: ./snapper drain [options] NAME\n", "drain")]
    [InlineData("usage: ./snapper leave [options] NAME\n", "leave")]
    [InlineData("usage: ./snapper migrate [options] Type/id ... | PARTITION ...\n", "migrate")]
    [InlineData("usage: ./snapper migrations [options] [ID]\n", "migrations")]
    [InlineData("usage: ./snapper bench [NAME ...]\n", "bench")]
    public async Task Help_shows_which_arguments_must_be_there(string usage, string command)
    {
        var (_, output, _) = await InProcess("help", command);
        Assert.StartsWith(usage, output, StringComparison.Ordinal);
    }

    private static string Moving(string state, int frozen, params string[] phases)
    {
        var steps = string.Join(',', phases.Select((phase, i) => $$"""{"phase":"{{phase}}","at":"2026-01-01T00:00:00.0{{i}}0Z"}"""));
        return $$"""
            {"id":"m-1","state":"{{state}}","keys":1,"reason":"because","parts":[{"plan":"m-1.1","from":"w1","to":"w2","keys":1,"state":"{{state}}","created":"2026-01-01T00:00:00Z",
             "frozenRequests":{{frozen}},"mostFrozenRequests":3,"phases":[{{steps}}]}]}
            """;
    }

    private static async Task<(int Exit, string Output, string Errors)> InProcess(params string[] arguments)
    {
        using var output = new StringWriter();
        using var errors = new StringWriter();
        var exit = await CommandLine.Run(arguments, output, errors);
        return (exit, output.ToString(), errors.ToString());
    }

    /// <summary>A run state as <c>up</c> writes it, of this very process.</summary>
    private static void Pretend(string data, string url)
    {
        var self = ProcessIdentity.Of(Environment.ProcessId);
        Directory.CreateDirectory(DataDirectory.RunIn(data));
        new RunStateFile(DataDirectory.RunStateIn(data)).Write(new RunState(
            self, [new WorkerRunState("w1", self, self, url), new WorkerRunState("w2", self, self, "http://127.0.0.1:2")], null, null));
    }

    private static async Task<(int Exit, string Output)> Run(string? token, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        start.ArgumentList.Add(UpProcess.ServerDll);
        foreach (var argument in arguments) start.ArgumentList.Add(argument);
        start.Environment.Remove("APP_API_TOKEN");
        if (token is not null) start.Environment["APP_API_TOKEN"] = token;
        using var process = Process.Start(start)!;
        var (output, errors) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        try
        {
            await process.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(40));
        }
        catch (TimeoutException)
        {
            process.Kill();
            Assert.Fail(string.Create(CultureInfo.InvariantCulture, $"snapper {string.Join(' ', arguments)} has not ended after 40 s"));
        }

        return (process.ExitCode, await output + await errors);
    }
}
