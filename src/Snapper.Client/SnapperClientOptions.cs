using System.Globalization;
using System.Text.Json;

namespace Snapper.Client;

/// <summary>Where a client finds the workers, and how it sends. Checked when the client is made.</summary>
public sealed class SnapperClientOptions
{
    /// <summary>The service door takes at most this many transactions in one request.</summary>
    public const int BatchLimit = 1000;

    private const int MostWorkers = 64;

    /// <summary>
    /// The Dapr sidecar's HTTP address. Default: <c>DAPR_HTTP_ENDPOINT</c>, else port <c>DAPR_HTTP_PORT</c> (3500) on
    /// the loopback address. Not used when <see cref="Worker"/> is set.
    /// </summary>
    public Uri Sidecar { get; init; } = SidecarFromEnvironment();

    /// <summary>A worker's own address, to call it without a sidecar. Default: null, through the sidecar.</summary>
    public Uri? Worker { get; init; }

    /// <summary>
    /// The workers' own addresses, when there are several to call without a sidecar: 1 to 64, each once. The client then learns from answers which worker owns which actor and
    /// sends there first, passes over one that does not answer, and brings the same transaction, with the same id, to another. Default: none; takes the place of
    /// <see cref="Worker"/> and <see cref="Sidecar"/> when there are any.
    /// </summary>
    public IReadOnlyList<Uri> Workers { get; init; } = [];

    /// <summary>With several <see cref="Workers"/>: of how many actors the worker is remembered. Range: 0 to 1,000,000. Default: 100,000.</summary>
    public int RememberedActors { get; init; } = 100_000;

    /// <summary>Dapr app id of the workers. Default: <c>snapper</c>.</summary>
    public string AppId { get; init; } = "snapper";

    /// <summary>Sent to the sidecar as <c>dapr-api-token</c>. Default: <c>DAPR_API_TOKEN</c>; null: none.</summary>
    public string? ApiToken { get; init; } = Environment.GetEnvironmentVariable("DAPR_API_TOKEN") is { Length: > 0 } token ? token : null;

    /// <summary>
    /// The caller's own token, sent to the workers as <c>Authorization: Bearer</c>, through the sidecar, too. Default: <c>SNAPPER_TOKEN</c>; null: none.
    /// </summary>
    public string? Token { get; init; } = Environment.GetEnvironmentVariable("SNAPPER_TOKEN") is { Length: > 0 } own ? own : null;

