using System.Globalization;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Server.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>The options of <c>up</c> and <c>demo</c>, checked.</summary>
internal sealed record UpOptions
{
    private static readonly CommandOption[] Shared =
    [
        new("--workers", "N", "how many workers, 1 (default) to 64; more than one need Redis and daprd"),
        new("--embedded", null, "one process: the embedded sidecar and a log in a file, although Redis and Dapr may be there"),
        new("--data", "DIR", "where state, logs and the lock are kept (default .snapper)"),
        new("--base-port", "PORT", "worker i listens on PORT + i (default 5100)"),
        new("--sidecar-port", "PORT", "the sidecar of worker i serves its HTTP API on PORT + i - 1 (default 3500)"),
        new("--app-id", "NAME", "the Dapr app id of all workers, by which other services call them (default snapper; also: SNAPPER_APP_ID)"),
        new("--dashboard-port", "PORT", "the dashboard's port (default 8080)"),
        new("--no-dashboard", null, "start no dashboard (also: SNAPPER_DASHBOARD=off)"),
        new("--redis", "ADDRESS", "keep log and state in this Redis, HOST:PORT or redis://[USER@]HOST:PORT (also: SNAPPER_REDIS; its password: SNAPPER_REDIS_PASSWORD or SNAPPER_REDIS_PASSWORD_FILE); default: a private redis-server"),
        new("--accept-lost-log", null, "forget what the workers remember of their logs: take a log that was emptied, replaced or restored as it is, once"),
        new("--fsync", "MODE", "always (default) | everysec: faster, and a crash of the machine may lose the last seconds"),
    ];

    /// <summary>Arguments of <c>up</c>.</summary>
    public static readonly CommandSyntax UpSyntax = new("up", "starts Redis, Dapr and the server in the foreground, and keeps them running", Shared);

    /// <summary>Arguments of <c>demo</c>: those of <c>up</c>, and a few of its own.</summary>
    public static readonly CommandSyntax DemoSyntax = new("demo", "up, then bank transfers through the sidecar, and a check that no money was lost",
    [
        .. Shared,
        new("--stay", null, "stay up afterwards, until Ctrl-C"),
        new("--for", "SECONDS", "with several workers: how long transfers go on afterwards (default: until Ctrl-C)"),
        new("--seconds", "N", "length of each phase (default 3)"),
        new("--accounts", "N", "number of accounts (default 1000)"),
        new("--concurrency", "N", "requests under way at once (default 32)"),
    ]);

    /// <summary>Number of workers.</summary>
    public required int Workers { get; init; }

    /// <summary>Embedded sidecar and file log are forced.</summary>
    public required bool Embedded { get; init; }

    /// <summary>Absolute path.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>Worker i listens on this plus i.</summary>
    public required int BasePort { get; init; }

    /// <summary>The sidecar of worker i listens on this plus i - 1.</summary>
    public required int SidecarPort { get; init; }

    /// <summary>The Dapr app id of all workers.</summary>
    public string AppId { get; init; } = WorkerSettings.DefaultAppId;

    /// <summary>Port of the dashboard.</summary>
    public int DashboardPort { get; init; } = 8080;

    /// <summary>There shall be a dashboard.</summary>
    public bool Dashboard { get; init; }

    /// <summary>The Redis to use, as the user named it; null: find one.</summary>
    public required HostAndPort? Redis { get; init; }

    /// <summary>Who we are to that Redis; null: nobody in particular.</summary>
    public required RedisLogin? RedisLogin { get; init; }

    /// <summary>What the workers remember of their logs is forgotten before they start.</summary>
    public required bool AcceptLostLog { get; init; }

    /// <summary>When the private Redis flushes its append-only file.</summary>
    public required FsyncPolicy Fsync { get; init; }

    /// <summary>Port of worker <paramref name="i"/>, counted from 1.</summary>
    public int WorkerPort(int i) => BasePort + i;

    /// <summary>Sidecar port of worker <paramref name="i"/>, counted from 1.</summary>
    public int SidecarPortOf(int i) => SidecarPort + i - 1;

    /// <summary>Checks the arguments.</summary>
    /// <exception cref="UsageException">A value out of range, or options that contradict each other.</exception>
    public static UpOptions From(ParsedArguments arguments)
    {
        var workers = arguments.Number("--workers", 1, 1, 64);
        var embedded = arguments.Flag("--embedded");
        if (workers > 1 && embedded) throw new UsageException("--workers and --embedded contradict each other: several workers need Redis and daprd.");
        var redisText = arguments.Text("--redis");
        if (embedded && redisText is not null) throw new UsageException("--embedded and --redis contradict each other: the embedded log is a file.");
        var fromEnvironment = Environment.GetEnvironmentVariable("SNAPPER_REDIS");
        var redis = redisText is not null ? RedisAddress.Parse(redisText, fromCommandLine: true)
            : !embedded && !string.IsNullOrEmpty(fromEnvironment) ? RedisAddress.Parse(fromEnvironment, fromCommandLine: false)
            : null;

        var basePort = arguments.Number("--base-port", 5100, 1023, 65535 - workers);
        var sidecarPort = arguments.Number("--sidecar-port", 3500, 1024, 65535 - workers + 1);
        var dashboardPort = arguments.Number("--dashboard-port", 8080, 1024, 65535);
        var dashboard = !arguments.Flag("--no-dashboard") && Environment.GetEnvironmentVariable("SNAPPER_DASHBOARD") switch
        {
            null or "" or "on" => true,
            "off" => false,
            var other => throw new UsageException($"SNAPPER_DASHBOARD must be on or off, not '{other}'."),
        };
        for (var i = 1; i <= workers; i++)
        {
            if (sidecarPort + i - 1 > basePort && sidecarPort + i - 1 <= basePort + workers)
            {
                throw new UsageException($"--base-port and --sidecar-port both lead to port {(sidecarPort + i - 1).ToString(CultureInfo.InvariantCulture)}.");
            }
        }

        return new UpOptions
        {
            Workers = workers,
            Embedded = embedded,
            DataDirectory = Path.GetFullPath(arguments.Text("--data") ?? ".snapper"),
            BasePort = basePort,
            SidecarPort = sidecarPort,
            AppId = WorkerCommand.ParseAppId(arguments.Text("--app-id") ?? Environment.GetEnvironmentVariable("SNAPPER_APP_ID")),
            DashboardPort = dashboardPort,
            Dashboard = dashboard,
            Redis = redis?.Place,
            RedisLogin = redis is null ? null : RedisLogin.From(redis, Environment.GetEnvironmentVariable),
            AcceptLostLog = arguments.Flag("--accept-lost-log"),
            Fsync = WorkerCommand.ParseFsync(arguments.Text("--fsync")),
        };
    }
}
