using System.Globalization;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;

namespace Snapper.Cli.Supervision;

/// <summary>The command lines of the children. Everything listens on 127.0.0.1 only.</summary>
internal static class ChildCommands
{
    /// <summary>
    /// A private Redis. Its password is in a file of the folder where it starts. Redis 7 takes the name of its configuration file, which it makes absolute, for a pattern, and starts without
    /// one, and so without a password, when a folder above has a <c>[</c>. The name of an included file stays as it is, and one that is missing ends it.
    /// </summary>
    public static ProcessSpec Redis(string program, DataDirectory data, int port, FsyncPolicy fsync, PrivateRedisSecret secret) => new()
    {
        Name = "redis-server",
        Program = program,
        Arguments =
        [
            "--include", PrivateRedisSecret.ConfigurationName, "--bind", "127.0.0.1", "--port", Text(port), "--protected-mode", "yes", "--daemonize", "no", "--dir", data.Redis,
            "--appendonly", "yes", "--appendfsync", fsync == FsyncPolicy.Always ? "always" : "everysec", "--no-appendfsync-on-rewrite", "no",
            "--save", "", "--maxmemory-policy", "noeviction",

            // Its own title would overwrite the command line and the environment by which a process can be told from others.
            "--set-proc-title", "no",
        ],
        Log = new LogFile(Path.Combine(data.Logs, "redis.log")),
        HasOwnEnvironment = true,
        WorkingDirectory = data.Run,
        Prepare = secret.WriteConfiguration,

        // It flushes and closes its file on SIGTERM, at once and without needing anybody else.
        SignalWhenOrphaned = Posix.Terminate,
    };

    /// <summary>Dapr's placement service, its tables in memory: they are made of who is connected.</summary>
    public static ProcessSpec Placement(string program, DataDirectory data, int port, int raftPort, int healthPort) => new()
    {
        Name = "placement",
        Program = program,
        Arguments =
        [
            "--id", "p0", "--initial-cluster", $"p0=127.0.0.1:{Text(raftPort)}", "--port", Text(port), "--listen-address", "127.0.0.1",
            "--healthz-port", Text(healthPort), "--healthz-listen-address", "127.0.0.1", "--enable-metrics=false", "--log-level", "warn",
            "--disseminate-coalesce-window", "250ms", // calls at the actor door wait for each round, and after a restart of placement all sidecars come at once
        ],
        Log = new LogFile(Path.Combine(data.Logs, "placement.log")),
        HasOwnEnvironment = true,
    };

    /// <summary>The sidecar of worker <paramref name="i"/>, counted from 1.</summary>
    /// <remarks>
    /// No app health check. daprd would take the worker's actor types out of the placement tables when probes fail, and put them back later; both abort
    /// calls under way and run them again. A dead worker is back after a fraction of a second, sooner than probes (at best one a second, three in a row)
    /// could notice, and until then its calls fail at once because nothing listens on its port.
    /// </remarks>
    public static ProcessSpec Daprd(string program, DataDirectory data, UpOptions options, int i, SidecarPorts ports, string? components, RedisPlace? redis)
    {
        var arguments = new List<string>
        {
            "--app-id", options.AppId, "--app-protocol", ports.App > 0 ? "h2c" : "http",
            "--dapr-http-port", Text(options.SidecarPortOf(i)),
            "--app-port", Text(ports.App > 0 ? ports.App : options.WorkerPort(i)), "--dapr-grpc-port", Text(ports.Grpc),
            "--dapr-internal-grpc-port", Text(ports.Internal), "--dapr-internal-grpc-listen-address", "127.0.0.1",
            "--dapr-listen-addresses", "127.0.0.1", "--placement-host-address", $"127.0.0.1:{Text(ports.Placement)}",
            "--max-body-size", "16Mi", "--enable-metrics=false", "--log-level", "warn", "--dapr-graceful-shutdown-seconds", "2",

            // The first: where two files name one target, the user's own counts.
            "--resources-path", ListItem(data.Dapr),
        };
        if (components is not null)
        {
            arguments.Add("--resources-path");
            arguments.Add(ListItem(components));
            var configuration = Path.Combine(components, "config.yaml");
            if (File.Exists(configuration))
            {
                arguments.Add("--config");
                arguments.Add(configuration);
            }
        }

        return new ProcessSpec
        {
            Name = $"sidecar of w{Text(i)}",
            Program = program,
            Arguments = arguments,
            Log = new LogFile(Path.Combine(data.Logs, $"daprd-w{Text(i)}.log")),
            Environment = new Dictionary<string, string?>(RedisLogin.EnvironmentOf(redis?.Login))
            {
                // What it announces to others by mDNS must be the loopback address that it listens on.
                ["DAPR_HOST_IP"] = "127.0.0.1",

                // An operator's token and what workers know each other by are not for it.
                ["SNAPPER_TOKEN"] = null,
                [MailboxSeal.Variable] = null,

                // For component files, which can take values from the environment; user and password are there, too.
                ["SNAPPER_REDIS"] = redis?.Address.ToString(),
            },
        };
    }