    /// <summary>
    /// How long a transaction may take, retries included; a call may set its own. Sent to the worker, which ends what
    /// takes longer. Range: 1 ms to 5 min. Default: 30 s.
    /// </summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How long after its timeout a transaction's answer is still waited for: the worker ends it at the timeout, and the
    /// news needs time. Range: 0 to 1 min. Default: 2 s.
    /// </summary>
    public TimeSpan AnswerGrace { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Longest wait for a connection. Range: 1 ms to 1 min. Default: 5 s.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Most transactions in one request. Range: 1 to 1,000. Default: 256.</summary>
    public int MaxBatch { get; init; } = 256;

    /// <summary>
    /// Most requests under way at once; while so many are, further calls queue and leave together. Range: 1 to 256.
    /// Default: 4.
    /// </summary>
    public int MaxConcurrentRequests { get; init; } = 4;

    /// <summary>First wait before something is sent or asked again; doubles each time, with jitter. Range: 1 ms to 1 min. Default: 20 ms.</summary>
    public TimeSpan MinBackoff { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Longest such wait, unless the server asks for a longer one. Range: MinBackoff to 1 min. Default: 1 s.</summary>
    public TimeSpan MaxBackoff { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Whether an abort that may pass, or a refusal for too much load (429), is repeated until the timeout. False: it is the answer at once, for callers that count such answers, unless the
    /// transaction was sent before and lost sight of: then only the end of all its sendings is an answer. Default: true.
    /// </summary>
    public bool RepeatsAborted { get; init; } = true;

    /// <summary>
    /// Sends the client's requests, and stays the caller's: the client does not dispose of it. One of
    /// <c>IHttpMessageHandlerFactory</c>, or of a test. Default: null, sockets of
    /// the client's own.
    /// </summary>
    public HttpMessageHandler? Handler { get; init; }

    /// <summary>How inputs and results become JSON. Default: camelCase, read without regard to case.</summary>
    public JsonSerializerOptions Json { get; init; } = JsonSerializerOptions.Web;

    /// <summary>Whether requests go through a sidecar.</summary>
    internal bool UsesSidecar => Workers.Count == 0 && Worker is null;

    /// <summary>The addresses of a resource at each worker, or at the sidecar.</summary>
    /// <param name="path">Without a slash before it.</param>
    internal Uri[] UrisOf(string path) => Workers.Count > 0
        ? [.. Workers.Select(worker => Below(worker, path))]
        : [Worker is { } one ? Below(one, path) : Below(Sidecar, $"v1.0/invoke/{Uri.EscapeDataString(AppId)}/method/{path}")];

    internal Uri[] TransactionsUris => UrisOf("v1/transactions");

    /// <summary>What sends requests: the caller's, or sockets.</summary>
    internal HttpMessageInvoker Invoker() => Handler is { } own ? new HttpMessageInvoker(own, disposeHandler: false)
        : new HttpMessageInvoker(new SocketsHttpHandler
    {
        ConnectTimeout = ConnectTimeout,
        UseCookies = false,
        UseProxy = false,
        AllowAutoRedirect = false,
        PooledConnectionIdleTimeout = TimeSpan.FromMinutes(1),
    });

    internal void Check()
    {
        ArgumentNullException.ThrowIfNull(Workers);
        foreach (var worker in Workers)
        {
            CheckAddress(worker, nameof(Workers));
        }

        if (Workers.Count > MostWorkers || Workers.Distinct().Count() != Workers.Count)
        {
            throw new ArgumentException($"{nameof(Workers)} names at most {MostWorkers} addresses, each once.", nameof(Workers));
        }

        CheckRange(RememberedActors, 0, 1_000_000, nameof(RememberedActors));
        CheckAddress(Worker ?? Sidecar, Worker is null ? nameof(Sidecar) : nameof(Worker));
        ArgumentException.ThrowIfNullOrEmpty(AppId);
        ArgumentNullException.ThrowIfNull(Json);
        CheckTimeout(Timeout, nameof(Timeout));
        CheckRange(AnswerGrace, TimeSpan.Zero, TimeSpan.FromMinutes(1), nameof(AnswerGrace));
        CheckRange(ConnectTimeout, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(1), nameof(ConnectTimeout));
        CheckRange(MinBackoff, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(1), nameof(MinBackoff));
        CheckRange(MaxBackoff, MinBackoff, TimeSpan.FromMinutes(1), nameof(MaxBackoff));
        CheckRange(MaxBatch, 1, BatchLimit, nameof(MaxBatch));
        CheckRange(MaxConcurrentRequests, 1, 256, nameof(MaxConcurrentRequests));
    }

    internal static void CheckTimeout(TimeSpan timeout, string name) =>
        CheckRange(timeout, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(5), name);

    private static void CheckRange<T>(T value, T least, T most, string name)
        where T : IComparable<T>
    {
        if (value.CompareTo(least) < 0 || value.CompareTo(most) > 0)
        {
            throw new ArgumentOutOfRangeException(name, value, $"{name} must be between {least} and {most}.");
        }
    }

    private static void CheckAddress(Uri address, string name)
    {
        if (!address.IsAbsoluteUri || address.Scheme is not ("http" or "https"))
        {
            throw new ArgumentException($"{name} must be an absolute http or https address, got '{address}'.", name);
        }
    }

    private static Uri Below(Uri address, string path) => new(address.AbsoluteUri.TrimEnd('/') + "/" + path);

    private static Uri SidecarFromEnvironment()
    {
        if (Environment.GetEnvironmentVariable("DAPR_HTTP_ENDPOINT") is { Length: > 0 } endpoint)
        {
            return new Uri(endpoint, UriKind.RelativeOrAbsolute);
        }

        var port = Environment.GetEnvironmentVariable("DAPR_HTTP_PORT");
        if (string.IsNullOrEmpty(port))
        {
            port = "3500";
        }

        return int.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number is > 0 and <= 65535
            ? new Uri($"http://127.0.0.1:{number}")
            : throw new ArgumentException($"DAPR_HTTP_PORT must be a port number, got '{port}'.");
    }
}
