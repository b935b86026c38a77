using System.Diagnostics;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>One running system: Redis, placement, and a sidecar and a worker for each i. Started once, stopped once.</summary>
internal sealed partial class Deployment(UpOptions options, MessageWriter messages)
{
    private static readonly TimeSpan StartWithin = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan SayWaitingEvery = TimeSpan.FromSeconds(10);

    private sealed record WorkerPair(string Name, string Url, string SidecarUrl, SupervisedProcess Worker, SupervisedProcess? Sidecar);

    private readonly ProcessSpawner _spawner = new();
    private readonly ChildWrappers _wrappers = ChildWrappers.Find(ExecutableFinder.System);
    private readonly Lock _stateLock = new();
    private IReadOnlyList<WorkerPair> _workers = [];
    private DataDirectory? _data;
    private RunStateFile? _stateFile;
    private SupervisedProcess? _redis;
    private SupervisedProcess? _placement;
    private SupervisedProcess? _dashboard;
    private ReadyLine? _ready;
    private Plan? _plan;
    private string? _mailboxSecret;
    private RedisPlace? _redisPlace;
    private int _placementPort;

    /// <summary>What callers need to know; set once <see cref="Start"/> has returned.</summary>
    public ReadyLine Ready => _ready ?? throw new InvalidOperationException("The deployment has not started.");

    /// <summary>Faults with a <see cref="StartupException"/> when a part stays down for good; to be asked for once <see cref="Start"/> has returned.</summary>
    public Task GivenUp => Task.WhenAny(Processes().Select(p => p.GivenUp).Append(_joinedGivenUp.Task)).Unwrap();

    /// <summary>The workers as they run now; a pid is 0 between a death and the next start. From any thread.</summary>
    public IReadOnlyList<ReadyWorker> Workers => [.. _workers.Select(Describe)];

    /// <summary>What else runs now, by name.</summary>
    public IReadOnlyList<(string Name, int Pid)> Others =>
        [.. new[] { _dashboard, _placement, _redis }.OfType<SupervisedProcess>().Select(process => (process.Spec.Name, process.Identity.Pid))];

    /// <summary>A message to the person at the terminal.</summary>
    public void Say(string message) => messages.Say(message);

    /// <summary>Returns when requests will succeed.</summary>
    /// <exception cref="StartupException">It cannot start; call <see cref="Stop"/> all the same.</exception>
    public async Task Start(CancellationToken cancellation)
    {
        _data = DataDirectory.Open(options.DataDirectory);
        CloseToOthers();
        _stateFile = new RunStateFile(_data.RunStatePath);
        await Leftovers.End(_stateFile.Read(), messages, cancellation);
        RequirePorts();

        var plan = Plan.Make(options, ExecutableFinder.System);
        foreach (var reason in plan.Reasons) Say(reason);
        Say($"data: {_data.Root} (logs of the parts in {_data.Logs})");
        if (_wrappers.Setpriv is null && (plan.RedisServer ?? plan.Daprd) is not null)
        {
            Say("setpriv (util-linux) is not here: if this process is killed with -9, Redis and Dapr stay until the next start ends them");
        }

        NoteChangedLog(plan);
        if (options.AcceptLostLog)
        {
            // Once, here, and not by the workers: one that is started again later must not take a loss of then for this one.
            foreach (var (file, remembered) in _data.ForgetLogs()) Say($"forgotten, as --accept-lost-log asks: {file}: {remembered}");
        }

        var redis = await StartRedis(plan, cancellation);
        (_plan, _redisPlace) = (plan, redis);
        _mailboxSecret = redis is null ? null : TakeMailboxSecret();
        StartSidecarsAndWorkers(plan, redis);
        StartDashboard();
        await UntilReady(plan, cancellation);
        foreach (var process in Processes()) process.Settle();
        _ready = new ReadyLine(
            Workers,
            await DashboardAddress(cancellation), ChildCommands.Word(plan.Log), redis?.Address.ToString(), _redis?.Identity.Pid, ChildCommands.Word(plan.Sidecar));
    }

    private static ReadyWorker Describe(WorkerPair pair) =>
        new(pair.Name, pair.Url, pair.SidecarUrl, pair.Worker.Identity.Pid, (pair.Sidecar ?? pair.Worker).Identity.Pid);

