using System.CommandLine;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;

namespace Snapper.Cli.Supervision;

/// <summary>The options of <c>up</c> and <c>demo</c>, checked.</summary>
internal sealed record UpOptions
{
    /// <summary>By it workers take the setting <c>Snapper:Log:Replicas</c> from the environment.</summary>
    private const string ReplicasVariable = "Snapper__Log__Replicas";

    private static readonly Option<int> s_workers = Options.Whole(
        "--workers", "N", "how many workers, 1 to 64; more than one need Redis and daprd", 1, 1, 64);

    private static readonly Option<bool> s_embedded = Options.Flag(
        "--embedded", "one process: the embedded sidecar and a log in a file, although Redis and Dapr may be there");

    private static readonly Option<int> s_basePort = Options.Whole("--base-port", "PORT", "worker i listens on PORT + i", 5100, 1023, 65534);

    private static readonly Option<int> s_sidecarPort = Options.Whole(
        "--sidecar-port", "PORT", "the sidecar of worker i serves its HTTP API on PORT + i - 1", 3500, 1024, 65535);

    private static readonly Option<int> s_dashboardPort = Options.Whole("--dashboard-port", "PORT", "the dashboard's port", 8080, 1024, 65535);
    private static readonly Option<bool> s_noDashboard = Options.Flag("--no-dashboard", "start no dashboard (also: SNAPPER_DASHBOARD=off)");

    private static readonly Option<string?> s_redis = Options.Text(
        "--redis", "ADDRESS",
        "keep log and state in this Redis, HOST:PORT or redis://[USER@]HOST:PORT (also: SNAPPER_REDIS; its password: "
        + "SNAPPER_REDIS_PASSWORD or SNAPPER_REDIS_PASSWORD_FILE); default: a private redis-server");

    private static readonly Option<bool> s_acceptLostLog = Options.Flag(
        "--accept-lost-log",
        "forget what the workers remember of their logs: take a log that was emptied, replaced or restored as it is, once");

    /// <summary>What <c>up</c>, <c>demo</c> and <c>doctor</c> accept.</summary>
    public static readonly IReadOnlyList<Option> All =
    [
        s_workers, s_embedded, WorkerCommand.Data, s_basePort, s_sidecarPort, WorkerCommand.AppId, s_dashboardPort, s_noDashboard, s_redis,
        s_acceptLostLog, WorkerCommand.Fsync, WorkerCommand.Actors, WorkerCommand.Apps,
    ];

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

    public int DashboardPort { get; init; } = 8080;

    /// <summary>There shall be a dashboard.</summary>
    public bool Dashboard { get; init; }

    /// <summary>Files of assemblies with actor types, absolute; null: none were named.</summary>
    public IReadOnlyList<string>? Actors { get; init; }

    /// <summary>Which of the server's own apps are hosted; null: all.</summary>
    public IReadOnlyList<string>? Apps { get; init; }

    /// <summary>What the workers host.</summary>
    public HostedActors Hosted { get; init; } = ServerActors.Own;

    /// <summary>The Redis to use, as the user named it; null: find one.</summary>
    public required HostAndPort? Redis { get; init; }

    /// <summary>Credentials for that Redis; null: none.</summary>
    public required RedisLogin? RedisLogin { get; init; }

    /// <summary>So many replicas of that Redis must have what workers acknowledge.</summary>
    public int Replicas { get; init; }

    /// <summary>What the workers remember of their logs is forgotten before they start.</summary>
    public required bool AcceptLostLog { get; init; }

    /// <summary>When the private Redis flushes its append-only file.</summary>
    public required FsyncPolicy Fsync { get; init; }

    /// <summary>Port of worker <paramref name="i"/>, counted from 1.</summary>
    public int WorkerPort(int i) => BasePort + i;

    /// <summary>Sidecar port of worker <paramref name="i"/>, counted from 1.</summary>
    public int SidecarPortOf(int i) => SidecarPort + i - 1;

    /// <summary>How many workers there may ever be: one that is alone is joined by none.</summary>
    public int WorkersMax => Workers == 1 ? 1 : Deployment.Most;

