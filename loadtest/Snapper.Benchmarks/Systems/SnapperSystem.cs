using System.Globalization;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;

namespace Snapper.Benchmarks.Systems;

/// <summary>Ours, started as a user starts it: <c>./snapper up</c>, with a folder of its own, random ports and <c>--fsync always</c>.</summary>
public sealed class SnapperSystem : ISystemUnderTest
{
    /// <summary>What the tables call it.</summary>
    public const string SystemName = "Snapper";

    private const string TransferItem =
        """{"actor":{"type":"Account","id":"{0}"},"method":"MultiTransfer","input":{"to":["{1}","{2}","{3}"],"amount":1},"mode":"pact","access":{"Account":{"{0}":1,"{1}":1,"{2}":1,"{3}":1}}}""";

    private const string ActTransferItem =
        """{"actor":{"type":"Account","id":"{0}"},"method":"MultiTransfer","input":{"to":["{1}","{2}","{3}"],"amount":1},"mode":"act"}""";

    private const string DepositItem =
        """{"actor":{"type":"Account","id":"{0}"},"method":"DepositChecking","input":{"amount":1},"mode":"pact","access":{"Account":{"{0}":1}}}""";

    /// <summary>The worker's own door for transactions.</summary>
    public const string TransactionsPath = "/v1/transactions";

    /// <summary>The same through a sidecar.</summary>
    public const string InvokePath = "/v1.0/invoke/snapper/method/v1/transactions";

    // The first start may have to build the server.
    private static readonly TimeSpan StartDeadline = TimeSpan.FromMinutes(5);

    private readonly ChildProcess up;
    private readonly string folder;
    private List<MeasuredProcess> processes = [];

    private SnapperSystem(ChildProcess up, string folder)
    {
        this.up = up;
        this.folder = folder;
    }

    /// <inheritdoc />
    public string Name => SystemName;

    /// <inheritdoc />
    public Uri Sidecar { get; private set; } = null!;

    /// <summary>The worker's own HTTP API.</summary>
    public Uri Worker { get; private set; } = null!;

    /// <summary>Process id of the worker.</summary>
    public int WorkerId { get; private set; }

    /// <summary>All workers as they were started; the properties above are the first one's.</summary>
    public IReadOnlyList<ReadyWorker> Workers { get; private set; } = [];

    /// <inheritdoc />
    public IReadOnlyList<MeasuredProcess> Processes => processes;

    /// <inheritdoc />
    public IReadOnlyDictionary<string, string> Facts { get; private set; } = new Dictionary<string, string>();

    /// <summary>Starts it and waits for its line <c>ready {json}</c>.</summary>
    /// <param name="workers">How many, each with a sidecar.</param>
    /// <param name="environment">Settings of all of them; null: none.</param>
    /// <exception cref="InvalidOperationException">It did not get ready, or runs on stand-ins that are not to be measured.</exception>
    public static async Task<SnapperSystem> StartAsync(
        int workers = 1, IReadOnlyDictionary<string, string?>? environment = null)
    {
        var root = ServerTools.RepositoryRoot();
        var program = Path.Combine(root, "snapper");
        if (!File.Exists(program))
        {
            throw new MissingToolException("The script \"snapper\" is not at the root of the repository, so the system cannot be started.");
        }

        var folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        var basePort = Ports.FreeRun(workers + 1);
        string[] arguments =
        [
            "up", "--workers", Text(workers), "--data", folder, "--base-port", Text(basePort), "--sidecar-port", Text(Ports.FreeRun(workers)),
            "--no-dashboard", "--fsync", "always", "--app-id", "snapper",
        ];
        var up = ChildProcess.Start("./snapper up", program, arguments, environment, root);
        var system = new SnapperSystem(up, folder);
        try
        {
            var line = await up.WaitForLineAsync(ReadyLine.IsIt, StartDeadline, "\"ready {json}\"");
            await system.UseAsync(ReadyLine.Parse(line));
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            throw;
        }
    }

    /// <summary>One PACT of four accounts per request, through the sidecar's service door.</summary>
    public HttpWorkload MultiTransfer(IAccountChooser chooser) => MultiTransfer(chooser, Sidecar);

    /// <summary>The same through a given sidecar.</summary>
    public static HttpWorkload MultiTransfer(IAccountChooser chooser, Uri sidecar) =>
        new(sidecar, RequestTemplate.Single("POST", sidecar, InvokePath, "", TransferItem, 4), chooser, new EnvelopeAnswers());

