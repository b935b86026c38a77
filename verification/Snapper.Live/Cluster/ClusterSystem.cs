using System.Globalization;
using System.Text.Json;
using Snapper.Live.Faults;
using Snapper.Live.Harness;
using Snapper.Live.Links;

namespace Snapper.Live.Cluster;

/// <summary>A worker as the others see it, and how many lives of it they have fenced.</summary>
internal sealed record MemberNow(string Name, string State, long Entries, bool Master, string? Rescuer, long Fenced);

/// <summary>Another worker as one sees it.</summary>
/// <param name="Worker">Its name.</param>
/// <param name="Via">Which worker passes packets on to it; null: none.</param>
/// <param name="IsDirect">Packets go by a direct link.</param>
/// <param name="LinkProblem">Why they do not; null: they do, or the link is just being made.</param>
internal sealed record PeerNow(string Worker, string? Via, bool IsDirect, string? LinkProblem);

/// <summary>
/// Several real workers, started by <c>./snapper up --workers N</c>, with links on the road from each worker to Redis
/// (a lane per worker), on that by which the others' direct links reach it (a lane per worker), from each worker to its
/// sidecar, by which it reaches the others without one, and from each sidecar to its worker.
/// </summary>
internal sealed class ClusterSystem : IAsyncDisposable
{
    private const int SidecarsFrom = 12;
    private const int RedisAt = 22;
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(60);

    private readonly UpOptions _options;
    private readonly ClusterStand _stand;
    private readonly List<Link> _outs = [];
    private readonly List<Link> _ins = [];
    private readonly List<Link> _links = [];
    private SnapperProcess? _process;
    private bool _disposed;

    private ClusterSystem(int workers)
    {
        Workers = workers;
        var offsets = Enumerable.Range(1, 10).Concat(Enumerable.Range(SidecarsFrom, 10)).Append(RedisAt).Append(RedisAt + 1).Append(RedisAt + 2).Concat(Enumerable.Range(SidecarsFrom + ClusterStand.SidecarShift, 9)).Concat(Enumerable.Range(1 + ClusterStand.AppShift, 9)).ToArray();
        var options = UpOptions.Random(embedded: false, offsets);
        _options = options with { SidecarPort = options.BasePort + SidecarsFrom, More = ["--workers", workers.ToString(CultureInfo.InvariantCulture)] };
        var redisAt = _options.BasePort + RedisAt;
        _stand = new ClusterStand(Path.Combine(_options.Data, "stand"), redisAt, SidecarsFrom);
        Redis = new RedisSeat(
            Folder, _options.BasePort + RedisAt, _stand.Folder, () => Pid("redis"), callerOf: WorkerOfCaller);
        for (var i = 1; i <= workers + 1; i++)
        {
            var number = i;
            var (app, sidecar) = (_options.BasePort + number, _options.SidecarPort + number - 1);
            _outs.Add(new Link($"w{i} to its sidecar", () => sidecar, () => sidecar + ClusterStand.SidecarShift, receiverOf: WorkerOfRequest));
            var link = app + ClusterStand.AppShift;
            _ins.Add(new Link($"sidecar of w{i} to it", () => link, () => _stand.AppPortAsked(link)));
            _links.Add(new Link(
                $"links to w{i}", () => LinkPlaces.DoorOf(number), () => LinkPlaces.EndOf(number),
                callerOf: WorkerOfCaller, leadsTo: () => LinkPlaces.LeadsTo(number)));
        }

        Client = NewClient();
    }

    /// <summary>How many there are at the beginning and in the end: w1, w2, ...</summary>
    public int Workers { get; }

    public RedisSeat Redis { get; }

    /// <summary>With a lane per worker, by name.</summary>
    public Link ToRedis => Redis.Road;

    public Clocks Clocks => _stand.Clocks;

    /// <summary>A client that uses all workers and sidecars in turn.</summary>
    public SnapperClient Client { get; }

    public string Folder => _options.Data;

    public string Output => _process?.Output ?? "";

    /// <summary>The <c>up</c> that starts again whatever dies.</summary>
    public int Supervisor => State()?.GetProperty("supervisor").GetProperty("pid").GetInt32() ?? 0;

    /// <summary>The road by which a worker, from 1, reaches the others, with a lane per receiver, by name.</summary>
    public Link Out(int worker) => _outs[worker - 1];

    /// <summary>The road by which the others reach a worker, from 1.</summary>
    public Link In(int worker) => _ins[worker - 1];

    /// <summary>Where workers take direct links of others.</summary>
    public LinkPlaces LinkPlaces => _stand.Links;

    /// <summary>By which the others' direct links reach a worker, from 1; their connections are on lanes.</summary>
    public Link LinksTo(int worker) => _links[worker - 1];

    /// <summary>That of the direct link which one worker has made to another.</summary>
    public Lane LinkOf(int from, int to) => LinksTo(to).Of($"w{from}");

    public static async Task<ClusterSystem> Start(int workers, CancellationToken cancellation)
    {
        var system = new ClusterSystem(workers);
        try
        {
            system.ToRedis.Start();
            system.Roads.ToList().ForEach(link => link.Start());
            await system.Up([], cancellation);
            return system;
        }
        catch
        {
            await system.DisposeAsync();
            Directory.Delete(system.Folder, recursive: true);
            throw;
        }
    }

