using System.Globalization;
using System.Net;
using Snapper.Server.Hosting;
using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>One server process. Each option can also come from the environment: <c>--listen-port</c> is <c>SNAPPER_LISTEN_PORT</c>; the option wins.</summary>
internal static class WorkerCommand
{
    /// <summary>Fewest characters of an <c>APP_API_TOKEN</c> that lets a worker listen beyond loopback.</summary>
    public const int AppTokenLengthMin = 16;

    private const int AppIdLengthMax = 63;

    /// <summary>Arguments of <c>worker</c>.</summary>
    public static readonly CommandSyntax Syntax = new("worker", "one server process: 'up' starts it, and pods run it",
    [
        new("--name", "NAME", "the worker's name (default w1)"),
        new("--listen-port", "PORT", "its own HTTP API (default 5101)"),
        new("--pod-name", "NAME", "the name of a StatefulSet's pod, instead of --name: PREFIX-3 is w3"),
        new("--listen-address", "ADDRESS", "where its API is open beside loopback (default 127.0.0.1); beyond loopback needs APP_API_TOKEN of 16 characters or more"),
        new("--url", "URL", "under which address others show it (default http://127.0.0.1:PORT)"),
        new("--sidecar-port", "PORT", "the sidecar's HTTP API (default 3500)"),
        new("--sidecar", "KIND", "daprd (default) | embedded"),
        new("--app-id", "NAME", "the Dapr app id of its sidecar, the same for all workers (default snapper)"),
        new("--log", "KIND", "redis | file (default)"),
        new("--redis", "ADDRESS", "with --log redis: HOST:PORT or redis://[USER@]HOST:PORT; the password: SNAPPER_REDIS_PASSWORD or SNAPPER_REDIS_PASSWORD_FILE"),
        new("--log-place", "TEXT", "what tells this log from others in what is remembered of it (default: its address)"),
        new("--workers", "N", "it is one of several (names w1, w2, ...): N of them divide the actors at the very beginning; needs Redis and daprd"),
        new("--leave-on-stop", "SECONDS", "when told to stop, first give everything to the other workers, for so long at most, 1 to 600; and end the sidecar"),
        new("--take-share", "WHEN", "on | off (default): having joined others and owning nothing, rebalance"),
        new("--warm-up", "WHEN", "on | off (default): owning nothing, have the code compiled before joining others, at the price of some seconds"),
        new("--data", "DIR", "default .snapper"),
        new("--fsync", "MODE", "always (default) | everysec"),
        new("--run-state", "FILE", "the supervisor's state file"),
        new("--watch-parent", "PID", "stop when this is no longer the parent process"),
    ]);

    /// <summary>Serves until SIGTERM or SIGINT.</summary>
    public static async Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        var settings = Settings(arguments, Environment.GetEnvironmentVariable);
        using var signals = new StopSignals();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(signals.Stop);
        using var parent = arguments.Text("--watch-parent") is null
            ? null
            : new ParentWatch(arguments.Number("--watch-parent", 0, 1, int.MaxValue), stop.Cancel);
        try
        {
            FileModeMask.MakeFolder(settings.DataDirectory);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            throw new StartupException($"the data directory {settings.DataDirectory} cannot be made: {problem.Message}");
        }

        DataDirectoryPermissions.CloseFolders(settings.DataDirectory, problem => errors.WriteLine($"snapper: warning: other accounts may look into the data directory: {problem}"));