    /// <summary>The same straight to a worker.</summary>
    public static HttpWorkload DirectMultiTransfer(IAccountChooser chooser, Uri worker) =>
        new(worker, RequestTemplate.Single("POST", worker, TransactionsPath, "", TransferItem, 4), chooser, new EnvelopeAnswers());

    /// <summary>Many PACTs of four accounts per request, through the sidecar's service door.</summary>
    public HttpWorkload BatchedMultiTransfer(IAccountChooser chooser, int batch) =>
        new(Sidecar, RequestTemplate.Batch(Sidecar, InvokePath, "", TransferItem, batch, 4), chooser, new EnvelopeAnswers());

    /// <summary>The same straight to the worker.</summary>
    public HttpWorkload DirectBatchedMultiTransfer(IAccountChooser chooser, int batch) =>
        new(Worker, RequestTemplate.Batch(Worker, TransactionsPath, "", TransferItem, batch, 4), chooser, new EnvelopeAnswers());

    /// <summary>The same straight to any worker, also as ACTs.</summary>
    public static HttpWorkload DirectBatchedMultiTransfer(IAccountChooser chooser, Uri worker, int batch, bool act) =>
        new(
        worker,
        batch == 1
            ? RequestTemplate.Single("POST", worker, TransactionsPath, "", act ? ActTransferItem : TransferItem, 4)
            : RequestTemplate.Batch(worker, TransactionsPath, "", act ? ActTransferItem : TransferItem, batch, 4),
        chooser, new EnvelopeAnswers());

    /// <summary>Many one-account deposits per request, straight to the worker: for touching many accounts.</summary>
    public HttpWorkload BatchedDeposits(IAccountChooser chooser, int batch) =>
        new(Worker, RequestTemplate.Batch(Worker, TransactionsPath, "", DepositItem, batch, 1), chooser, new EnvelopeAnswers());

    /// <summary>A call through the same sidecar to the same server that does nothing: an actor method that the door refuses.</summary>
    public HttpWorkload Noop(IAccountChooser chooser) => new(
        Sidecar,
        RequestTemplate.Single("PUT", Sidecar, "/v1.0/actors/Account/{0}/method/Nope", "Dapr-Reentrancy-Id: snapper\r\n", "{}", 4),
        chooser,
        new MarkedAnswers("\"outcome\":\"rejected\""));

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        await up.DisposeAsync();
        Directory.Delete(folder, recursive: true);
    }

    // An older build has none.
    private string? Password() => Path.Combine(folder, "redis-password") is var file && File.Exists(file) ? File.ReadAllText(file).Trim() : null;

    private async Task UseAsync(ReadyLine ready)
    {
        Workers = ready.Workers;
        Worker = Workers[0].Url;
        Sidecar = Workers[0].Sidecar;
        WorkerId = Workers[0].ProcessId;
        var redis = await RedisProbe.AskAsync(ready.Redis, Password());
        Facts = new Dictionary<string, string>
        {
            ["dapr"] = ServerTools.DaprVersion(),
            ["redis"] = redis.Version,
            ["appendfsync"] = redis.Fsync,
        };
        FindProcesses(redis.ProcessId);
    }

    // Everything that `up` started counts, itself included; the ready line tells which is which.
    private void FindProcesses(int redisId)
    {
        var found = new List<MeasuredProcess>();
        foreach (var process in ProcessTree.Of(up.Id))
        {
            var role = Workers.Any(worker => worker.ProcessId == process.ProcessId) ? "server"
                : Workers.Any(worker => worker.SidecarId == process.ProcessId) ? "daprd"
                : process.ProcessId == redisId ? "redis"
                : process.Name == "placement" ? "placement"
                : "launcher";
            found.Add(new MeasuredProcess(role, process.ProcessId, MayEnd: role == "launcher"));
        }

        // A server that detached itself from `up` still counts.
        var known = Workers.SelectMany(static worker => new (string, int)[] { ("server", worker.ProcessId), ("daprd", worker.SidecarId) }).Append(("redis", redisId));
        foreach (var (role, id) in known)
        {
            if (found.TrueForAll(process => process.ProcessId != id))
            {
                found.Add(new MeasuredProcess(role, id));
            }
        }

        processes = found;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
