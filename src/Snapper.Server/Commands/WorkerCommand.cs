using System.CommandLine;
using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Hosting;

namespace Snapper.Server.Commands;

/// <summary>One server process. Each option can also come from the environment: <c>--listen-port</c> is <c>SNAPPER_LISTEN_PORT</c>; the option wins.</summary>
internal static class WorkerCommand
{
    /// <summary><c>--fsync</c>; <c>up</c> has it, too.</summary>
    internal static readonly Option<string> Fsync = Options.Of(
        "--fsync", "MODE", "always | everysec: faster, and a crash of the machine may lose the last seconds",
        Values.Word("always", "everysec"), "always");

    /// <summary><c>--app-id</c>, which becomes a part of addresses, and of names of Kubernetes; <c>up</c> has it, too.</summary>
    internal static readonly Option<string?> AppId = Options.Of<string?>(
        "--app-id", "NAME", "the Dapr app id of all workers, by which other services call them (default snapper; also: SNAPPER_APP_ID)", ReadName);

    /// <summary><c>--data</c>; <c>up</c> and others have it, too.</summary>
    internal static readonly Option<string> Data = Options.Of("--data", "DIR", "the data directory", static text => text, ".snapper");

    /// <summary><c>--actors</c>; <c>up</c> has it, too.</summary>
    internal static readonly Option<string[]> Actors = Options.Of<string[]>(
        "--actors", "FILE,FILE", "assemblies with actor types of your own, to be hosted (also: SNAPPER_ACTORS)",
        ReadFiles);

    /// <summary><c>--apps</c>; <c>up</c> has it, too.</summary>
    internal static readonly Option<string[]> Apps = Options.Of<string[]>(
        "--apps", "NAME,NAME",
        $"the server's own actor types that are hosted: {ServerActors.Text(ServerActors.Apps)}, or none "
        + "(default: all; also: SNAPPER_APPS)",
        ReadApps);

    private static readonly Option<string?> s_name = Options.Of<string?>("--name", "NAME", "the worker's name (default w1)", ReadName);

    private static readonly Option<string?> s_podName = Options.Of<string?>(
        "--pod-name", "NAME", "the name of a StatefulSet's pod, instead of --name: PREFIX-3 is w3", PodName.WorkerOf);

    private static readonly Option<int> s_listenPort = Options.Whole("--listen-port", "PORT", "its own HTTP API", 5101, 1, 65535);

    private static readonly Option<IPAddress> s_listenAddress = Options.Of(
        "--listen-address", "ADDRESS", "where its API is open beside loopback; beyond loopback needs APP_API_TOKEN of 16 characters or more",
        ReadIpAddress, IPAddress.Loopback);

    private static readonly Option<string?> s_url = Options.Of<string?>(
        "--url", "URL", "under which address others show it (default http://127.0.0.1:PORT)", ReadUrl);

    private static readonly Option<int> s_sidecarPort = Options.Whole("--sidecar-port", "PORT", "the sidecar's HTTP API", 3500, 1, 65535);

    private static readonly Option<int> s_appPort = Options.Whole(
        "--app-port", "PORT", "where its sidecar alone calls it, on 127.0.0.1 (default: --listen-port)", 0, 1, 65535);

    private static readonly Option<string> s_appProtocol = Options.Of(
        "--app-protocol", "WORD",
        "http | h2c: what is spoken at --app-port, as the sidecar is told; h2c costs less",
        Values.Word("http", "h2c"), "http");

    private static readonly Option<int> s_metricsPort = Options.Whole(
        "--metrics-port", "PORT", "where /metrics is served as well, and nothing else (default: nowhere)", 0, 1, 65535);

    private static readonly Option<string> s_sidecar = Options.Of(
        "--sidecar", "KIND", "daprd | embedded", Values.Word("daprd", "embedded"), "daprd");

    private static readonly Option<string> s_log = Options.Of("--log", "KIND", "redis | file", Values.Word("redis", "file"), "file");

    private static readonly Option<string?> s_redis = Options.Text(
        "--redis", "ADDRESS",
        "with --log redis: HOST:PORT or redis://[USER@]HOST:PORT; the password: SNAPPER_REDIS_PASSWORD or SNAPPER_REDIS_PASSWORD_FILE");

    private static readonly Option<string?> s_logPlace = Options.Text(
        "--log-place", "TEXT", "what tells this log from others in what is remembered of it (default: its address)");

    private static readonly Option<int?> s_workers = Options.Of<int?>(
        "--workers", "N",
        "it is one of several (names w1, w2, ...): N of them divide the actors at the very beginning; needs Redis and daprd",
        static text => Values.Whole(1, 1023)(text));

