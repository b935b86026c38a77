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
