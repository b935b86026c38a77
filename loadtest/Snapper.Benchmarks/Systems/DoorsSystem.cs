using System.Globalization;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;

namespace Snapper.Benchmarks.Systems;

/// <summary>
/// One worker behind several actor doors (<c>Snapper.Doors</c>): its own, and actors of Dapr's SDK.
/// </summary>
public sealed class DoorsSystem : IAsyncDisposable
{
    /// <summary>The actor type of the worker's own door.</summary>
    public const string Own = "Account";

    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(60);

    private readonly List<ChildProcess> children = [];
    private readonly List<MeasuredProcess> processes = [];
    private readonly string folder = Directory.CreateTempSubdirectory("snapper-doors-").FullName;

    // What a caller has before the address that the worker sees.
    private readonly string before;
    private readonly Uri address;

    private DoorsSystem(int port, string before)
    {
        address = new Uri($"http://127.0.0.1:{port}");
        this.before = before;
    }

    /// <summary>All its processes.</summary>
    public IReadOnlyList<MeasuredProcess> Processes => processes;

    /// <summary>Builds and starts it, and waits until it serves.</summary>
    /// <param name="throughDaprd">It is called through a sidecar; else as a sidecar calls it.</param>
    public static async Task<DoorsSystem> StartAsync(bool throughDaprd)
    {
        var program = await OldBuild.BuildAsync(ServerTools.RepositoryRoot(), "Snapper.Doors");
        var (port, ports) = (Ports.Free(), new SidecarPorts(Ports.Free(), Ports.Free(), Ports.Free()));
        var system = throughDaprd ? new DoorsSystem(ports.Http, "/v1.0") : new DoorsSystem(port, "");
        try
        {
            await system.StartAsync(program, port, ports, throughDaprd);
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            throw;
        }
    }

    /// <summary>A deposit, called by its own name at one of the doors.</summary>
    /// <param name="chooser">Of accounts.</param>
    /// <param name="type">The actor type of the door.</param>
    public HttpWorkload Deposit(IAccountChooser chooser, string type) => new(
        address,
        RequestTemplate.Single(
            "PUT", address, before + "/actors/" + type + "/{0}/method/DepositChecking",
            "Dapr-Reentrancy-Id: snapper\r\n", """{"amount":1}""", 1),
        chooser,
        new MarkedAnswers("1"));

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        for (var i = children.Count - 1; i >= 0; i--)
        {
            await children[i].DisposeAsync();
        }

        Directory.Delete(folder, recursive: true);
    }

    private async Task StartAsync(string program, int port, SidecarPorts ports, bool throughDaprd)
    {
        var placement = Ports.Free();
        if (throughDaprd)
        {
            Add("placement", DaprProcesses.StartPlacement(folder, placement, Ports.Free(), Ports.Free()));
        }

        var worker = ChildProcess.Start(
            "the worker behind the doors", BaselineSystem.DotnetHost(),
            ["exec", program, Text(port), throughDaprd ? "daprd" : "embedded", Text(ports.Http), folder]);
        Add("server", worker);
        await worker.WaitForLineAsync(static line => line == "listening", StartDeadline, "\"listening\"");
        if (throughDaprd)
        {
            var sidecar = await DaprProcesses.StartSidecarAsync("snapper", folder, port, ports, placement);
            Add("daprd", sidecar);
            using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(2) };
            await sidecar.WaitUntilAsync(() => IsServedAsync(client), StartDeadline, "a call to an actor");
        }
    }

    private async Task<bool> IsServedAsync(HttpClient client)
    {
        try
        {
            var balance = new Uri(address, before + "/actors/" + Own + "/a/method/Balance");
            using var answer = await client.PutAsync(balance, null);
            return answer.IsSuccessStatusCode;
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

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