    private static readonly Option<int?> s_leaveOnStop = Options.Of<int?>(
        "--leave-on-stop", "SECONDS",
        "when it gets a signal to stop, first give everything to the other workers, for so long at most, 1 to 600; and end the sidecar",
        static text => Values.Whole(1, 600)(text));

    private static readonly Option<string> s_takeShare = Options.Of(
        "--take-share", "WHEN", "on | off: having joined others and owning nothing, rebalance", Values.Word("on", "off"), "off");

    private static readonly Option<string> s_warmUp = Options.Of(
        "--warm-up", "WHEN", "on | off: owning nothing, have the code compiled before joining others, at the price of some seconds",
        Values.Word("on", "off"), "off");

    private static readonly Option<string?> s_runState = Options.Text("--run-state", "FILE", "the supervisor's state file");

    private static readonly Option<int> s_watchParent = Options.Whole(
        "--watch-parent", "PID", "stop when this is no longer the parent process", 0, 1, int.MaxValue);

    /// <summary><c>worker</c>.</summary>
    public static readonly Command Command = CommandLines.Command(
        "worker", "one server process: 'up' starts it, and pods run it", Run,
        s_name, s_listenPort, s_podName, s_listenAddress, s_url, s_sidecarPort, s_appPort, s_appProtocol, s_metricsPort,
        s_sidecar, AppId, Actors, Apps,
        s_log, s_redis, s_logPlace, s_workers,
        s_leaveOnStop, s_takeShare, s_warmUp, Data, Fsync, s_runState, s_watchParent);

    /// <summary>The variable that has an option's value when the option is absent.</summary>
    internal static string Variable(string option) => "SNAPPER_" + option[2..].Replace('-', '_').ToUpperInvariant();

    /// <summary>The line with the options that are absent in it and set in the environment.</summary>
    internal static IReadOnlyList<string> WithEnvironment(IReadOnlyList<string> arguments, Func<string, string?> environment) =>
    [
        .. arguments,
        .. from option in Command.Options
           where option != s_redis && option.Name.StartsWith("--", StringComparison.Ordinal)
               && !arguments.Any(given => given == option.Name || given.StartsWith(option.Name + "=", StringComparison.Ordinal))
           let value = environment(Variable(option.Name))
           where !string.IsNullOrEmpty(value)
           select $"{option.Name}={value}",
    ];

    /// <summary>The settings that options and the environment make.</summary>
    /// <exception cref="UsageException">A value is wrong or missing.</exception>
    internal static WorkerSettings Settings(IReadOnlyList<string> options, Func<string, string?> environment) =>
        Settings(CommandLines.Parse(Command, WithEnvironment(options, environment)), environment);

    /// <summary>Serves until SIGTERM or SIGINT.</summary>
    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var settings = Settings(line, Environment.GetEnvironmentVariable);
        using var signals = new StopSignals();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(signals.Stop);
        using var parent = line.GetValue(s_watchParent) is > 0 and var pid ? new ParentWatch(pid, stop.Cancel) : null;
        try
        {
            FileModeMask.MakeFolder(settings.DataDirectory);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            throw new StartupException($"the data directory {settings.DataDirectory} cannot be made: {problem.Message}");
        }

        DataDirectoryPermissions.CloseFolders(
            settings.DataDirectory,
            problem => errors.WriteLine($"snapper: warning: other accounts may look into the data directory: {problem}"));

