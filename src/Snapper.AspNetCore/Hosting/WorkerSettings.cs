using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.AspNetCore.Processes;

namespace Snapper.AspNetCore.Hosting;

/// <summary>Which sidecar stands between the callers and this worker.</summary>
public enum SidecarKind
{
    /// <summary>The real one, a process of its own.</summary>
    Daprd,

    /// <summary>The stand-in in this process: the same HTTP API, not for production, never benchmarked.</summary>
    Embedded,
}

/// <summary>Where the log and the states are.</summary>
public enum LogKind
{
    /// <summary>In a Redis.</summary>
    Redis,

    /// <summary>In files of the data directory.</summary>
    File,
}

/// <summary>When an acknowledged write is on disk.</summary>
public enum FsyncPolicy
{
    /// <summary>Before the acknowledgement.</summary>
    Always,

    /// <summary>Within about a second after it.</summary>
    EverySecond,
}

/// <summary>Has the code of a worker compiled before anybody waits for it.</summary>
/// <param name="worker">Its name.</param>
/// <param name="mayGoOn">Asked again and again; false: somebody waits for the worker.</param>
/// <param name="logger">Hears what came of it.</param>
/// <param name="cancellation">Ends it at once.</param>
internal delegate Task WarmUpAction(string worker, Func<Task<bool>> mayGoOn, ILogger logger, CancellationToken cancellation);

/// <summary>All that one worker process is told from outside. Immutable but for the process ids, which are read when asked.</summary>
/// <remarks>A class, not a record: a record would print its tokens.</remarks>
internal sealed class WorkerSettings
{
    /// <summary>The Dapr app id of all workers where nothing else is configured.</summary>
    public const string DefaultAppId = "snapper";

    /// <summary>Fewest characters of an <c>APP_API_TOKEN</c> that lets a worker listen beyond loopback.</summary>
    public const int AppApiTokenLengthMin = 16;

    private const int NameLengthMax = 63;

    /// <summary>
    /// What a name of a worker, or an app id, must be: it becomes part of actor types, Redis keys, addresses and folder
    /// names.
    /// </summary>
    public static readonly string NameRule = $"1 to {NameLengthMax} letters, digits, '-' or '_'";

    /// <summary>Whether a text follows <see cref="NameRule"/>.</summary>
    public static bool IsName(string text) => text.Length is > 0 and <= NameLengthMax
        && text.All(static c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_');

    /// <summary>The worker's name, <c>w1</c>; unique in the system.</summary>
    public required string Name { get; init; }

    /// <summary>The port of the worker's own HTTP API; also the sidecar's app port.</summary>
    public required int ListenPort { get; set; }

    /// <summary>Where that port is open, beside loopback, where the sidecar calls. Beyond loopback only with <see cref="AppApiToken"/>.</summary>
    public IPAddress ListenAddress { get; init; } = IPAddress.Loopback;

    /// <summary>Under which address others show this worker, an absolute URL; null: loopback with <see cref="ListenPort"/>.</summary>
    public string? Url { get; init; }

    /// <summary>For how long, when it is told to stop, it gives what it owns to the other workers before it stops; null: not at all.</summary>
    public TimeSpan? LeaveOnStop { get; init; }

    /// <summary>It asks for its share once it has joined others and owns nothing.</summary>
    public bool TakeShare { get; init; }

    /// <summary>Has the worker's code compiled; called where nobody waits for it, before it joins the others. Null: it is compiled as it is needed.</summary>
    public WarmUpAction? WarmUp { get; init; }

    /// <summary>The port of the sidecar's HTTP API. With <see cref="SidecarKind.Embedded"/> the worker itself must listen there too.</summary>
    public required int SidecarPort { get; init; }

    /// <summary>The port, on loopback, where the sidecar alone calls it; 0: at the worker's own.</summary>
    public int AppPort { get; init; }

    /// <summary>
    /// What is spoken at <see cref="AppPort"/>: HTTP/1.1, or HTTP/2 without TLS, which daprd calls <c>h2c</c>.
    /// </summary>
    public HttpProtocols AppProtocol { get; init; } = HttpProtocols.Http1;

    /// <summary>Where <c>/metrics</c> is served and nothing else, so that it can be opened alone; 0: nowhere.</summary>
    public int MetricsPort { get; init; }

    /// <summary>daprd or the embedded stand-in.</summary>
    public required SidecarKind SidecarKind { get; init; }

    /// <summary>The Dapr app id of the sidecar.</summary>
    public string AppId { get; init; } = DefaultAppId;

    /// <summary>The actor types that it hosts.</summary>
    public required HostedActors Actors { get; init; }

    /// <summary>Redis or file.</summary>
    public required LogKind LogKind { get; init; }

    /// <summary><c>host:port</c>; set exactly when <see cref="LogKind"/> is Redis.</summary>
    public string? RedisAddress { get; init; }

    /// <summary>Who the worker is to that Redis; null: nobody in particular.</summary>
    public RedisLogin? RedisLogin { get; init; }

    /// <summary>It is one of several workers: so many divide the actors at the very beginning; null: it is alone.</summary>
    public int? FirstWorkers { get; init; }

    /// <summary>What tells this log's place from others of the same worker; null: the address. For a Redis whose port differs from start to start.</summary>
    public string? LogPlace { get; init; }

    /// <summary>The data directory, absolute; it exists and is writable. The worker's own files go to a folder of its name below <c>workers</c>.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>What the Redis of the supervisor was started with, and what a file log shall do.</summary>
    public required FsyncPolicy Fsync { get; init; }

    /// <summary>Token that the sidecar expects from us (header <c>dapr-api-token</c>); null: none.</summary>
    public string? DaprApiToken { get; init; }

    /// <summary>Token that the sidecar sends to us and that must be checked; null: none.</summary>
    public string? AppApiToken { get; init; }

    /// <summary>What workers show each other; null: nothing was said, and the worker has no others.</summary>
    public MailboxSeal? MailboxSeal { get; init; }

    /// <summary>The supervisor's state file; null when nobody supervises (as on Kubernetes).</summary>
    public RunStateFile? RunState { get; init; }

    /// <summary>The worker's own folder, <c>{data}/workers/{name}</c>.</summary>
    public string WorkerDirectory => Path.Combine(DataDirectory, Processes.DataDirectory.WorkersFolder, Name);

    /// <summary>Where admin actions are written down, <c>{data}/audit/{name}.jsonl</c>.</summary>
    public string AuditFile => Path.Combine(DataDirectory, Processes.DataDirectory.AuditFolder, Name + ".jsonl");

    /// <summary>What the worker remembers of its log, outside of the log and of the worker's own folder, <c>{data}/remembered/{name}.json</c>.</summary>
    public string MemoryFile => Path.Combine(DataDirectory, Processes.DataDirectory.RememberedFolder, Name + ".json");

    /// <summary>The sidecar's process id now; 0: unknown. Our own with the embedded sidecar. Changes when the supervisor restarts the sidecar.</summary>
    public int SidecarPid => SidecarKind == SidecarKind.Embedded
        ? Environment.ProcessId
        : RunState?.Read()?.Workers.FirstOrDefault(w => w.Name == Name)?.Sidecar.Pid ?? 0;

    /// <summary>The process id of the Redis that the supervisor started; 0: not ours, or none.</summary>
    public int RedisPid => RunState?.Read()?.Redis?.Pid ?? 0;
}