        try
        {
            return await WorkerProcess.Run(settings, stop.Token, signals.Force);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // Told to stop before it served: nothing was begun.
            return ExitCode.Success;
        }
    }

    /// <summary>The settings that the arguments and the environment make.</summary>
    /// <exception cref="UsageException">A value is wrong or missing.</exception>
    internal static WorkerSettings Settings(ParsedArguments arguments, Func<string, string?> environment)
    {
        string? Text(string option)
        {
            var variable = "SNAPPER_" + option[2..].Replace('-', '_').ToUpperInvariant();
            return arguments.Text(option) ?? (environment(variable) is { Length: > 0 } value ? value : null);
        }

        int Port(string option, int @default)
        {
            if (Text(option) is not { } text) return @default;
            return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var port) && port is > 0 and <= 65535
                ? port
                : throw new UsageException($"{option} must be a port, 1 to 65535, not '{text}'.");
        }

        bool IsOn(string option) => Text(option) switch
        {
            null or "off" => false,
            "on" => true,
            var other => throw new UsageException($"{option} must be on or off, not '{other}'."),
        };

        int? workers = Text("--workers") is not { } several ? null
            : int.TryParse(several, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number is > 0 and <= 1023 ? number
            : throw new UsageException($"--workers must be 1 to 1023, not '{several}'.");
        var log = Text("--log") switch
        {
            null or "file" => LogKind.File,
            "redis" => LogKind.Redis,
            var other => throw new UsageException($"--log must be redis or file, not '{other}'."),
        };
        var redisText = log == LogKind.Redis ? Text("--redis") ?? throw new UsageException("--log redis needs --redis HOST:PORT.") : null;
        var redis = redisText is null ? null : RedisAddress.Parse(redisText, fromCommandLine: arguments.Text("--redis") is not null);

        if (workers is not null && log == LogKind.File)
        {
            throw new UsageException("--workers needs --log redis: several workers share a Redis.");
        }

        var token = environment("APP_API_TOKEN") is { Length: > 0 } app ? app : null;
        var address = ListenAddress(Text("--listen-address"));
        if (!IPAddress.IsLoopback(address) && token is null)
        {
            throw new UsageException($"--listen-address {address} is reached from other machines, and APP_API_TOKEN is not set: whoever reaches the port could run every method. Set it, or listen on 127.0.0.1.");
        }

        if (!IPAddress.IsLoopback(address) && token!.Length < AppTokenLengthMin)
        {
            throw new UsageException($"--listen-address {address} is reached from other machines, and APP_API_TOKEN can be guessed: it must have at least {AppTokenLengthMin} characters. './snapper token' makes something good.");
        }

        return new WorkerSettings
        {
            FirstWorkers = workers,
            Name = Name(Text("--name"), Text("--pod-name")),
            ListenAddress = address,
            Url = Text("--url") is { } url ? Url(url) : null,
            LeaveOnStop = Text("--leave-on-stop") is { } leave ? Seconds("--leave-on-stop", leave) : null,
            TakeShare = IsOn("--take-share"),
            WarmUp = IsOn("--warm-up"),
            ListenPort = Port("--listen-port", 5101),
            SidecarPort = Port("--sidecar-port", 3500),
            SidecarKind = Text("--sidecar") switch
            {
                null or "daprd" => SidecarKind.Daprd,
                "embedded" => SidecarKind.Embedded,
                var other => throw new UsageException($"--sidecar must be daprd or embedded, not '{other}'."),
            },
            AppId = ParseAppId(Text("--app-id")),
            LogKind = log,
            RedisAddress = redis?.Place.ToString(),
            RedisLogin = redis is null ? null : RedisLogin.From(redis, environment),
            LogPlace = Text("--log-place"),
            DataDirectory = Path.GetFullPath(Text("--data") ?? ".snapper"),
            Fsync = ParseFsync(Text("--fsync")),
            DaprApiToken = environment("DAPR_API_TOKEN") is { Length: > 0 } dapr ? dapr : null,
            AppApiToken = token,
            MailboxSeal = MailboxSeal.From(environment(MailboxSeal.Variable)),
            RunState = Text("--run-state") is { } path ? new RunStateFile(path) : null,
        };
    }

    /// <summary>Reads <c>always</c> or <c>everysec</c>; null means always.</summary>
    internal static FsyncPolicy ParseFsync(string? text) => text switch
    {
        null or "always" => FsyncPolicy.Always,
        "everysec" => FsyncPolicy.EverySecond,
        _ => throw new UsageException($"--fsync must be always or everysec, not '{text}'."),
    };

    /// <summary>
    /// Reads a Dapr app id; null or empty means <see cref="WorkerSettings.DefaultAppId"/>. It becomes a part of
    /// addresses, and of names of Kubernetes.
    /// </summary>
    internal static string ParseAppId(string? text) =>
        string.IsNullOrEmpty(text) ? WorkerSettings.DefaultAppId
        : text.Length <= AppIdLengthMax && text.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_') ? text
        : throw new UsageException(
            $"--app-id must be 1 to {AppIdLengthMax} letters, digits, '-' or '_', not '{text}'.");

    private static string Name(string? name, string? pod) => (name, pod) switch
    {
        (null, null) => "w1",
        (not null, not null) => throw new UsageException("--name and --pod-name are both given; give one."),
        (null, not null) => PodName.WorkerOf(pod),
        _ => WorkerName(name),
    };

    private static IPAddress ListenAddress(string? text) =>
        text is null ? IPAddress.Loopback
        : IPAddress.TryParse(text, out var address) ? address
        : throw new UsageException($"--listen-address must be an IP address, as 127.0.0.1, 0.0.0.0 or ::, not '{text}'.");

    private static string Url(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var url) && url.Scheme is "http" or "https" && url.UserInfo.Length == 0
            ? text
            : throw new UsageException($"--url must be http://HOST:PORT, not '{text}'.");

    private static TimeSpan Seconds(string option, string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds) && seconds is > 0 and <= 600
            ? TimeSpan.FromSeconds(seconds)
            : throw new UsageException($"{option} must be whole seconds, 1 to 600, not '{text}'.");

    // The name becomes part of actor types, Redis keys and folder names.
    private static string WorkerName(string name) =>
        name.Length <= 63 && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_')
            ? name
            : throw new UsageException($"--name must be 1 to 63 letters, digits, '-' or '_', not '{name}'.");
}
