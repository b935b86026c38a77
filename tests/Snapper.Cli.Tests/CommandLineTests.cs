using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Xunit;

namespace Snapper.Cli.Tests;

public sealed class CommandLineTests
{
    private static async Task<(int Exit, string Output, string Errors)> Run(params string[] arguments)
    {
        var output = new StringWriter();
        var errors = new StringWriter();
        var exit = await CommandLine.Run(arguments, output, errors);
        return (exit, output.ToString(), errors.ToString());
    }

    private static UpOptions Up(params string[] arguments) => UpCommand.Parse(arguments);

    [Fact]
    public async Task Without_a_command_the_help_is_shown_and_the_exit_code_is_2()
    {
        var (exit, output, errors) = await Run();
        Assert.Equal(ExitCode.Usage, exit);
        Assert.Empty(output);
        Assert.Contains("./snapper [command]", errors);
    }

    [Fact]
    public async Task Help_lists_the_commands_with_the_one_that_pods_run()
    {
        var (exit, output, _) = await Run("--help");
        Assert.Equal(ExitCode.Success, exit);
        string[] commands =
        [
            "up", "demo", "dashboard", "doctor", "setup", "test", "bench", "load", "verify", "workers", "migrations",
            "migrate", "drain", "rebalance",
        ];
        foreach (var command in commands) Assert.Contains($"\n  {command} ", output);
        Assert.Contains("\n  worker ", output);
    }