    /// <summary>Stops in the order in which the parts need each other: workers drain first, Redis goes last.</summary>
    /// <param name="force">Cancelled when the user has no more patience: everything is killed.</param>
    public async Task Stop(CancellationToken force)
    {
        if (Processes().Any()) Say("stopping");
        if (_dashboard is not null) await _dashboard.Stop(force);
        await Task.WhenAll(_workers.Select(w => w.Worker.Stop(force)));
        await Task.WhenAll(_workers.Select(w => w.Sidecar?.Stop(force) ?? Task.CompletedTask));
        if (_placement is not null) await _placement.Stop(force);
        if (_redis is not null) await _redis.Stop(force);
        if (_data is null) return;
        if (_stateFile is not null) DeleteState(_stateFile.FilePath);
        _data.Dispose();
    }

    // The directory may have been removed meanwhile; that is reported, and ends nothing else.
    private void DeleteState(string file)
    {
        try
        {
            File.Delete(file);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            Say($"{file} could not be removed: {problem.Message}");
        }
    }

    private void RequirePorts()
    {
        for (var i = 1; i <= options.Workers; i++) RequirePorts(i);
    }

    private void RequirePorts(int i)
    {
        Require(options.WorkerPort(i), $"worker w{i}", "--base-port");
        Require(options.SidecarPortOf(i), $"the sidecar of w{i}", "--sidecar-port");

        static void Require(int port, string use, string option)
        {
            if (Ports.IsFree(port)) return;
            var holder = Ports.Holder(port) is { } known ? $" by {known}" : "";
            throw new StartupException($"port {port} on 127.0.0.1, for {use}, is taken{holder}; {FixHints.Port(option)}");
        }
    }

    private void CloseToOthers()
    {
        var open = DataDirectoryPermissions.Close(_data!.Root, problem => Say($"warning: other accounts may look into the data directory: {problem}"));
        if (open.Count > 0) Say($"other accounts of this machine could look into {string.Join(", ", open)}; they cannot any more");

        if (DataDirectoryPermissions.OpenParent(_data.Root) is { } parent) Say($"warning: {parent}; {FixHints.Parent}");

        // Again: while a folder of an earlier version was open, anybody could put something into it.
        DataDirectoryPermissions.Require(_data.Root);
    }

    private void NoteChangedLog(Plan plan)
    {
        var now = plan.Log == LogKind.File ? "file" : plan.ForeignRedis is { } foreign ? $"redis {foreign}" : "redis";
        if (_data!.ExchangeLogKind(now) is { } before && before != now)
        {
            Say($"note: the last run on this data directory kept its state elsewhere ({before}; now {now}); that state is kept, but not seen by this run");
        }
    }

    private async Task<RedisPlace?> StartRedis(Plan plan, CancellationToken cancellation)
    {
        if (plan.ForeignRedis is { } foreign)
        {
            if (await RedisProbe.Unavailable(foreign, options.RedisLogin) is { } why) throw new StartupException($"Redis at {foreign} cannot be used: {why.TrimEnd('.')}; {FixHints.NamedRedis}");
            var facts = await RedisProbe.Facts(foreign, options.RedisLogin);
            if (RedisProbe.Refusal(facts) is { } refusal) throw new StartupException($"Redis at {foreign} cannot be used: {refusal}");
            foreach (var warning in RedisProbe.Warnings(facts, options.Replicas))
            {
                Say($"warning: Redis at {foreign}: {warning}");
            }

            return new RedisPlace(foreign, options.RedisLogin);
        }

        if (plan.RedisServer is null) return null;
        FileModeMask.MakeFolder(_data!.Redis);
        var secret = PrivateRedisSecret.Take(_data);
        DataDirectoryPermissions.Require(_data.Root);
        if (secret.Note is { } note) Say(note);
        var address = new HostAndPort("127.0.0.1", Ports.Free(1, options.Names)[0]);
        _redis = Supervise(ChildCommands.Redis(plan.RedisServer, _data, address.Port, options.Fsync, secret));
        _redis.Start();
        await Until($"redis-server on {address}", Processes(), () => RedisProbe.Unavailable(address, secret.Login), cancellation);

        // A Redis that has not read its configuration takes any login, and callers without one.
        if (await RedisProbe.Unavailable(address) is null)
        {
            throw new StartupException($"redis-server on {address} lets everybody in without the password of {secret.ConfigurationFile}; {FixHints.OpenRedis}");
        }

        return new RedisPlace(address, secret.Login);
    }

    /// <summary>The secret of the workers; null: they inherit what the environment says.</summary>
    private string? TakeMailboxSecret()
    {
        if (!string.IsNullOrEmpty(Environment.GetEnvironmentVariable(MailboxSeal.Variable))) return null;
        var file = Path.Combine(_data!.Root, DataDirectory.MailboxSecretFile);
        var (secret, note) = SecretFile.Take(file, "the secret of the workers");
        DataDirectoryPermissions.Require(_data.Root);
        if (note is not null) Say(note);
        return secret;
    }

