using System.Net;
using System.Net.Sockets;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

public sealed class DiscoveryTests : IDisposable
{
    private readonly TempFolder _temp = new();
    private readonly Dictionary<string, string> _environment = [];

    private ExecutableFinder Finder => new(n => _environment.GetValueOrDefault(n), _temp.File("home"));

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void A_variable_names_the_program_and_a_wrong_one_is_an_error_not_a_guess()
    {
        _environment["PATH"] = "/usr/bin:/bin";
        _environment["SNAPPER_SH"] = _temp.Script("my sh", "exit 0");
        Assert.Equal([_temp.File("my sh")], Finder.Find("sh", "SNAPPER_SH"));

        _environment["SNAPPER_SH"] = _temp.File("absent");
        Assert.Contains("absent", Assert.Throws<StartupException>(() => Finder.Find("sh", "SNAPPER_SH")).Message);
    }

    [Fact]
    public void Dapr_is_looked_for_in_the_folder_that_its_own_installer_fills()
    {
        Directory.CreateDirectory(_temp.File("home/.dapr/bin"));
        _temp.Script("home/.dapr/bin/daprd", "echo 1.18.1");
        var found = ServerPrograms.Daprd(Finder);
        Assert.Equal(_temp.File("home/.dapr/bin/daprd"), found.Path);
        Assert.Equal(new Version(1, 18, 1), found.Version);
    }

    [Fact]
    public void A_daprd_that_is_too_old_is_passed_over_and_named_when_there_is_no_other()
    {
        Directory.CreateDirectory(_temp.File("old"));
        _temp.Script("old/daprd", "echo 1.16.2");
        _environment["PATH"] = _temp.File("old");
        var none = ServerPrograms.Daprd(Finder);
        Assert.Null(none.Path);
        Assert.Contains("1.16.2", none.Finding);
        Assert.Contains("1.18.1 or later is needed", none.Finding);

        Directory.CreateDirectory(_temp.File("home/.dapr/bin"));
        _temp.Script("home/.dapr/bin/daprd", "echo 1.19.0-rc.1");
        Assert.Equal(new Version(1, 19, 0), ServerPrograms.Daprd(Finder).Version);
    }

    [Theory]
    [InlineData("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", "7.0.15")]
    [InlineData("1.18.1\n", "1.18.1")]
    [InlineData("edge", null)]
    public void Versions_are_read_from_what_the_programs_print(string text, string? version)
    {
        Assert.Equal(version, ServerPrograms.ParseVersion(text)?.ToString());
    }

    [Fact]
    public void On_a_bare_machine_the_plan_is_the_stand_in_and_a_file_and_says_why()
    {
        var plan = Plan.Make(Options(), Finder);
        Assert.Equal((LogKind.File, SidecarKind.Embedded), (plan.Log, plan.Sidecar));
        Assert.Contains(plan.Reasons, r => r.Contains("no redis-server on PATH", StringComparison.Ordinal));
        Assert.Contains(plan.Reasons, r => r.Contains("no daprd", StringComparison.Ordinal) && r.Contains("not for production", StringComparison.Ordinal));
    }

    [Fact]
    public void Embedded_is_taken_although_everything_is_there()
    {
        Directory.CreateDirectory(_temp.File("bin"));
        _temp.Script("bin/redis-server", "echo v=7.2.0");
        _temp.Script("bin/daprd", "echo 1.18.1");
        _temp.Script("bin/placement", "exit 1");
        _environment["PATH"] = _temp.File("bin");
        var best = Plan.Make(Options(), Finder);
        Assert.Equal((LogKind.Redis, SidecarKind.Daprd, _temp.File("bin/redis-server")), (best.Log, best.Sidecar, best.RedisServer));

        var forced = Plan.Make(Options("--embedded"), Finder);
        Assert.Equal((LogKind.File, SidecarKind.Embedded, null), (forced.Log, forced.Sidecar, forced.RedisServer));
    }

    [Fact]
    public void A_named_Redis_is_used_and_no_private_one_is_started()
    {
        var plan = Plan.Make(Options("--redis", "localhost:7000"), Finder);
        Assert.Equal((LogKind.Redis, null, "localhost:7000"), (plan.Log, plan.RedisServer, plan.ForeignRedis.ToString()));
    }

    [Theory]
    [InlineData("localhost:6379", true)]
    [InlineData("[::1]:6379", true)]
    [InlineData("::1:6379", false)]
    [InlineData("localhost", false)]
    [InlineData(":6379", false)]
    [InlineData("localhost:0", false)]
    [InlineData("localhost:65536", false)]
    [InlineData("user@host:1", false)]
    [InlineData("redis://host:1", false)]
    [InlineData("host:+1", false)]
    public void Addresses_are_HOST_and_PORT(string text, bool valid)
    {
        Assert.Equal(valid, HostAndPort.TryParse(text, out var address));
        if (valid) Assert.Equal(text, address.ToString());
    }

    [Fact]
    public void A_taken_port_is_found_with_the_process_that_holds_it()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var port = ((IPEndPoint)listener.LocalEndpoint).Port;
        Assert.False(Ports.IsFree(port));
        Assert.Contains($"(pid {Environment.ProcessId})", Ports.Holder(port));
        listener.Stop();
        Assert.True(Ports.IsFree(port));
        Assert.Null(Ports.Holder(port));
    }

    [Fact]
    public void Free_ports_are_different_from_each_other() => Assert.Equal(50, Ports.Free(50).Distinct().Count());

    [Fact]
    public void Random_ports_keep_away_from_the_ports_that_the_options_name()
    {
        string[] ports = ["--base-port", "20000", "--sidecar-port", "20100", "--dashboard-port", "20200"];
        var named = Options(["--workers", "3", .. ports]);
        Assert.Equal(
            [.. Enumerable.Range(20_001, 64), .. Enumerable.Range(20_100, 64), 20_200],
            Enumerable.Range(0, 65_536).Where(named.Names));

        // Without the rule each port would be one of these 3,000 in three of four cases.
        Assert.DoesNotContain(Ports.Free(50, port => port > 23_000), port => port > 23_000);
    }

    private static UpOptions Options(params string[] arguments) => UpCommand.Parse(arguments);
}