    /// <summary>
    /// Whether a port is of a worker, a sidecar or the dashboard, also of a worker that may join later. Redis, placement
    /// and the inner ports of the sidecars, which are random, keep away from it.
    /// </summary>
    public bool Names(int port)
    {
        return port == DashboardPort
            || (port > BasePort && port <= WorkerPort(WorkersMax))
            || (port >= SidecarPort && port <= SidecarPortOf(WorkersMax));
    }

    /// <summary>Checks what the options say together.</summary>
    /// <exception cref="UsageException">A value out of range, or options that contradict each other.</exception>
    public static UpOptions From(ParseResult line)
    {
        var workers = line.GetValue(s_workers);
        var embedded = line.GetValue(s_embedded);
        if (workers > 1 && embedded)
        {
            throw new UsageException("--workers and --embedded contradict each other: several workers need Redis and daprd.");
        }

        var redisText = line.GetValue(s_redis);
        if (embedded && redisText is not null) throw new UsageException("--embedded and --redis contradict each other: the embedded log is a file.");
        var fromEnvironment = Environment.GetEnvironmentVariable("SNAPPER_REDIS");
        var redis = redisText is not null ? RedisAddress.Parse(redisText, fromCommandLine: true)
            : !embedded && !string.IsNullOrEmpty(fromEnvironment) ? RedisAddress.Parse(fromEnvironment, fromCommandLine: false)
            : null;
        var replicas = int.TryParse(Environment.GetEnvironmentVariable(ReplicasVariable), out var wanted) ? wanted : 0;
        if (replicas > 0 && redis is null)
        {
            throw new UsageException(
                $"{ReplicasVariable} is set, and neither the Redis that is started here nor a log in files has "
                + "replicas: name a Redis that has them with --redis, or unset it.");
        }

        var (basePort, sidecarPort) = (line.GetValue(s_basePort), line.GetValue(s_sidecarPort));
        if (Math.Max(basePort + workers, sidecarPort + workers - 1) > 65535)
        {
            throw new UsageException("--base-port and --sidecar-port must leave a port up to 65535 for each worker.");
        }

        if (Enumerable.Range(sidecarPort, workers).Intersect(Enumerable.Range(basePort + 1, workers)).Order().ToArray() is [var both, ..])
        {
            throw new UsageException($"--base-port and --sidecar-port both lead to port {both}.");
        }

        var actors = line.GetList(WorkerCommand.Actors) ?? OfEnvironment("SNAPPER_ACTORS", WorkerCommand.ReadFiles);
        actors = actors?.Select(Path.GetFullPath).ToArray();
        var apps = line.GetList(WorkerCommand.Apps) ?? OfEnvironment("SNAPPER_APPS", WorkerCommand.ReadApps);
        return new UpOptions
        {
            Actors = actors,
            Apps = apps,
            Hosted = ServerActors.Of(apps, actors),
            Workers = workers,
            Embedded = embedded,
            DataDirectory = Path.GetFullPath(line.GetValue(WorkerCommand.Data)!),
            BasePort = basePort,
            SidecarPort = sidecarPort,
            AppId = line.GetValue(WorkerCommand.AppId) ?? OfEnvironment("SNAPPER_APP_ID", WorkerCommand.ReadName) ?? WorkerSettings.DefaultAppId,
            DashboardPort = line.GetValue(s_dashboardPort),
            Dashboard = !line.GetValue(s_noDashboard) && OfEnvironment("SNAPPER_DASHBOARD", Values.Word("on", "off")) != "off",
            Redis = redis?.Place,
            RedisLogin = redis is null ? null : RedisLogin.From(redis, Environment.GetEnvironmentVariable),
            Replicas = replicas,
            AcceptLostLog = line.GetValue(s_acceptLostLog),
            Fsync = WorkerCommand.FsyncOf(line),
        };
    }

    private static T? OfEnvironment<T>(string variable, Func<string, T> read)
        where T : class =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? Options.Read(variable, text, read) : null;
}