    [Fact]
    public async Task A_token_of_no_tenant_is_made_without_a_list_of_tenants()
    {
        var (exit, output, errors) = await Run("token", "--name", "ops", "--role", "operator");
        Assert.Equal((ExitCode.Success, ""), (exit, errors));
        Assert.DoesNotContain("tenants", output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("help", "up")]
    [InlineData("up", "--help")]
    public async Task Help_of_a_command_lists_every_option(string first, string second)
    {
        var (exit, output, _) = await Run(first, second);
        Assert.Equal(ExitCode.Success, exit);
        foreach (var option in UpOptions.All) Assert.Contains(option.Name, output);
    }

    [Theory]
    [InlineData("'start'", "start")]
    [InlineData("'--wrokers'", "up", "--wrokers", "1")]
    [InlineData("'now'", "up", "now")]
    [InlineData("'--data'", "up", "--data")]
    [InlineData("'--data'", "up", "--data=")]
    [InlineData("--data needs a value", "up", "--data", "")]
    [InlineData("'yes'", "up", "--embedded=yes")]
    [InlineData("'--data'", "up", "--data", "a", "--data=b")]
    [InlineData("'@file'", "up", "@file")]
    [InlineData("--workers and --embedded contradict each other", "up", "--workers", "2", "--embedded")]
    [InlineData("--workers must be a whole number", "up", "--workers", "0")]
    [InlineData("--base-port must be a whole number", "up", "--base-port", "99999")]
    [InlineData("a port up to 65535 for each worker", "up", "--workers", "9", "--base-port", "65530")]
    [InlineData("--app-id must be 1 to 63 letters", "up", "--app-id", "my shop")]
    [InlineData("--app-id must be 1 to 63 letters", "worker", "--app-id", "a/b")]
    [InlineData("both lead to port 3500", "up", "--base-port", "3499")]
    [InlineData("--redis must be HOST:PORT", "up", "--redis", "localhost")]
    [InlineData("--embedded and --redis contradict", "up", "--embedded", "--redis", "localhost:6379")]
    [InlineData("--fsync must be always or everysec", "up", "--fsync", "never")]
    [InlineData("'--stay'", "up", "--stay")]
    [InlineData("--seconds must be a whole number", "demo", "--seconds", "-1")]
    [InlineData("--log must be redis or file", "worker", "--log", "tape")]
    [InlineData("--log redis needs --redis", "worker", "--log", "redis")]
    [InlineData("--workers needs --log redis", "worker", "--workers", "2")]
    [InlineData("--name must be", "worker", "--name", "a/b")]
    [InlineData("--listen-port must be", "worker", "--listen-port", "0")]
    [InlineData("--listen-address must be an IP address", "worker", "--listen-address", "everywhere")]
    [InlineData("0.0.0.0 is reached from other machines, and APP_API_TOKEN is not set", "worker", "--listen-address", "0.0.0.0")]
    [InlineData("--app-protocol must be http or h2c", "worker", "--app-protocol", "grpc")]
    [InlineData("--app-protocol h2c needs an --app-port of its own", "worker", "--app-protocol", "h2c")]
    [InlineData("--app-protocol h2c needs an --app-port of its own", "worker", "--app-protocol", "h2c", "--app-port",
        "5101")]
    [InlineData("--url must be http://HOST:PORT", "worker", "--url", "ftp://a")]
    [InlineData("--leave-on-stop must be a whole number from 1 to 600, not '0'", "worker", "--leave-on-stop", "0")]
    [InlineData("--take-share must be on or off", "worker", "--take-share", "yes")]
    [InlineData("--name and --pod-name are both given", "worker", "--name", "w1", "--pod-name", "w-1")]
    [InlineData("set spec.ordinals.start", "worker", "--pod-name", "snapper-worker-0")]
    [InlineData("--pod-name must be that of a StatefulSet's pod", "worker", "--pod-name", "snapper-worker-5d4f")]
    [InlineData("--pod-name must be that of a StatefulSet's pod", "worker", "--pod-name", "-1")]
    [InlineData("--pod-name must be that of a StatefulSet's pod", "worker", "--pod-name", "snapper-01")]
    [InlineData("--pod-name must be counted to 1023", "worker", "--pod-name", "snapper-1024")]
    [InlineData("'drain'", "drain")]
    [InlineData("'w2'", "drain", "w1", "w2")]
    [InlineData("no option '--dryrun'", "migrate", "Account/alice", "--dryrun")]
    [InlineData("neither an actor", "migrate", "alice")]
    [InlineData("not both at once", "migrate", "Account/alice", "17")]
    [InlineData("--url must be an address", "workers", "--url", "localhost")]
    [InlineData("--rate must be a number", "token", "--rate", "many")]
    [InlineData("role", "token", "--role", "king")]
    public async Task A_wrong_command_line_is_refused_with_exit_code_2(string message, params string[] arguments)
    {
        var (exit, output, errors) = await Run(arguments);
        Assert.Equal(ExitCode.Usage, exit);
        Assert.Empty(output);
        Assert.Contains(message, errors);
    }

    [Fact]
    public void The_defaults_are_those_of_the_contract()
    {
        var options = Up();
        Assert.Equal(1, options.Workers);
        Assert.False(options.Embedded);
        Assert.Equal(Path.GetFullPath(".snapper"), options.DataDirectory);
        Assert.Equal("snapper", options.AppId);
        Assert.Equal(5101, options.WorkerPort(1));
        Assert.Equal(3500, options.SidecarPortOf(1));
        Assert.Equal(3501, options.SidecarPortOf(2));
        Assert.Equal(FsyncPolicy.Always, options.Fsync);
    }

    [Fact]
    public void Options_may_be_written_with_an_equals_sign_and_in_any_order()
    {
        var options = Up("--fsync=everysec", "--redis", "[::1]:7000", "--data=/x y/z", "--base-port", "6100");
        Assert.Equal(FsyncPolicy.EverySecond, options.Fsync);
        Assert.Equal("[::1]:7000", options.Redis.ToString());
        Assert.Equal("/x y/z", options.DataDirectory);
        Assert.Equal(6101, options.WorkerPort(1));
    }

    [Fact]
    public async Task A_program_of_the_clone_is_named_where_there_is_no_clone()
    {
        var (exit, _, errors) = await Run("bench", "pact", "--seconds", "3");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains("'./snapper bench'", errors);
    }

    [Theory]
    [InlineData("snapper-worker-1", "w1")]
    [InlineData("w-1023", "w1023")]
    public void A_pod_of_a_StatefulSet_is_the_worker_of_its_number(string pod, string worker) =>
        Assert.Equal(worker, WorkerCommand.Settings([], name => name == "SNAPPER_POD_NAME" ? pod : null).Name);

    [Fact]
    public void What_running_in_a_pod_needs_comes_from_the_environment()
    {
        var environment = new Dictionary<string, string>
        {
            ["SNAPPER_LISTEN_ADDRESS"] = "0.0.0.0", ["APP_API_TOKEN"] = "sixteen-letters!", ["SNAPPER_URL"] = "http://w:5101", ["SNAPPER_LEAVE_ON_STOP"] = "20", ["SNAPPER_TAKE_SHARE"] = "on",
        };
        var settings = WorkerCommand.Settings([], environment.GetValueOrDefault);
        Assert.Equal(
            (System.Net.IPAddress.Any, "http://w:5101", TimeSpan.FromSeconds(20), true), (settings.ListenAddress, settings.Url, settings.LeaveOnStop!.Value, settings.TakeShare));
    }

    [Theory]
    [InlineData(null, false)]
    [InlineData("", false)]
    [InlineData("fifteen-letters", false)]
    [InlineData("sixteen-letters!", true)]
    [InlineData("none", true)]
    public void A_worker_with_others_starts_with_their_secret_only(string? secret, bool starts)
    {
        string? Read(string name) => name == MailboxSeal.Variable ? secret : null;
        string[] line = ["--workers", "2", "--log", "redis", "--redis", "here:6379"];
        var refused = Record.Exception(() => WorkerCommand.Settings(line, Read));
        Assert.Equal(starts, refused is null);
        if (!starts) Assert.Contains(MailboxSeal.Variable, Assert.IsType<UsageException>(refused).Message);
    }

    [Theory]
    [InlineData("0.0.0.0", "a", false)]
    [InlineData("::", "fifteen-letters", false)]
    [InlineData("10.0.0.1", "sixteen-letters!", true)]
    [InlineData("127.0.0.1", "a", true)]
    public void A_token_that_can_be_guessed_opens_no_port_to_other_machines(string address, string token, bool starts)
    {
        var environment = new Dictionary<string, string> { ["SNAPPER_LISTEN_ADDRESS"] = address, ["APP_API_TOKEN"] = token };
        var refused = Record.Exception(() => WorkerCommand.Settings([], environment.GetValueOrDefault));
        Assert.Equal(starts, refused is null);
        if (refused is not null) Assert.Contains("must have at least 16 characters", Assert.IsType<UsageException>(refused).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("5101", false)]
    [InlineData("3500", false)]
    [InlineData("5103", false)]
    [InlineData("5102", true)]
    public void A_port_for_metrics_is_one_of_its_own(string port, bool starts)
    {
        var environment = new Dictionary<string, string>
        {
            ["SNAPPER_METRICS_PORT"] = port, ["SNAPPER_APP_PORT"] = "5103",
        };
        var refused = Record.Exception(() => Assert.Equal(
            5102, WorkerCommand.Settings([], environment.GetValueOrDefault).MetricsPort));
        Assert.Equal(starts, refused is null);
        if (starts) return;
        Assert.Contains("a port of its own", Assert.IsType<UsageException>(refused).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_worker_takes_its_settings_from_the_environment_and_options_win()
    {
        var environment = new Dictionary<string, string>
        {
            ["SNAPPER_NAME"] = "w7", ["SNAPPER_LISTEN_PORT"] = "7001", ["SNAPPER_LOG"] = "redis", ["SNAPPER_REDIS"] = "redis:6379",
            ["SNAPPER_FSYNC"] = "everysec", ["SNAPPER_APP_ID"] = "shop", ["APP_API_TOKEN"] = "secret",
        };
        var settings = WorkerCommand.Settings(["--listen-port", "7002"], n => environment.GetValueOrDefault(n));
        Assert.Equal("w7", settings.Name);
        Assert.Equal("shop", settings.AppId);
        Assert.Equal(7002, settings.ListenPort);
        Assert.Equal(LogKind.Redis, settings.LogKind);
        Assert.Equal("redis:6379", settings.RedisAddress);
        Assert.Equal(FsyncPolicy.EverySecond, settings.Fsync);
        Assert.Equal("secret", settings.AppApiToken);
        Assert.Null(settings.DaprApiToken);
        Assert.DoesNotContain("secret", settings.ToString());
        Assert.Equal(0, settings.SidecarPid);
        Assert.Equal(0, settings.RedisPid);
    }
}
