using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary><c>up</c> as a real process on the embedded stand-ins: nothing but .NET is needed.</summary>
public sealed class UpTests : IDisposable
{
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(5) };

    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    private UpProcess Embedded(params string[] options) => UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], ["--embedded", .. options]);

    [Fact]
    public async Task Embedded_up_is_one_worker_that_serves_both_ports()
    {
        await using var up = Embedded();
        var ready = await up.Ready();
        var worker = Assert.Single(ready.Workers);
        Assert.Equal(("w1", $"http://127.0.0.1:{_ports[0]}", $"http://127.0.0.1:{_ports[1]}"), (worker.Name, worker.Url, worker.Sidecar));
        Assert.Equal(worker.Pid, worker.SidecarPid);
        Assert.Equal(("file", null, null, "embedded", null), (ready.Log, ready.Redis, ready.RedisPid, ready.Dapr, ready.Dashboard));

        using var status = JsonDocument.Parse(await Http.GetStringAsync($"{worker.Sidecar}/v1.0/invoke/snapper/method/v1/status"));
        Assert.Equal(worker.Pid, status.RootElement.GetProperty("pid").GetInt32());
        Assert.Equal(worker.Pid, status.RootElement.GetProperty("sidecarPid").GetInt32());
        Assert.Single(up.Output);
        Assert.Contains("not for production", up.ErrorText);
    }

    [Fact]
    public async Task The_app_id_is_a_setting_of_the_stand_in_too()
    {
        await using var up = Embedded("--app-id", "shop");
        var worker = (await up.Ready()).Workers[0];
        Assert.NotEmpty(await Http.GetStringAsync($"{worker.Sidecar}/v1.0/invoke/shop/method/v1/status"));
        using var other = await Http.GetAsync(new Uri($"{worker.Sidecar}/v1.0/invoke/snapper/method/v1/status"));
        Assert.Equal(HttpStatusCode.InternalServerError, other.StatusCode);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(15)]
    [InlineData(1)]
    public async Task A_signal_stops_everything_and_leaves_the_data_free(int signal)
    {
        await using var up = Embedded();
        await up.Ready();
        var children = up.Remember();
        Assert.NotEmpty(children);
        up.Signal(signal);
        Assert.Equal(0, await up.Exit());
        Assert.All(children, c => Assert.False(c.IsAlive()));
        DataDirectory.Open(_temp.Path).Dispose();
        Assert.All(_ports, p => Assert.True(Ports.IsFree(p)));
    }

    [Fact]
    public async Task Further_signals_kill_what_does_not_stop()
    {
        await using var up = Embedded();
        var worker = (await up.Ready()).Workers[0];
        const int stop = 19;
        Assert.True(Posix.Send(worker.Pid, stop));
        up.Signal(Posix.Terminate);
        var asked = Stopwatch.GetTimestamp();
        await Eventually.True("the impatient user has been understood", () =>
        {
            // Once understood it must not be sent again: at the very end of a process nobody listens to signals any more.
            var understood = up.HasExited || up.ErrorText.Contains("worker w1 is killed", StringComparison.Ordinal);
            if (!understood) up.Signal(Posix.Terminate);
            return understood;
        });
        Assert.Equal(0, await up.Exit());
        Assert.Contains("worker w1 is killed", up.ErrorText);
        Assert.InRange(Stopwatch.GetElapsedTime(asked), TimeSpan.Zero, TimeSpan.FromSeconds(11));
    }

    [Fact]
    public async Task One_wish_to_stop_that_arrives_twice_is_no_impatience()
    {
        await using var up = Embedded();
        await up.Ready();
        up.Signal(Posix.Terminate);
        up.Signal(2);
        Assert.Equal(0, await up.Exit());
        Assert.DoesNotContain("killed", up.ErrorText);
    }

    [Fact]
    public async Task A_signal_during_the_start_stops_what_was_started_so_far()
    {
        await using var up = Embedded();
        await Eventually.True("the worker was started", () => File.Exists(_temp.File("run/state.json")));
        var children = up.Remember();
        up.Signal(Posix.Terminate);
        Assert.Equal(0, await up.Exit());
        Assert.All(children, c => Assert.False(c.IsAlive()));
        DataDirectory.Open(_temp.Path).Dispose();
    }

    [Fact]
    public async Task A_killed_worker_is_back_and_the_message_says_so()
    {
        await using var up = Embedded();
        var killed = (await up.Ready()).Workers[0];
        Assert.True(Posix.Send(killed.Pid, Posix.Kill));
        await Eventually.True("another worker process answers", async () => await StatusPid(killed.Url) is { } pid && pid != killed.Pid);
        await Eventually.True("the run state names the new process", () => up.State().Workers[0].Worker.Pid == StatusPid(killed.Url).Result);
        Assert.Contains($"worker w1 (pid {killed.Pid}) was ended by signal 9; starting it again in 100 ms", up.ErrorText);
        up.Remember();
    }

    [Fact]
    public async Task Killing_up_itself_leaves_no_orphans_and_the_next_up_starts()
    {
        await using var up = Embedded();
        await up.Ready();
        var children = up.Remember();
        up.Signal(Posix.Kill);
        await Eventually.True("the children are gone", () => children.All(c => !c.IsAlive()));

        await using var next = Embedded();
        await next.Ready();
    }

    [Fact]
    public async Task A_second_up_on_the_same_data_is_refused_and_the_first_goes_on()
    {
        await using var first = Embedded();
        var worker = (await first.Ready()).Workers[0];
        var ports = Ports.Free(2);
        await using var second = UpProcess.Start("up", _temp.Path, ports[0] - 1, ports[1], "--embedded");
        Assert.Equal(1, await second.Exit());
        Assert.Contains($"another 'snapper up' (pid {first.Pid})", second.ErrorText);
        Assert.Empty(second.Output);
        Assert.Equal(worker.Pid, await StatusPid(worker.Url));
    }

    [Theory]
    [InlineData(0, "worker w1", "--base-port")]
    [InlineData(1, "the sidecar of w1", "--sidecar-port")]
    public async Task A_taken_port_is_named_with_its_use_its_holder_and_the_option(int which, string use, string option)
    {
        using var taken = new TcpListener(IPAddress.Loopback, _ports[which]);
        taken.Start();
        await using var up = Embedded();
        Assert.Equal(1, await up.Exit());
        Assert.Contains($"port {_ports[which]} on 127.0.0.1, for {use}, is taken by ", up.ErrorText);
        Assert.Contains($"(pid {Environment.ProcessId})", up.ErrorText);
        Assert.Contains(option, up.ErrorText);
    }

    [Fact]
    public async Task A_data_directory_that_cannot_be_used_is_an_error_not_a_stack_trace()
    {
        File.WriteAllText(_temp.File("file"), "");
        await using var up = UpProcess.Start("up", _temp.File("file/data"), _ports[0] - 1, _ports[1], "--embedded");
        Assert.Equal(1, await up.Exit());
        Assert.Contains("cannot be used", up.ErrorText);
        Assert.DoesNotContain("   at ", up.ErrorText);
    }

    [Fact]
    public async Task A_Redis_that_is_named_and_absent_is_an_error()
    {
        var port = Ports.Free(1)[0];
        await using var up = UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], "--redis", $"127.0.0.1:{port}");
        Assert.Equal(1, await up.Exit());
        Assert.Contains($"Redis at 127.0.0.1:{port} cannot be used", up.ErrorText);
    }

    [Fact]
    public async Task A_taken_dashboard_port_leaves_the_system_running_without_a_dashboard()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var port = ((IPEndPoint)taken.LocalEndpoint).Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        await using var up = UpProcess.Start(
            "up", _temp.Path, _ports[0] - 1, _ports[1], ["--embedded", "--dashboard-port", port], new Dictionary<string, string?> { ["SNAPPER_DASHBOARD"] = "on" });
        Assert.Null((await up.Ready()).Dashboard);
        Assert.Contains($"dashboard: not started, because port {port} on 127.0.0.1 is taken", up.ErrorText);
        Assert.Equal(HttpStatusCode.OK, (await Http.GetAsync($"http://127.0.0.1:{_ports[0]}/healthz")).StatusCode);
    }

    [Fact]
    public async Task A_child_that_does_not_start_ends_up_with_its_last_words()
    {
        var broken = _temp.Script("redis-server", "case $1 in --version) echo v=7.0.15;; *) echo 'bad redis day'; exit 7;; esac");
        await using var up = UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], [], new Dictionary<string, string?> { ["SNAPPER_REDIS_SERVER"] = broken });
        Assert.Equal(1, await up.Exit());
        Assert.Contains("ended with exit code 7 and does not start", up.ErrorText);
        Assert.Contains("bad redis day", up.ErrorText);
        Assert.Empty(up.Output);
    }

    [Fact]
    public async Task A_worker_without_setpriv_notices_that_up_is_gone()
    {
        var useless = _temp.Script("setpriv", "exit 1");
        await using var up = UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], ["--embedded"], new Dictionary<string, string?> { ["SNAPPER_SETPRIV"] = useless });
        await up.Ready();
        var children = up.Remember();
        up.Signal(Posix.Kill);
        await Eventually.True("the worker has noticed", () => children.All(c => !c.IsAlive()));
    }

    [Fact]
    public async Task What_an_earlier_run_left_behind_is_ended_before_anything_starts()
    {
        using var leftover = Process.Start(new ProcessStartInfo("sleep", "600"))!;
        Directory.CreateDirectory(_temp.File("run"));
        new RunStateFile(_temp.File("run/state.json")).Write(new RunState(new(1, 1), [], null, ProcessIdentity.Of(leftover.Id)));
        await using var up = Embedded();
        await up.Ready();
        Assert.True(leftover.HasExited);
        Assert.Contains($"redis-server (pid {leftover.Id}) is left over", up.ErrorText);
    }

    private static async Task<int?> StatusPid(string worker)
    {
        try
        {
            using var status = JsonDocument.Parse(await Http.GetStringAsync($"{worker}/v1/status"));
            return status.RootElement.GetProperty("pid").GetInt32();
        }
        catch (Exception gone) when (gone is HttpRequestException or System.Net.Sockets.SocketException) // the one or the other, by the moment at which it dies
        {
            return null;
        }
    }
}