    /// <summary>Worker <paramref name="i"/>, counted from 1: the server, a program of its own. One of several that owns nothing warms up first: only one that joins does.</summary>
    /// <param name="data">Its folders.</param>
    /// <param name="options">Of the command line.</param>
    /// <param name="i">Its number.</param>
    /// <param name="plan">Which servers there are.</param>
    /// <param name="redis">The Redis; null: none.</param>
    /// <param name="mailboxSecret">By which it knows other workers; null: the environment has it, or there are none.</param>
    /// <param name="watchParent">It must end by itself when this process has ended.</param>
    /// <param name="appPort">The port that its sidecar alone calls; 0: its own.</param>
    public static ProcessSpec Worker(
        DataDirectory data, UpOptions options, int i, Plan plan, RedisPlace? redis, string? mailboxSecret,
        bool watchParent, int appPort)
    {
        var name = $"w{Text(i)}";
        var arguments = new List<string>
        {
            "worker", "--name", name, "--listen-port", Text(options.WorkerPort(i)), "--sidecar-port", Text(options.SidecarPortOf(i)),
            "--sidecar", Word(plan.Sidecar), "--app-id", options.AppId, "--log", Word(plan.Log), "--data", data.Root,
            "--fsync", options.Fsync == FsyncPolicy.Always ? "always" : "everysec", "--run-state", data.RunStatePath,
        };
        if (options.Actors is { } actors) arguments.AddRange(["--actors", string.Join(',', actors)]);
        if (options.Apps is { } apps) arguments.AddRange(["--apps", ServerActors.Text(apps)]);
        if (appPort > 0) arguments.AddRange(["--app-port", Text(appPort), "--app-protocol", "h2c"]);
        if (redis is not null) arguments.AddRange(["--redis", redis.Address.ToString()]);
        if (options.Workers > 1) arguments.AddRange(["--workers", Text(options.Workers), "--warm-up", "on"]);

        // Its port is another one at each start, its data are the same.
        if (redis is not null && plan.ForeignRedis is null) arguments.AddRange(["--log-place", RememberedPlace.PrivateRedis]);
        if (watchParent) arguments.AddRange(["--watch-parent", Text(Environment.ProcessId)]);

        arguments.Insert(0, typeof(WorkerCommand).Assembly.Location);
        var environment = new Dictionary<string, string?>(RedisLogin.EnvironmentOf(redis?.Login));
        environment["SNAPPER_REDIS"] = null;
        if (mailboxSecret is not null) environment[MailboxSeal.Variable] = mailboxSecret;
        return new ProcessSpec
        {
            Name = $"worker {name}",
            Program = Host,
            Arguments = arguments,
            Log = new LogFile(Path.Combine(data.Logs, $"worker-{name}.log")),
            Environment = environment,

            FinalExitCodes = [ExitCode.LogLost, ExitCode.LogDamaged, ExitCode.OtherPlacement],

            // It drains for up to 10 s, then cuts off who is left and closes its connections.
            StopWithin = TimeSpan.FromSeconds(15),
        };
    }

    /// <summary>The dashboard, which is told where the workers are.</summary>
    public static ProcessSpec Dashboard(string program, DataDirectory data, UpOptions options, IReadOnlyList<string> workers, bool watchParent)
    {
        var arguments = new List<string> { program, "--port", Text(options.DashboardPort), "--workers", string.Join(',', workers) };
        if (watchParent) arguments.AddRange(["--watch-parent", Text(Environment.ProcessId)]);

        return new ProcessSpec
        {
            Name = "dashboard",
            Program = Host,
            Arguments = arguments,
            Log = new LogFile(Path.Combine(data.Logs, "dashboard.log")),
            Environment = new Dictionary<string, string?>
            {
                // It has nothing to do with Redis, the sidecars and the workers' channel, and listens where the command
                // line says.
                [MailboxSeal.Variable] = null, ["APP_API_TOKEN"] = null, ["DAPR_API_TOKEN"] = null,
                ["SNAPPER_REDIS"] = null, [RedisLogin.PasswordVariable] = null, [RedisLogin.FileVariable] = null,
                ["ASPNETCORE_HTTP_PORTS"] = null, ["ASPNETCORE_URLS"] = null,
            },
            StopWithin = TimeSpan.FromSeconds(5),
        };
    }

    /// <summary>
    /// The program that runs assemblies. Under 'dotnet Snapper.Cli.dll' we run in the host that our programs need, too.
    /// </summary>
    public static string Host =>
        Environment.ProcessPath is { } own && Path.GetFileNameWithoutExtension(own) == "dotnet" ? own : "dotnet";

    /// <summary>daprd or embedded.</summary>
    public static string Word(SidecarKind sidecar) => sidecar == SidecarKind.Daprd ? "daprd" : "embedded";

    /// <summary>redis or file.</summary>
    public static string Word(LogKind log) => log == LogKind.Redis ? "redis" : "file";

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>A path as an item of a list: daprd reads each such argument as a line of comma-separated values.</summary>
    private static string ListItem(string path) => path.AsSpan().IndexOfAny(',', '"', '\n') < 0 ? path : $"\"{path.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";
}

/// <summary>Ports of one sidecar that callers do not see, and the placement service's.</summary>
/// <param name="Grpc">Its API by gRPC.</param>
/// <param name="Internal">Where other sidecars call it.</param>
/// <param name="Placement">Of the placement service.</param>
/// <param name="App">Where it calls its worker; 0: at the worker's own port.</param>
internal sealed record SidecarPorts(int Grpc, int Internal, int Placement, int App = 0);
