using System.Globalization;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;

namespace Snapper.Benchmarks.Systems;

/// <summary>
/// NonTxn-Dapr: plain Dapr actors that call each other through the sidecar; no transactions, no log. Its daprd runs without metrics, tracing
/// and logs, its server with the garbage collector that measured better.
/// </summary>
public sealed class BaselineSystem : ISystemUnderTest
{
    /// <summary>What the tables call it.</summary>
    public const string SystemName = "NonTxn-Dapr";

    private const string ActorType = "PlainAccount";
    private const string Reentrancy = "Dapr-Reentrancy-Id: plain\r\n";
    private const int StartsMax = 3;
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(40);

    private readonly List<ChildProcess> children = [];
    private readonly List<MeasuredProcess> processes = [];
    private readonly string folder = Directory.CreateTempSubdirectory("snapper-baseline-").FullName;

    private BaselineSystem(IEnumerable<int> sidecarPorts) => Sidecars = sidecarPorts.Select(static port => new Uri($"http://127.0.0.1:{port}")).ToArray();

    /// <summary>One for each host, which share the actors as Dapr's placement decides.</summary>
    public IReadOnlyList<Uri> Sidecars { get; }

    /// <inheritdoc />
    public string Name => SystemName;

    /// <inheritdoc />
    public Uri Sidecar => Sidecars[0];

    /// <inheritdoc />
    public IReadOnlyList<MeasuredProcess> Processes => processes;

    /// <inheritdoc />
    public IReadOnlyDictionary<string, string> Facts { get; } = new Dictionary<string, string>
    {
        ["dapr"] = ServerTools.DaprVersion(),
        ["server GC"] = Environment.GetEnvironmentVariable("SNAPPER_BASELINE_SERVER_GC") == "1" ? "on" : "off",
        ["durability"] = "none",
    };

    /// <summary>Starts placement, the server and its sidecar, and waits until a call succeeds.</summary>
    /// <exception cref="InvalidOperationException">One of them does not start, also at the third try.</exception>
    /// <param name="hosts">Servers, each with a sidecar.</param>
    public static async Task<BaselineSystem> StartAsync(int hosts = 1)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                return await StartOnceAsync(hosts);
            }
            catch (InvalidOperationException failure) when (attempt < StartsMax)
            {
                // Between the look for a free port and its use somebody else may take it.
                Console.Error.WriteLine($"{SystemName} starts again on other ports, for: {failure.Message}");
            }
        }
    }

    private static async Task<BaselineSystem> StartOnceAsync(int hosts)
    {
        var (placement, raft, health) = (Ports.Free(), Ports.Free(), Ports.Free());
        var ports = Enumerable.Range(0, hosts).Select(static _ => (App: Ports.Free(), Http: Ports.Free(), Grpc: Ports.Free(), Internal: Ports.Free())).ToArray();
        var system = new BaselineSystem(ports.Select(static each => each.Http));
        try
        {
            system.Add("placement", DaprProcesses.StartPlacement(system.folder, placement, raft, health));
            foreach (var (app, http, grpc, between) in ports)
            {
                await system.StartServerAsync(app, http);
                await system.StartSidecarAsync(app, http, grpc, between, placement);
            }

            // Each host knows by now where every actor is, whichever sidecar is asked.
            await system.WaitForAllAsync();
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            throw;
        }
    }

    /// <summary>The 4-actor transfer: withdraws at the root, deposits to three others in parallel.</summary>
    public HttpWorkload MultiTransfer(IAccountChooser chooser) => MultiTransfer(chooser, Sidecar);

    /// <summary>The same through a given sidecar.</summary>
    public static HttpWorkload MultiTransfer(IAccountChooser chooser, Uri sidecar) => new(
        sidecar,
        RequestTemplate.Single(
            "PUT",
            sidecar,
            "/v1.0/actors/" + ActorType + "/{0}/method/MultiTransfer",
            Reentrancy,
            """{"to":["{1}","{2}","{3}"],"amount":1}""",
            4),
        chooser,
        new MarkedAnswers("\"balance\":"));

    /// <summary>A call that does nothing.</summary>
    public HttpWorkload Noop(IAccountChooser chooser) => new(
        Sidecar,
        RequestTemplate.Single("PUT", Sidecar, "/v1.0/actors/" + ActorType + "/{0}/method/Noop", Reentrancy, "", 4),
        chooser,
        new MarkedAnswers("{}"));

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        // The sidecar first: it would otherwise report the loss of its application.
        for (var i = children.Count - 1; i >= 0; i--)
        {
            await children[i].DisposeAsync();
        }

        Directory.Delete(folder, recursive: true);
    }

    private async Task StartServerAsync(int port, int sidecarPort)
    {
        var program = Path.Combine(AppContext.BaseDirectory, "Snapper.Baselines.dll");
        var serverGc = Environment.GetEnvironmentVariable("SNAPPER_BASELINE_SERVER_GC") == "1" ? "1" : "0";
        var server = ChildProcess.Start(
            "the baseline server",
            DotnetHost(),
            ["exec", program, Text($"{port}"), Text($"{sidecarPort}")],
            new Dictionary<string, string?> { ["DOTNET_gcServer"] = serverGc });
        Add("server", server);
        await server.WaitForLineAsync(line => line == "listening", StartDeadline, "\"listening\"");
    }

    private async Task StartSidecarAsync(int app, int http, int grpc, int internalPort, int placement)
    {
        var ports = new SidecarPorts(http, grpc, internalPort);
        var sidecar = await DaprProcesses.StartSidecarAsync("baseline", folder, app, ports, placement);
        Add("daprd", sidecar);
        using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(2) };
        await sidecar.WaitUntilAsync(() => CallSucceedsAsync(client, new Uri($"http://127.0.0.1:{http}"), 0), StartDeadline, "a call to an actor");
    }

    private async Task WaitForAllAsync()
    {
        const int Probes = 32;
        using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(2) };
        foreach (var sidecar in Sidecars)
        {
            for (var account = 0; account < Probes; account++)
            {
                await children[^1].WaitUntilAsync(() => CallSucceedsAsync(client, sidecar, account), StartDeadline, $"a call to actor {account} through {sidecar}");
            }
        }
    }

    private static async Task<bool> CallSucceedsAsync(HttpClient client, Uri sidecar, int account)
    {
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Put, new Uri(sidecar, $"/v1.0/actors/{ActorType}/{AccountIds.Of(account)}/method/Noop"));
            request.Headers.Add("Dapr-Reentrancy-Id", "plain");
            using var response = await client.SendAsync(request);
            return response.IsSuccessStatusCode;
        }
        catch (Exception notYet) when (notYet is HttpRequestException or TaskCanceledException)
        {
            return false;
        }
    }

    private void Add(string role, ChildProcess child)
    {
        children.Add(child);
        processes.Add(new MeasuredProcess(role, child.Id));
    }

    /// <summary>The program <c>dotnet</c> that this one runs on.</summary>
    internal static string DotnetHost()
    {
        if (Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") is { Length: > 0 } host)
        {
            return host;
        }

        return Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet" ? Environment.ProcessPath! : "dotnet";
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