    private void StartSidecarsAndWorkers(Plan plan, RedisPlace? redis)
    {
        var ports = Ports.Free(3 + (3 * options.Workers), options.Names);
        if (plan.Daprd is not null)
        {
            // A sidecar reads it when it starts, and workers may join later.
            FileModeMask.MakeFolder(_data!.Dapr);
            var rule = Resiliency.Yaml(options.AppId, options.WorkersMax, options.Hosted.Types);
            File.WriteAllText(Path.Combine(_data.Dapr, Resiliency.FileName), rule);
        }

        if (plan.Placement is not null) _placement = Supervise(ChildCommands.Placement(plan.Placement, _data!, ports[0], ports[1], ports[2]));
        _placementPort = ports[0];
        var workers = new List<WorkerPair>();
        for (var i = 1; i <= options.Workers; i++)
        {
            var own = ports.AsSpan(3 * i, 3);
            workers.Add(Pair(plan, redis, i, new SidecarPorts(own[0], own[1], _placementPort, own[2])));
        }

        // Assigned whole: a death of Redis may write the run state at this moment.
        _workers = workers;
        _placement?.Start();
        foreach (var worker in _workers)
        {
            worker.Worker.Start();
            worker.Sidecar?.Start();
        }
    }

    private WorkerPair Pair(Plan plan, RedisPlace? redis, int i, SidecarPorts ports)
    {
        var worker = Supervise(ChildCommands.Worker(
            _data!, options, i, plan, redis, _mailboxSecret, watchParent: _wrappers.Setpriv is null,
            plan.Daprd is null ? 0 : ports.App));
        var sidecar = plan.Daprd is null ? null : Supervise(ChildCommands.Daprd(plan.Daprd, _data!, options, i, ports, Repository.Components(), redis));
        return new WorkerPair($"w{i}", $"http://127.0.0.1:{options.WorkerPort(i)}", $"http://127.0.0.1:{options.SidecarPortOf(i)}", worker, sidecar);
    }

    private async Task UntilReady(Plan plan, CancellationToken cancellation)
    {
        using var probe = new ReadinessProbe(options.AppId);
        foreach (var worker in _workers)
        {
            await Until(worker.Name, Processes(), () => probe.Missing(worker.Url, worker.SidecarUrl, plan.Sidecar, cancellation), cancellation);
        }
    }

    /// <summary>Asks until nothing is missing; ends early when a child gives up.</summary>
    private async Task Until(string what, IEnumerable<SupervisedProcess> needed, Func<Task<string?>> missing, CancellationToken cancellation)
    {
        var started = Stopwatch.GetTimestamp();
        var said = TimeSpan.Zero;
        while (true)
        {
            foreach (var process in needed)
            {
                if (process.GivenUp.IsFaulted) await process.GivenUp;
            }

            if (await missing() is not { } why) return;
            var waited = Stopwatch.GetElapsedTime(started);
            if (waited > StartWithin) throw new StartupException($"{what} is not ready after {StartWithin.TotalSeconds:0} s: {why}");
            if (waited - said > SayWaitingEvery)
            {
                said = waited;
                Say($"waiting for {what}: {why}");
            }

            await Task.Delay(30, cancellation);
        }
    }

    private SupervisedProcess Supervise(ProcessSpec spec) => new(spec, _wrappers, _spawner, messages, WriteRunState);

    private IEnumerable<SupervisedProcess> Processes()
    {
        if (_redis is not null) yield return _redis;
        if (_placement is not null) yield return _placement;
        foreach (var worker in _workers)
        {
            yield return worker.Worker;
            if (worker.Sidecar is not null) yield return worker.Sidecar;
        }
    }

    private void WriteRunState()
    {
        lock (_stateLock)
        {
            try
            {
                _stateFile!.Write(new RunState(
                    ProcessIdentity.Of(Environment.ProcessId),
                    [.. _workers.Select(w => new WorkerRunState(w.Name, w.Worker.Identity, (w.Sidecar ?? w.Worker).Identity, w.Url))],
                    _placement?.Identity, _redis?.Identity, _dashboard?.Identity));
            }
            catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
            {
                // A full disk must not end the supervision; the file only informs.
                Say($"{_stateFile!.FilePath} cannot be written: {problem.Message}");
            }
        }
    }
}