        try
        {
            return await WorkerProcess.Run(settings, stop.Token, signals.Force);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // A signal before it served: nothing was begun.
            return ExitCode.Success;
        }
    }

    private static WorkerSettings Settings(ParseResult line, Func<string, string?> environment)
    {
        string? Set(string variable) => environment(variable) is { Length: > 0 } value ? value : null;

        var given = line.GetValue(s_redis);
        var redis = line.GetValue(s_log) != "redis" ? null
            : (given ?? Set(Variable(s_redis.Name))) is { } text ? RedisAddress.Parse(text, fromCommandLine: given is not null)
            : throw new UsageException("--log redis needs --redis HOST:PORT.");
        if (line.GetValue(s_workers) is not null && redis is null)
        {
            throw new UsageException("--workers needs --log redis: several workers share a Redis.");
        }

        if (line.GetValue(s_name) is not null && line.GetValue(s_podName) is not null)
        {
            throw new UsageException("--name and --pod-name are both given; give one.");
        }

        var token = Set("APP_API_TOKEN");
        var address = line.GetValue(s_listenAddress)!;
        if (!IPAddress.IsLoopback(address) && !(token?.Length >= WorkerSettings.AppApiTokenLengthMin))
        {
            var why = token is null
                ? "APP_API_TOKEN is not set: whoever reaches the port could run every method. Set it, or listen on 127.0.0.1."
                : $"APP_API_TOKEN can be guessed: it must have at least {WorkerSettings.AppApiTokenLengthMin} characters. "
                    + $"'{ProgramName.Value} token' makes something good.";
            throw new UsageException($"--listen-address {address} is reached from other machines, and {why}");
        }

        var metrics = line.GetValue(s_metricsPort);
        int[] others = [line.GetValue(s_listenPort), line.GetValue(s_sidecarPort), line.GetValue(s_appPort)];
        if (metrics > 0 && others.Contains(metrics))
        {
            throw new UsageException($"--metrics-port {metrics} has another use already; give a port of its own.");
        }

        var isH2c = line.GetValue(s_appProtocol) == "h2c";
        if (isH2c && (line.GetValue(s_appPort) == 0 || line.GetValue(s_appPort) == line.GetValue(s_listenPort)))
        {
            throw new UsageException(
                "--app-protocol h2c needs an --app-port of its own: without TLS a port speaks HTTP/1.1 or HTTP/2.");
        }

        var seal = MailboxSeal.From(environment(MailboxSeal.Variable));
        if (line.GetValue(s_workers) is not null && seal is null) throw MailboxSeal.IsMissing();
        return new WorkerSettings
        {
            FirstWorkers = line.GetValue(s_workers),
            Name = line.GetValue(s_name) ?? line.GetValue(s_podName) ?? "w1",
            ListenAddress = address,
            Url = line.GetValue(s_url),
            LeaveOnStop = line.GetValue(s_leaveOnStop) is { } seconds ? TimeSpan.FromSeconds(seconds) : null,
            TakeShare = line.GetValue(s_takeShare) == "on",
            WarmUp = line.GetValue(s_warmUp) == "on" ? WarmUp.Run : null,
            ListenPort = line.GetValue(s_listenPort),
            SidecarPort = line.GetValue(s_sidecarPort),
            AppPort = line.GetValue(s_appPort),
            AppProtocol = isH2c ? HttpProtocols.Http2 : HttpProtocols.Http1,
            MetricsPort = metrics,
            SidecarKind = line.GetValue(s_sidecar) == "embedded" ? SidecarKind.Embedded : SidecarKind.Daprd,
            AppId = line.GetValue(AppId) ?? WorkerSettings.DefaultAppId,
            LogKind = redis is null ? LogKind.File : LogKind.Redis,
            Actors = ServerActors.Of(line.GetList(Apps), line.GetList(Actors)),
            RedisAddress = redis?.Place.ToString(),
            RedisLogin = redis is null ? null : RedisLogin.From(redis, environment),
            LogPlace = line.GetValue(s_logPlace),
            DataDirectory = Path.GetFullPath(line.GetValue(Data)!),
            Fsync = FsyncOf(line),
            DaprApiToken = Set("DAPR_API_TOKEN"),
            AppApiToken = token,
            MailboxSeal = seal,
            RunState = line.GetValue(s_runState) is { } path ? new RunStateFile(path) : null,
        };
    }

    internal static FsyncPolicy FsyncOf(ParseResult line) =>
        line.GetValue(Fsync) == "everysec" ? FsyncPolicy.EverySecond : FsyncPolicy.Always;

    /// <summary>A name of a worker, or an app id: it becomes part of actor types, Redis keys, addresses and folder names.</summary>
    internal static string ReadName(string text) =>
        WorkerSettings.IsName(text) ? text : throw new UsageException($"must be {WorkerSettings.NameRule}");

    /// <summary>The names of apps, or <c>none</c>, which is none of them.</summary>
    internal static string[] ReadApps(string text) => text == ServerActors.None ? [] : Values.List(ReadApp)(text);

    /// <summary>Names of files.</summary>
    internal static string[] ReadFiles(string text) => Values.List(static name => name)(text);

    private static string ReadApp(string name) => ServerActors.Apps.Contains(name)
        ? name
        : throw new UsageException($"must be of {string.Join(", ", ServerActors.Apps)}, or {ServerActors.None}");

    private static IPAddress ReadIpAddress(string text) => IPAddress.TryParse(text, out var address)
        ? address
        : throw new UsageException("must be an IP address, as 127.0.0.1, 0.0.0.0 or ::");

    private static string ReadUrl(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var url) && url.Scheme is "http" or "https" && url.UserInfo.Length == 0
            ? text
            : throw new UsageException("must be http://HOST:PORT");
}
