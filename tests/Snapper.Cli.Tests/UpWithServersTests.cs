using System.Text.Json;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Storage.Redis;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary><c>up</c> with a real private Redis and, where it is there, the real Dapr.</summary>
public sealed class UpWithServersTests : IDisposable
{
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(5) };

    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    private UpProcess Up(params string[] options) => UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], options);

    private UpProcess Up(string[] options, string variable, string value) =>
        UpProcess.Start("up", _temp.Path, _ports[0] - 1, _ports[1], options, new Dictionary<string, string?> { [variable] = value });

    private RedisLogin Login() => RedisLogin.WithPassword(File.ReadAllText(_temp.File(PrivateRedisSecret.FileName)).Trim());

    [NeedsServersFact]
    public async Task Redis_sidecar_and_placement_come_back_after_a_kill_and_the_status_follows()
    {
        await using var up = Up();
        var ready = await up.Ready();
        var worker = ready.Workers[0];
        Assert.Equal(("redis", "daprd"), (ready.Log, ready.Dapr));
        Assert.True(HostAndPort.TryParse(ready.Redis!, out var redis));
        var login = Login();
        var facts = await RedisProbe.Facts(redis, login);
        Assert.Equal((RedisFlushPolicy.Always, "noeviction"), (facts!.Policy, facts.MaxMemoryPolicy));
        var before = up.State();

        Assert.True(Posix.Send(ready.RedisPid!.Value, Posix.Kill));
        Assert.True(Posix.Send(worker.SidecarPid, Posix.Kill));
        Assert.True(Posix.Send(before.Placement!.Pid, Posix.Kill));
        await Eventually.True("Redis answers on the same port", async () =>
            up.State().Redis!.Pid is var pid && pid != 0 && pid != ready.RedisPid && await RedisProbe.Unavailable(redis, login) is null);
        using var probe = new ReadinessProbe(WorkerSettings.DefaultAppId);
        await Eventually.True("requests go through the new sidecar", async () =>
            up.State().Workers[0].Sidecar.Pid is var pid && pid != 0 && pid != worker.SidecarPid
            && await probe.Missing(worker.Url, worker.Sidecar, SidecarKind.Daprd, CancellationToken.None) is null);
        await Eventually.True("placement is back", () => up.State().Placement!.Pid is var pid && pid != 0 && pid != before.Placement.Pid);

        var after = up.State();
        using var status = JsonDocument.Parse(await Http.GetStringAsync($"{worker.Url}/v1/status"));
        Assert.Equal(worker.Pid, status.RootElement.GetProperty("pid").GetInt32());
        Assert.Equal(after.Workers[0].Sidecar.Pid, status.RootElement.GetProperty("sidecarPid").GetInt32());
        Assert.Equal(after.Redis!.Pid, status.RootElement.GetProperty("redisPid").GetInt32());

        var children = up.Remember();
        Assert.Equal(4, children.Count);
        up.Signal(Posix.Terminate);
        Assert.Equal(0, await up.Exit());
        Assert.All(children, c => Assert.False(c.IsAlive()));
    }

    [NeedsServersFact]
    public async Task The_app_id_is_a_setting()
    {
        await using var up = Up([], "SNAPPER_APP_ID", "shop");
        var worker = (await up.Ready()).Workers[0];
        using var status = JsonDocument.Parse(await Http.GetStringAsync($"{worker.Sidecar}/v1.0/invoke/shop/method/v1/status"));
        Assert.Equal(worker.Pid, status.RootElement.GetProperty("pid").GetInt32());
        using var metadata = JsonDocument.Parse(await Http.GetStringAsync($"{worker.Sidecar}/v1.0/metadata"));
        Assert.Equal("shop", metadata.RootElement.GetProperty("id").GetString());
    }

    [NeedsServersFact]
    public async Task Killing_up_takes_Redis_and_Dapr_along_and_the_next_up_finds_the_data()
    {
        IReadOnlyList<ProcessIdentity> children;
        await using (var up = Up("--fsync", "everysec"))
        {
            var ready = await up.Ready();
            children = up.Remember();
            Assert.Equal(4, children.Count);
            Assert.True(HostAndPort.TryParse(ready.Redis!, out var address));
            using (var redis = await RawRedis.Connect(address, TimeSpan.FromSeconds(5)))
            {
                Assert.Equal("OK", redis.Ask("AUTH", Login().Password!)[0]);
                Assert.Equal("OK", redis.Ask("SET", "kept", "yes")[0]);
                Assert.Equal(["appendfsync", "everysec"], redis.Ask("CONFIG", "GET", "appendfsync"));
            }

            up.Signal(Posix.Kill);
            await Eventually.True("the children are gone", () => children.All(c => !c.IsAlive()));
        }

        await using var next = Up();
        Assert.True(HostAndPort.TryParse((await next.Ready()).Redis!, out var again));
        using var found = await RawRedis.Connect(again, TimeSpan.FromSeconds(5));
        Assert.Equal("OK", found.Ask("AUTH", Login().Password!)[0]);
        Assert.Equal("yes", found.Ask("GET", "kept")[0]);
    }

    [NeedsServersFact]
    public async Task A_named_Redis_is_used_left_running_and_its_weak_durability_is_told()
    {
        var port = Ports.Free(1)[0];
        using var redis = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo(
            ServerPrograms.Redis(ExecutableFinder.System).Path!, ["--port", $"{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        { WorkingDirectory = _temp.Path, RedirectStandardOutput = true })!;
        try
        {
            await Eventually.True("Redis answers", async () => await RedisProbe.Unavailable(new HostAndPort("127.0.0.1", port)) is null);
            await using var up = Up("--redis", $"127.0.0.1:{port}");
            var ready = await up.Ready();
            Assert.Equal(("redis", $"127.0.0.1:{port}", null), (ready.Log, ready.Redis, ready.RedisPid));
            Assert.Contains("it keeps no append-only file", up.ErrorText);
            up.Signal(Posix.Terminate);
            Assert.Equal(0, await up.Exit());
            Assert.False(redis.HasExited);
        }
        finally
        {
            redis.Kill();
        }
    }

    [NeedsServersFact]
    public async Task A_Redis_that_would_delete_the_log_is_refused_by_up_and_worker()
    {
        var ports = Ports.Free(3);
        var address = new HostAndPort("127.0.0.1", ports[0]);
        using var redis = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo(
            ServerPrograms.Redis(ExecutableFinder.System).Path!,
            ["--port", $"{ports[0]}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "allkeys-lru", "--dir", _temp.Path])
        { RedirectStandardOutput = true })!;
        try
        {
            await Eventually.True("Redis answers", async () => await RedisProbe.Unavailable(address) is null);
            await using (var up = Up("--redis", $"{address}"))
            {
                Assert.Equal(1, await up.Exit());
                Assert.Contains($"Redis at {address} cannot be used: maxmemory-policy allkeys-lru would delete the log", up.ErrorText);
            }

            // Its configuration may be hidden, INFO tells it as well.
            using (var connection = await RawRedis.Connect(address, TimeSpan.FromSeconds(5)))
            {
                Assert.Equal("OK", connection.Ask("ACL", "SETUSER", "default", "-config")[0]);
            }

            Assert.NotNull(RedisProbe.Refusal(await RedisProbe.Facts(address)));
            using var errors = new StringWriter();
            var worker = Snapper.Cli.Commands.CommandLine.Run(
                ["worker", "--log", "redis", "--redis", $"{address}", "--data", _temp.File("worker"), "--listen-port", $"{ports[1]}", "--sidecar-port", $"{ports[2]}"],
                TextWriter.Null, errors);
            Assert.Equal(2, await worker.WaitAsync(TimeSpan.FromSeconds(30)));
            Assert.Contains("has maxmemory-policy allkeys-lru: it would delete the log and states when memory runs out. Set 'maxmemory-policy noeviction' there.", errors.ToString());
        }
        finally
        {
            redis.Kill();
        }
    }

    [NeedsServersFact]
    public async Task A_Redis_with_a_password_is_used_and_nobody_is_told_the_password()
    {
        const string secret = "s3cret-of-the-test";
        var port = Ports.Free(1)[0];
        using var redis = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo(
            ServerPrograms.Redis(ExecutableFinder.System).Path!, ["--port", $"{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"])
        { WorkingDirectory = _temp.Path, RedirectStandardOutput = true })!;
        try
        {
            var address = new HostAndPort("127.0.0.1", port);
            await Eventually.True("Redis answers", async () => await RedisProbe.Unavailable(address) is null);
            using (var connection = await RawRedis.Connect(address, TimeSpan.FromSeconds(5))) connection.Ask("CONFIG", "SET", "requirepass", secret);

            await using (var without = Up("--redis", $"127.0.0.1:{port}"))
            {
                Assert.Equal(1, await without.Exit());
                Assert.Contains("it asks for a password: set SNAPPER_REDIS_PASSWORD", without.ErrorText);
            }

            await using (var wrong = Up(["--redis", $"127.0.0.1:{port}"], "SNAPPER_REDIS_PASSWORD", "wrong"))
            {
                Assert.Equal(1, await wrong.Exit());
                Assert.Contains("it refuses the password", wrong.ErrorText);
            }

            var file = _temp.File("password");
            await File.WriteAllTextAsync(file, secret + "\n");
            foreach (var (name, value, options) in new[]
            {
                ("SNAPPER_REDIS_PASSWORD", secret, new[] { "--redis", $"127.0.0.1:{port}" }),
                ("SNAPPER_REDIS_PASSWORD_FILE", file, ["--redis", $"redis://127.0.0.1:{port}"]),
                ("SNAPPER_REDIS", $"redis://:{secret}@127.0.0.1:{port}", []),
            })
            {
                await using var up = Up(options, name, value);
                var ready = await up.Ready();
                Assert.Equal(("redis", $"127.0.0.1:{port}", null), (ready.Log, ready.Redis, ready.RedisPid));
                Assert.All(up.Remember(), child => Assert.DoesNotContain(secret, File.ReadAllText($"/proc/{child.Pid}/cmdline")));
                up.Signal(Posix.Terminate);
                Assert.Equal(0, await up.Exit());
                Assert.DoesNotContain(secret, up.AllText);
            }

            foreach (var written in Directory.GetFiles(_temp.Path, "*", SearchOption.AllDirectories).Where(f => f != file && !f.Contains("appendonlydir", StringComparison.Ordinal)))
            {
                Assert.DoesNotContain(secret, await File.ReadAllTextAsync(written));
            }
        }
        finally
        {
            redis.Kill();
        }
    }
}

/// <summary>Needs redis-server, daprd and placement; without them the test says so instead of running, and with CI=true it runs and fails.</summary>
public sealed class NeedsServersFactAttribute : FactAttribute
{
    public NeedsServersFactAttribute()
    {
        string?[] missing =
        [
            Missing(ServerPrograms.Redis(ExecutableFinder.System)),
            Missing(ServerPrograms.Daprd(ExecutableFinder.System)),
            Missing(ServerPrograms.Placement(ExecutableFinder.System)),
        ];
        var reasons = string.Join("; ", missing.Where(m => m is not null));
        if (reasons.Length > 0 && !string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase)) Skip = $"needs redis-server, daprd and placement: {reasons}";
    }

    private static string? Missing(FoundProgram program) => program.Path is null ? program.Finding : null;
}
