using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Contracts;
using Snapper.Server.Commands;
using Xunit;

namespace Snapper.Cli.Tests;

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
        Assert.Matches(@"\nplanned +1 +1 +2026-01-01 00:00:00Z +m-1: because\n", list);
        Assert.Contains("  m-1.1: freezing after 10 ms\n  m-1.1: 2 requests wait\n", one, StringComparison.Ordinal);
        Assert.Contains("m-1: planned, 1 in all", one, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(409, "w2 cannot move to w3 now")]
    [InlineData(400, "The partition 17 is named twice.")]
    public async Task A_refusal_is_a_failure_and_no_wrong_command_line(int status, string detail)
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", status, $$"""{"status":{{status}},"detail":"{{detail}}"}""");

        var (exit, output, errors) = await InProcess("drain", "w2", "--url", worker.Url);

        Assert.Equal((ExitCode.Failure, "", $"snapper: {detail}\n"), (exit, output, errors));
    }

    [Theory]
    [InlineData("The worker is starting.", "drain", "w1")]
    [InlineData("The store that all workers share (Redis) cannot be reached by this worker now.", "migrate", "17")]
    public async Task A_command_that_begins_a_migration_waits_for_a_worker_that_is_not_ready_and_asks_under_one_id(string detail, params string[] command)
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", 503, $$"""{"status":503,"detail":"{{detail}}"}""")
            .Says("POST /v1/migrations", 503, $$"""{"status":503,"detail":"{{detail}}"}""")
            .Says("POST /v1/migrations", 202, Planned)
            .Says("GET /v1/migrations/m-1", 200, Done);

        var (exit, output, errors) = await InProcess([.. command, "--url", worker.Url]);

        Assert.True(exit == ExitCode.Success, output + errors);
        Assert.Equal($"snapper: {detail} Trying for 30 s.\n", errors);
        var ids = worker.Bodies.Select(static body => (string?)JsonNode.Parse(body)!["id"]).ToList();
        Assert.Equal(3, ids.Count);
        Assert.Matches("^m-[0-9]{17}-[0-9a-f]{4}$", Assert.Single(ids.Distinct()));
    }

    [Fact]
    public async Task A_command_that_begins_a_migration_waits_for_a_worker_that_does_not_listen_yet()
    {
        var before = await StubWorker.Start();
        var url = before.Url;
        await before.DisposeAsync();
        using var errors = new StringWriter();
        using var output = new StringWriter();
        var shared = TextWriter.Synchronized(errors); // locks itself
        var running = CommandLine.Run(["rebalance", "--url", url], output, shared);
        await UntilItWaits();

        await using var worker = await StubWorker.Start(port: new Uri(url).Port);
        worker.Says("POST /v1/migrations", 202, Planned).Says("GET /v1/migrations/m-1", 200, Done);

        Assert.True(await running.WaitAsync(TimeSpan.FromSeconds(40)) == ExitCode.Success, Said());

        async Task UntilItWaits()
        {
            var deadline = Environment.TickCount64 + 20_000;
            while (!Said().Contains("Trying for 30 s.", StringComparison.Ordinal))
            {
                Assert.True(Environment.TickCount64 < deadline, $"The command has not said that it waits: {Said()}");
                await Task.Delay(10);
            }
        }

        string Said()
        {
            lock (shared) return errors.ToString();
        }
    }

    [Fact]
    public async Task What_may_be_repeated_is_given_up_after_its_time_with_the_last_problem()
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", 503, """{"status":503,"detail":"The worker is starting."}""");
        using var api = new OperatorApi(new Uri(worker.Url), null);
        var waits = new List<string>();

        var given = await Assert.ThrowsAsync<OperatorException>(
            () => api.Again(
                HttpMethod.Post, "v1/migrations", ContractJson.Default.MigrationStatus, new MigrationRequest { Id = "m" },
                TimeSpan.FromMilliseconds(300), waits.Add));

        Assert.Equal((503, "The worker is starting."), (given.Status, given.Message));
        Assert.Equal(["The worker is starting."], waits);
        Assert.InRange(worker.Bodies.Count, 2, 5);
    }

    [Fact]
    public async Task A_worker_that_is_silent_is_not_waited_for_long_and_another_is_advised()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start(); // connections come in, and nobody reads them, as with a process that is stopped
        var url = $"http://{silent.LocalEndpoint}";

        var (exit, _, errors) = await InProcess("workers", "--url", url).WaitAsync(TimeSpan.FromSeconds(20));

        Assert.Equal((ExitCode.Failure, $"snapper: the worker at {url}/ does not answer within 10 s. Ask another worker with --url.\n"), (exit, errors));
    }

    [Fact]
    public async Task A_dry_run_names_no_migration_that_could_be_looked_for()
    {
        await using var worker = await StubWorker.Start();
        worker.Says("POST /v1/migrations", 200, Planned);

        var (exit, output, _) = await InProcess("drain", "w1", "--dry-run", "--url", worker.Url);

        Assert.Equal((ExitCode.Success, "dry run: 1 from w1 to w2\ndry run: 1 in all would move\n"), (exit, output));
    }

    [Theory]
    [InlineData("w9", "snapper: no worker w9 runs there; there are w1, w2.\n")]
    [InlineData("w1", "snapper: w1 is the only worker: there is nobody to take what it owns.\n")]
    public async Task A_worker_that_cannot_leave_is_a_failure_and_no_wrong_command_line(string name, string message)
    {
        using var folder = new TempFolder();
        Pretend(folder.Path, "http://127.0.0.1:1", alone: name == "w1");

        var (exit, _, errors) = await InProcess("leave", name, "--data", folder.Path);

        Assert.Equal((ExitCode.Failure, message), (exit, errors));
    }

    [Fact]
    public async Task Who_waits_for_a_system_that_ends_meanwhile_is_told_at_once()
    {
        using var folder = new TempFolder();
        using var system = Process.Start("sleep", "30");
        Pretend(folder.Path, "http://127.0.0.1:1", supervisor: ProcessIdentity.Of(system.Id));

        var joining = InProcess("join", "--data", folder.Path);
        await Eventually.True("it asks", () => new ChangeFiles(DataDirectory.RunIn(folder.Path)).Take() is not null);
        Assert.False(joining.IsCompleted);
        system.Kill();
        await system.WaitForExitAsync();

        var (exit, _, errors) = await joining.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal((ExitCode.Failure, "snapper: the running system has ended before it has answered; start it again, then 'join' again\n"), (exit, errors));
    }

    [Fact]
    public async Task A_worker_that_leaves_is_emptied_through_the_next_worker_when_the_first_does_not_answer()
    {
        await using var stub = await StubWorker.Start();
        stub.Says("GET /v1/workers", 200, """{"workers":[{"worker":"w1","state":"live","entries":0}]}""");
        stub.Says("POST /v1/leave", 200, """{"worker":"w1","state":"left"}""");
        using var folder = new TempFolder();
        Pretend(folder.Path, stub.Url, third: stub.Url);

        var leaving = InProcess("leave", "w1", "--data", folder.Path);
        var system = new ChangeFiles(DataDirectory.RunIn(folder.Path));
        ChangeRequest? asked = null;
        await Eventually.True("it asks the system to stop w1", () => (asked = system.Take()) is not null);
        system.Answer(new ChangeAnswer(asked!.Id, null, null));

        var (exit, output, errors) = await leaving.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal((ExitCode.Success, "w1 has left\n", ""), (exit, output, errors));
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
    [InlineData("./snapper drain <NAME> [options]\n", "drain")]
    [InlineData("./snapper leave <NAME> [options]\n", "leave")]
    [InlineData("./snapper migrate <Type/id|PARTITION>... [options]\n", "migrate")]
    [InlineData("./snapper migrations [<ID>] [options]\n", "migrations")]
    public async Task Help_shows_which_arguments_must_be_there(string usage, string command)
    {
        var (_, output, _) = await InProcess("help", command);
        Assert.Contains(usage, output, StringComparison.Ordinal);
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
    private static void Pretend(string data, string url, bool alone = false, string? third = null, ProcessIdentity? supervisor = null)
    {
        var self = ProcessIdentity.Of(Environment.ProcessId);
        Directory.CreateDirectory(DataDirectory.RunIn(data));
        WorkerRunState[] workers = [new("w1", self, self, url), new("w2", self, self, "http://127.0.0.1:2")];
        new RunStateFile(DataDirectory.RunStateIn(data)).Write(new RunState(supervisor ?? self, alone ? workers[..1] : third is null ? workers : [.. workers, new("w3", self, self, third)], null, null));
    }

    private static async Task<(int Exit, string Output)> Run(string? token, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        start.ArgumentList.Add(UpProcess.CommandLineDll);
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
