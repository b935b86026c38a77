using System.Text.Json;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Sidecar.Client;
using Xunit;

namespace Snapper.Cli.Tests;

public sealed class SupervisionPartsTests : IDisposable
{
    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void The_ready_line_has_exactly_the_fields_of_the_contract()
    {
        var line = new ReadyLine(
            [new ReadyWorker("w1", "http://127.0.0.1:5101", "http://127.0.0.1:3500", 12, 13)], Dashboard: null, "file", Redis: null, RedisPid: null, "embedded").ToLine();
        Assert.Equal(
            """ready {"workers":[{"name":"w1","url":"http://127.0.0.1:5101","sidecar":"http://127.0.0.1:3500","pid":12,"sidecarPid":13}],"dashboard":null,"log":"file","redis":null,"redisPid":null,"dapr":"embedded"}""",
            line);
        Assert.Equal("w1", ReadyLine.Parse(line)!.Workers[0].Name);
        Assert.Null(ReadyLine.Parse("readyish"));
    }

    [Fact]
    public void The_back_off_doubles_from_100_ms_to_1_s_and_starts_anew_after_a_healthy_life()
    {
        var backoff = new RestartBackoff();
        var waits = Enumerable.Range(0, 8).Select(_ => backoff.After(TimeSpan.FromSeconds(1)).TotalMilliseconds).ToArray();
        Assert.Equal([100, 200, 400, 800, 1000, 1000, 1000, 1000], waits);
        Assert.Equal(8, backoff.YoungDeaths);
        Assert.Equal(100, backoff.After(RestartBackoff.HealthyAfter).TotalMilliseconds);
        Assert.Equal(0, backoff.YoungDeaths);
    }

    [Fact]
    public void A_data_directory_has_one_owner_and_the_second_is_told_who()
    {
        using (DataDirectory.Open(_temp.Path))
        {
            var refused = Assert.Throws<StartupException>(() => DataDirectory.Open(_temp.Path));
            Assert.Contains($"(pid {Environment.ProcessId})", refused.Message);
            Assert.Contains(_temp.Path, refused.Message);
        }

        DataDirectory.Open(_temp.Path).Dispose();
    }

    [Fact]
    public void A_data_directory_that_cannot_be_made_is_a_clear_error()
    {
        File.WriteAllText(_temp.File("file"), "");
        var refused = Assert.Throws<StartupException>(() => DataDirectory.Open(_temp.File("file/data")));
        Assert.Contains(_temp.File("file/data"), refused.Message);
        Assert.Contains("--data", refused.Message);
    }

    [Fact]
    public void The_data_directory_remembers_which_log_was_used()
    {
        using var data = DataDirectory.Open(_temp.Path);
        Assert.Null(data.ExchangeLogKind("redis"));
        Assert.Equal("redis", data.ExchangeLogKind("file"));
        Assert.Equal("file", data.ExchangeLogKind("file"));
    }

    [Fact]
    public async Task Readers_of_the_run_state_see_whole_states_while_it_is_written()
    {
        var file = new RunStateFile(_temp.File("state.json"));
        Assert.Null(file.Read());
        static RunState State(int pid) => new(new(1, 1), [new("w1", new(pid, 1), new(pid, 1))], null, null);
        file.Write(State(1));
        using var written = new CancellationTokenSource();
        var reader = Task.Run(() =>
        {
            var last = 0;
            while (!written.IsCancellationRequested)
            {
                var pid = new RunStateFile(file.FilePath).Read()!.Workers[0].Worker.Pid;
                Assert.True(pid >= last, $"{pid} after {last}");
                last = pid;
            }
        });
        for (var pid = 2; pid < 500; pid++) file.Write(State(pid));
        await written.CancelAsync();
        await reader;
        Assert.Equal(499, file.Read()!.Workers[0].Sidecar.Pid);
    }