    private IEnumerable<Link> Roads => _outs.Concat(_ins).Concat(_links);

    /// <summary>It has ended by itself: a person must decide.</summary>
    public bool HasEnded => _process!.HasEnded;

    /// <summary>Starts it once more on the same data, with more options.</summary>
    public async Task StartAgain(CancellationToken cancellation, params string[] more)
    {
        await _process!.DisposeAsync();
        _process = null;

        // It asks for Redis at another port.
        Redis.Stand.ForgetRedisPort();
        ToRedis.Cut(refuses: true);
        var up = Up(more, cancellation);
        await Eventually.Holds("Redis to be started again", BackWithin, () => Task.FromResult(Redis.Stand.RedisPortAsked is null ? "it has not been asked for" : null));
        ToRedis.Heal();
        await up;
    }

    public SnapperClient NewClient() => new([.. Enumerable.Range(1, Workers).Select(Addresses)]);

    /// <summary>A client of one worker, from 1.</summary>
    public SnapperClient ClientOf(int worker) => new(Addresses(worker));

    /// <summary>The process of a worker (<c>w1</c>), a sidecar (<c>sidecar w1</c>), <c>placement</c> or <c>redis</c>, alive; waits while it is started again.</summary>
    public async Task<int> Pid(string part)
    {
        var pid = 0;
        await Eventually.Holds($"{part} to run", BackWithin, () =>
        {
            pid = PidNow(part);
            return Task.FromResult(pid > 1 && ProcessTable.Read(pid) is not null ? null : $"up says:\n{Output}");
        });
        return pid;
    }

    public async Task Kill(string part, int signal = ProcessTable.Kill)
    {
        var pid = await Pid(part);
        var victim = ProcessTable.Read(pid);
        ProcessTable.Signal(pid, signal);
        await Eventually.Holds($"{part} ({pid}) to be dead", BackWithin, () => Task.FromResult(victim is { IsAlive: true } ? "it is alive" : null));
    }

    /// <summary>As any worker that answers tells it; null: none does.</summary>
    public async Task<IReadOnlyList<MemberNow>?> Members()
    {
        for (var tries = 0; tries < Workers; tries++)
        {
            if (await Client.Get("v1/workers", TimeSpan.FromSeconds(2)) is { Status: 200, Json: var json })
            {
                return [.. json.GetProperty("workers").EnumerateArray().Select(worker => new MemberNow(
                    worker.GetProperty("worker").GetString()!, worker.GetProperty("state").GetString()!, worker.GetProperty("entries").GetInt64(),
                    worker.GetProperty("master").GetBoolean(), worker.TryGetProperty("rescuer", out var rescuer) ? rescuer.GetString() : null,
                    worker.GetProperty("expirations").GetInt64() + worker.GetProperty("evictions").GetInt64()))];
            }
        }

        return null;
    }

    /// <summary>The others, as a worker, from 1, sees them; null: it does not answer.</summary>
    public async Task<IReadOnlyList<PeerNow>?> Peers(int worker)
    {
        using var client = ClientOf(worker);
        if (await client.Get("v1/status", TimeSpan.FromSeconds(2)) is not { Status: 200, Json: var json }
            || !json.TryGetProperty("cluster", out var cluster) || cluster.ValueKind != JsonValueKind.Object)
        {
            return null;
        }

        return [.. cluster.GetProperty("peers").EnumerateArray().Select(static peer => new PeerNow(
            peer.GetProperty("worker").GetString()!, Said(peer, "via"), peer.GetProperty("directLink").GetBoolean(),
            Said(peer, "linkProblem")))];
    }

    /// <summary>Between whom there is no direct link now, and why; empty: all have one to each other.</summary>
    public async Task<IReadOnlyList<string>> Unlinked()
    {
        var all = Enumerable.Range(1, Workers).ToArray();
        var missing = new List<string>();
        foreach (var worker in all)
        {
            var peers = await Peers(worker);
            foreach (var other in all.Where(other => other != worker).Select(static other => $"w{other}"))
            {
                var peer = peers?.FirstOrDefault(peer => peer.Worker == other);
                if (peer is not { IsDirect: true })
                {
                    var why = peers is null ? "it does not answer" : peer is null ? "it knows none"
                        : peer.LinkProblem ?? "it is being made";
                    missing.Add($"w{worker} to {other}: {why}");
                }
            }
        }

        return missing;
    }

    /// <summary>What every worker says of itself and the others, for people.</summary>
    public async Task<string> Standing()
    {
        var said = new List<string>();
        for (var worker = 1; worker <= Workers; worker++)
        {
            using var client = ClientOf(worker);
            foreach (var path in new[] { "v1/status", "v1/workers", "readyz" })
            {
                var answer = await client.Get(path, TimeSpan.FromSeconds(2));
                said.Add($"w{worker} {path}: {answer.Status} {(answer.Status is null ? "" : answer.Json)}");
            }
        }

        return string.Join('\n', said);
    }

