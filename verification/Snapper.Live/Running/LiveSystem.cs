using Snapper.Live.Faults;
using Snapper.Live.Harness;
using Snapper.Live.Links;

namespace Snapper.Live.Running;

/// <summary>
/// A real system, started by <c>./snapper up</c> with the real daprd, placement and redis-server, and with a link on every road between two of its
/// processes and between its clients and it.
/// </summary>
internal sealed class LiveSystem : IAsyncDisposable
{
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(30);

    private readonly RunFile _run;
    private readonly UpOptions _options;
    private SnapperProcess? _process;
    private bool _disposed;

    private LiveSystem()
    {
        _options = UpOptions.Random(embedded: false, 2, 3, 4, 5, 6, 7, 8);
        var port = _options.BasePort;
        Stand = new Stand(Path.Combine(_options.Data, "stand"), port + 6, appPort: port + 2, placementPort: port + 5);
        _run = new RunFile(_options.Data);
        Redis = new RedisSeat(Folder, port + 6, Stand.Folder, () => Pid(Part.Redis));
        DaprdToServer = new Link("daprd to server", () => port + 2, () => Stand.AppPortAsked);
        DaprdToPlacement = new Link("daprd to placement", () => port + 5, () => Stand.PlacementPortAsked);
        CallerToServer = new Link("caller to server", () => port + 3, () => port + 1);
        CallerToDaprd = new Link("caller to daprd", () => port + 4, () => _options.SidecarPort);
        Client = NewClient();
    }

    public Stand Stand { get; }

    public RedisSeat Redis { get; }

    public Link ServerToRedis => Redis.Road;

    public Link DaprdToServer { get; }

    public Link DaprdToPlacement { get; }

    public Link CallerToServer { get; }

    public Link CallerToDaprd { get; }

    public IEnumerable<Link> Links => [ServerToRedis, DaprdToServer, DaprdToPlacement, CallerToServer, CallerToDaprd];

    /// <summary>A client whose requests go over the links.</summary>
    public SnapperClient Client { get; }

    /// <summary>State, logs of the processes, and what is kept of a run that failed.</summary>
    public string Folder => _options.Data;

    /// <summary>The last lines that <c>up</c> wrote.</summary>
    public string Output => _process?.Output ?? "";

    /// <summary>Starts it and waits until requests succeed.</summary>
    /// <exception cref="InvalidOperationException">It did not start; the message has its last words. Nothing is left of it.</exception>
    public static async Task<LiveSystem> Start(CancellationToken cancellation)
    {
        var system = new LiveSystem();
        try
        {
            foreach (var link in system.Links)
            {
                link.Start();
            }

            system._process = await SnapperProcess.Start(system._options with
            {
                Environment = new Dictionary<string, string> { ["SNAPPER_REDIS_SERVER"] = system.Stand.Redis, ["SNAPPER_DAPRD"] = system.Stand.Daprd },
            }, cancellation);
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            Directory.Delete(system.Folder, recursive: true);
            throw;
        }
    }

    /// <summary>One more client with connections of its own.</summary>
    public SnapperClient NewClient() => new(new Uri($"http://127.0.0.1:{_options.BasePort + 3}"), new Uri($"http://127.0.0.1:{_options.BasePort + 4}"));

    /// <summary>The process that plays a part, alive; waits for it when it is just being started again.</summary>
    public async Task<int> Pid(Part part)
    {
        var pid = 0;
        await Eventually.Holds($"{part} to run", BackWithin, () =>
        {
            pid = _run.Pid(part) ?? 0;
            return Task.FromResult(pid > 0 && ProcessTable.Read(pid) is not null ? null : $"up says:\n{Output}");
        });
        return pid;
    }

    /// <summary>Sends a signal and returns whom it went to.</summary>
    public async Task<int> Signal(Part part, int signal)
    {
        var pid = await Pid(part);
        ProcessTable.Signal(pid, signal);
        return pid;
    }

    /// <summary>kill -9; returns when the process is gone.</summary>
    public async Task Kill(Part part)
    {
        var pid = await Pid(part);
        var victim = ProcessTable.Read(pid);
        ProcessTable.Signal(pid, ProcessTable.Kill);
        await Eventually.Holds($"{part} ({pid}) to be dead", BackWithin, () => Task.FromResult(victim is { IsAlive: true } ? "it is alive" : null));
    }

    /// <summary>kill -9 of the server; returns when the next one is ready.</summary>
    public async Task RestartServer()
    {
        await Kill(Part.Server);
        await Eventually.Holds("the server to be ready for the last reads", BackWithin, async () =>
            await Client.Get("readyz", TimeSpan.FromSeconds(2)) is { Status: 200 } ? null : $"up says:\n{Output}");
    }

    /// <summary>Stops it as an operator does, and checks that it leaves no process behind.</summary>
    public async Task Stop()
    {
        if (_process is { } process)
        {
            await process.Stop();
        }
    }

    /// <summary>Ends whatever is left. The folder stays: its owner knows whether it is still needed.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_disposed)
        {
            return;
        }

        _disposed = true;
        if (_process is { } process)
        {
            await process.DisposeAsync();
        }

        foreach (var link in Links)
        {
            await link.DisposeAsync();
        }

        Client.Dispose();
    }
}