    [Fact]
    public void A_process_is_known_by_its_pid_and_its_start()
    {
        var self = ProcessIdentity.Of(Environment.ProcessId);
        Assert.True(self.IsAlive());
        Assert.False((self with { StartTicks = self.StartTicks + 1 }).IsAlive());
        Assert.False(ProcessIdentity.None.IsAlive());
    }

    [Fact]
    public void A_log_file_is_rotated_when_large_and_its_tail_is_bounded()
    {
        var log = new LogFile(_temp.File("a.log"));
        Assert.Empty(log.Tail(3));
        File.WriteAllText(log.FilePath, "one\ntwo\n\nthree\nfour\n");
        Assert.Equal(["two", "three", "four"], log.Tail(3));
        log.Rotate();
        Assert.Empty(log.Tail(3)); // all of it is of an older start
        File.AppendAllText(log.FilePath, "five\n");
        Assert.Equal(["five"], log.Tail(3));

        File.WriteAllText(log.FilePath, new string('x', 11 * 1024 * 1024));
        log.Rotate();
        Assert.False(File.Exists(log.FilePath));
        Assert.True(File.Exists(log.FilePath + ".1"));
    }

    [Fact]
    public void Programs_of_others_get_no_secret_of_ours_and_what_every_program_needs()
    {
        Environment.SetEnvironmentVariable("SNAPPER_TOKEN", "an-operators-own-token");
        try
        {
            var spec = new ProcessSpec
            {
                Name = "a program", Program = "true", Arguments = [], Log = new LogFile(_temp.File("c.log")),
                HasOwnEnvironment = true,
                Environment = new Dictionary<string, string?> { ["OWN"] = "1" },
            };
            var environment = spec.ToStartInfo(new ChildWrappers(null, null)).Environment;
            Assert.False(environment.ContainsKey("SNAPPER_TOKEN"));
            Assert.Equal("1", environment["OWN"]);
            Assert.Equal(Environment.GetEnvironmentVariable("PATH"), environment["PATH"]);
            var other = (spec with { HasOwnEnvironment = false }).ToStartInfo(new ChildWrappers(null, null));
            Assert.True(other.Environment.ContainsKey("SNAPPER_TOKEN"));
        }
        finally
        {
            Environment.SetEnvironmentVariable("SNAPPER_TOKEN", null);
        }
    }

    [Fact]
    public void A_log_file_is_rotated_while_its_child_appends_to_it()
    {
        var log = new LogFile(_temp.File("b.log"));
        using var child = new StreamWriter(
            new FileStream(log.FilePath, FileMode.Append, FileAccess.Write, FileShare.ReadWrite));
        child.AutoFlush = true;
        child.Write("few\n");
        log.RotateWhileWritten();
        Assert.False(File.Exists(log.FilePath + ".1"));

        child.Write(new string('x', 11 * 1024 * 1024));
        log.RotateWhileWritten();
        Assert.Equal((11L * 1024 * 1024) + 4, new FileInfo(log.FilePath + ".1").Length);
        Assert.Equal(0, new FileInfo(log.FilePath).Length);
        Assert.Empty(log.Tail(3));
        File.AppendAllText(log.FilePath, "later\n");
        Assert.Equal(["later"], log.Tail(3));
    }

    [Theory]
    [InlineData("""{"actorRuntime":{"hostReady":true,"activeActors":[{"type":"Account@w1"}]}}""", true)]
    [InlineData("""{"actorRuntime":{"hostReady":false,"activeActors":[{"type":"Account@w1"}]}}""", false)]
    [InlineData("""{"actorRuntime":{"hostReady":true,"activeActors":[]}}""", false)]
    [InlineData("""{"actorRuntime":{"hostReady":true}}""", false)]
    [InlineData("""{"id":"snapper"}""", false)]
    public void A_sidecar_is_ready_when_it_has_registered_actor_types(string metadata, bool ready)
    {
        var read = JsonSerializer.Deserialize<SidecarMetadata>(metadata, JsonSerializerOptions.Web);
        Assert.Equal(ready, ReadinessProbe.HostsActors(read));
    }
}