    /// <summary>Who owns an actor; null: nobody says.</summary>
    public async Task<string?> OwnerOf(string actor) =>
        await Client.Get($"v1/directory?actor={Uri.EscapeDataString(actor)}", TimeSpan.FromSeconds(2)) is { Status: 200, Json: var json }
            && json.TryGetProperty("worker", out var owner) ? owner.GetString() : null;

    /// <summary>A command of <c>./snapper</c> on this system.</summary>
    /// <returns>Its exit code and what it said.</returns>
    public Task<(int Exit, string Said)> Snapper(params string[] arguments)
    {
        var (option, value) = arguments[0] is "join" or "leave" ? ("--data", Folder) : ("--url", Client.Worker.ToString());
        return Repository.Snapper([arguments[0], option, value, .. arguments[1..]]);
    }

    /// <summary>Begins to move everything of a worker to the others.</summary>
    /// <returns>The status of the answer; null: there was none.</returns>
    public async Task<int?> Migrate(string id, string worker)
    {
        using var body = new StringContent($$"""{"id":"{{id}}","worker":"{{worker}}"}""", System.Text.Encoding.UTF8, "application/json");
        return (await Client.Send(HttpMethod.Post, new Uri(Client.Worker, "v1/migrations"), body)).Status;
    }

    /// <summary>The state of a migration; null: nobody says.</summary>
    public async Task<string?> StateOf(string migration) =>
        await Client.Get($"v1/migrations/{migration}", TimeSpan.FromSeconds(2)) is { Status: 200, Json: var json } ? json.GetProperty("state").GetString() : null;

    /// <summary>Kills all workers, so that what is read next comes out of the logs, and waits until all are ready.</summary>
    public async Task RestartAll()
    {
        await Task.WhenAll(Enumerable.Range(1, Workers).Select(worker => Kill($"w{worker}")));
        await AllReady();
    }

    public async Task AllReady()
    {
        for (var worker = 1; worker <= Workers; worker++)
        {
            await Ready(worker);
        }
    }

    public async Task Ready(int worker)
    {
        using var client = ClientOf(worker);
        await Eventually.Holds($"w{worker} to be ready", BackWithin, async () =>
            await client.Get("readyz", TimeSpan.FromSeconds(2)) is { Status: 200 } ? null : $"up says:\n{Output}");
    }

    public Task Stop() => _process?.Stop() ?? Task.CompletedTask;

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

        await ToRedis.DisposeAsync();
        foreach (var link in Roads)
        {
            await link.DisposeAsync();
        }

        Client.Dispose();
    }

    private async Task Up(string[] more, CancellationToken cancellation) => _process = await SnapperProcess.Start(_options with
    {
        More = [.. _options.More, .. more],
        Environment = new Dictionary<string, string>
        {
            ["SNAPPER_REDIS_SERVER"] = _stand.Redis, ["SNAPPER_DAPRD"] = _stand.Daprd, ["SNAPPER_SETSID"] = _stand.Clocks.Setsid,
        },
    }, cancellation);

    private (Uri Worker, Uri Sidecar) Addresses(int worker) =>
        (new Uri($"http://127.0.0.1:{_options.BasePort + worker}"), new Uri($"http://127.0.0.1:{_options.SidecarPort + worker - 1 + ClusterStand.SidecarShift}"));

    /// <summary>Whose packet it is: workers send to each other as calls of an actor that each of them is.</summary>
    private static string? WorkerOfRequest(ReadOnlySpan<byte> sent)
    {
        var prefix = "PUT /v1.0/actors/Mailbox%40"u8;
        return sent.StartsWith(prefix) && sent[prefix.Length..].IndexOf((byte)'/') is > 0 and var length ? System.Text.Encoding.ASCII.GetString(sent.Slice(prefix.Length, length)) : null;
    }

    private string? WorkerOfCaller(int port) => ConnectionOwner.Of(port, () => Pids("worker"));

    private static string? Said(JsonElement json, string name) =>
        json.TryGetProperty(name, out var said) ? said.GetString() : null;

    private JsonElement? State()
    {
        try
        {
            using var state = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(Folder, "run", "state.json")));
            return state.RootElement.Clone();
        }
        catch (Exception early) when (early is IOException or JsonException)
        {
            return null;
        }
    }

    private IEnumerable<(string Name, int Pid)> Pids(string part) => State() is { } state
        ? state.GetProperty("workers").EnumerateArray().Select(worker => (worker.GetProperty("name").GetString()!, worker.GetProperty(part).GetProperty("pid").GetInt32()))
        : [];

    private int PidNow(string part)
    {
        if (State() is not { } state)
        {
            return 0;
        }

        if (part is "placement" or "redis")
        {
            return state.GetProperty(part) is { ValueKind: JsonValueKind.Object } process ? process.GetProperty("pid").GetInt32() : 0;
        }

        var sidecar = part.StartsWith("sidecar ", StringComparison.Ordinal);
        return Pids(sidecar ? "sidecar" : "worker").FirstOrDefault(one => one.Name == (sidecar ? part[8..] : part)).Pid;
    }
}
