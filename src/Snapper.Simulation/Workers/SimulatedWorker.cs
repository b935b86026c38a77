using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Simulation.Core;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Storage;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Checkpointing;
using Snapper.TransactionLog.Files;
using Snapper.TransactionLog.Remembering;
using Snapper.TransactionLog.Writing;

namespace Snapper.Simulation.Workers;

/// <summary>
/// One life of a worker process: the real worker, from recovery to its end. Its executors are pumped by the world, one item at a time.
/// </summary>
internal sealed class SimulatedWorker : IRequestTarget
{
    private readonly World _world;
    private readonly StorageLink _link;
    private readonly VirtualTime _time;
    private readonly LifeRules _rules;
    private readonly DiskProcess _disk;
    private RememberedLog? _remembered;
    private readonly CancellationTokenSource _starting = new();
    private long[] _stalledUntil = [];
    private int[] _ready = [];
    private WorkerHost? _host;

    public SimulatedWorker(World world, int life)
    {
        _world = world;
        Life = life;
        _link = new StorageLink(world, Scope);
        _time = new VirtualTime(world, Scope);
        _rules = new LifeRules(world.StorageRules, world.Violated);
        _disk = new DiskProcess(world, Scope, kind => world.CrashedInACall(this, kind));
    }

    /// <summary>Counts the lives, from 1.</summary>
    public int Life { get; }

    public ProcessScope Scope { get; } = new();

    /// <summary>An earlier life was not over when it began.</summary>
    public bool HadCompany { get; init; }

    /// <summary>Requests are let in.</summary>
    public bool IsOpen => _host is not null && !Scope.IsDead;

    public bool IsRecovering => _host is null && !Scope.IsDead;

    /// <summary>It takes requests, and none is under way.</summary>
    public bool IsAtRest => !Scope.IsPaused && !Scope.IsDead && _host is { Worker: { Unavailability: null, Relay: { InFlight: 0, Ids.Running: 0 }, Acts.Count: 0, Wheel.Count: 0, Commits.ActsInOrder: 0 } };

    /// <summary>Why it is not at rest, in words.</summary>
    public string Standing => _host is { Worker: var worker }
        ? $"life {Life} is {worker.Unavailability ?? "available"}, {worker.Relay.InFlight} requests are in flight, {worker.Acts.Count} ACTs are open, {worker.Commits.ActsInOrder} in the commit order, {worker.Wheel.Count} deadlines are looked at, {worker.Relay.Ids.Running} ids are running"
        : $"life {Life} is not open";

    /// <summary>Requests that it has begun and, now that it has failed or was stopped, will not answer any more.</summary>
    public int LeftUnanswered => _host is { Worker: { IsOver: true, Relay.InFlight: var left } } ? left : 0;

    public ITransactionDoor Door => _host!.Door;

    /// <summary>Asks it what became of a request, in its process.</summary>
    public void Find(string id, Action<TransactionEnvelope?> found) => Hear(Door.Find(id, CancellationToken.None), found);

    /// <summary>Does something with an answer of it, at once if there is one.</summary>
    public static void Hear<T>(Task<T> answer, Action<T> heard) =>
        answer.ContinueWith(done => heard(done.Result), CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);

    public Executor[] Executors { get; private set; } = [];

    /// <summary>Begins recovery.</summary>
    public void Start() =>
        WorkerHost.Prepare(Setup(), _starting.Token).ContinueWith(
            OnPrepared, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);

    /// <summary>Ends it as <c>kill -9</c> would.</summary>
    public void Crash()
    {
        Scope.Kill();
        _disk.End();
        _host = null;
        Executors = [];
    }

    public void Stall(int executor, long until) => _stalledUntil[executor % _stalledUntil.Length] = until;

    /// <summary>Executors that could run when they were counted last.</summary>
    public int Ready { get; private set; }

    /// <summary>Counts the executors that could run now.</summary>
    public int CountReady()
    {
        var ready = 0;
        if (!Scope.IsPaused && !Scope.IsDead)
        {
            var executors = Executors;
            for (var i = 0; i < executors.Length; i++)
            {
                if (executors[i].HasWork && _world.Now >= _stalledUntil[i])
                {
                    _ready[ready++] = i;
                }
            }
        }

        return Ready = ready > 0 && ArePumpsGone ? 0 : ready;
    }

    /// <summary>Handles one item of one of the executors that were counted, from 0.</summary>
    public void RunReady(int choice) => RunOne(_ready[choice]);

    /// <summary>A worker that is asked to stop ends the threads of its executors before it gives up who still waits: nothing begins behind such an answer.</summary>
    private bool ArePumpsGone => _host is { Worker: { IsOver: true, Failure: null } };

    /// <summary>Handles one item of an executor.</summary>
    private void RunOne(int index)
    {
        var executor = Executors[index];
        executor.Enter();
        try
        {
            executor.RunOne();
        }
        catch (Exception exception)
        {
            // As the thread that pumps a real executor does it: a broken invariant stops the worker.
            _host?.Worker.Fail(exception);
        }
        finally
        {
            Executor.Leave();
        }
    }

    /// <summary>Asks it to stop; completes when it has drained.</summary>
    public Task Stop() => _host!.Stop();

    /// <summary>Writes down how far its log went, as a real one does each few seconds, after a failure and at its end.</summary>
    public void Remember()
    {
        if (_remembered is { } remembered)
        {
            // As every call to the disk: it may stand still in its middle, with the gate of the memory in its hands.
            _disk.Run(remembered, () => WriteDown(remembered), CancellationToken.None);
        }
    }

    private static bool WriteDown(RememberedLog remembered)
    {
        try
        {
            remembered.Remember();
            return true;
        }
        catch (IOException)
        {
            return false; // what the file says is less than it could be, and true
        }
    }

    private (ITransactionLog Log, IStateStore Store) Storage()
    {
        var scenario = _world.Scenario;
        IIdentifiedLog log;
        IStateStore store;
        if (scenario.Files != 0)
        {
            var files = new FileTransactionLog(SimulatedMachine.LogFolder, FileLogOptions.Tiny(scenario.SegmentBytes, scenario.SegmentBytes), _disk);
            log = new WatchedLog(files, _world.FilesView, _world.LogRules, _world.StorageRules);
            store = new WatchedStateStore(new FileStateStore(files, _time, new StateStoreOptions()), _world.FilesView, _world.StorageRules);
        }
        else
        {
            log = new SimulatedLog(_link, _world.Storage, _world.LogRules, _world.StorageRules);
            store = new SimulatedStateStore(_link, _world.Storage, _time, _world.StorageRules);
        }

        if (scenario.Remembers == 0)
        {
            return (log, store);
        }

        var memory = new LogMemory(SimulatedMachine.MemoryFile, "simulated", _disk);
        _remembered = new RememberedLog(log, memory, "simulated log", static () => TimeSpan.Zero, _time);
        return (_remembered, store);
    }

    private WorkerSetup Setup()
    {
        var scenario = _world.Scenario;
        var (log, store) = Storage();
        return new WorkerSetup
        {
            Options = new WorkerOptions
            {
                Executors = scenario.Executors,
                Coordinators = scenario.Coordinators,
                OpenBatches = scenario.OpenBatches,
                TransactionsPerBatch = scenario.TransactionsPerBatch,
                TurnBound = TimeSpan.FromMilliseconds(scenario.TurnBoundMs),
                TurnTick = TimeSpan.FromMilliseconds(Math.Max(5, scenario.TurnBoundMs / 8)),
                MarkMethodsThatFail = scenario.MarkFailing != 0,
                IdleActorTimeout = TimeSpan.FromSeconds(1),
                DrainTimeout = TimeSpan.FromMilliseconds(scenario.Seed % 3 == 0 ? 30 : 2000),
                Seed = (int)(scenario.Seed * 31) + Life,
                AnswersInline = true,
                MaxStateBytes = scenario.StateBytes > 0 ? scenario.StateBytes : 1 << 20,
                MaxResultBytes = scenario.StateBytes > 0 ? ResultBytes(scenario) : 1 << 20,
                MaxTransactionBytes = scenario.StateBytes > 0 ? scenario.StateBytes + ResultBytes(scenario) : 64 << 20,
            },
            ActorTypes = _world.ActorTypes,
            Services = _world.Own?.Services,
            Log = log,
            Store = store,
            Checkpointing = new CheckpointerOptions { Interval = TimeSpan.FromMilliseconds(scenario.CheckpointMs), ChunkBytes = 4096, Rare = _world.Rare },
            Writing = new LogWriterOptions { GroupBytesMax = 4096, Rare = _world.Rare },
            Time = _time,
            NumbersOfALife = scenario.Numbers > 0 ? scenario.Numbers : WorkerSetup.UsualNumbersOfALife,
            Rare = _world.Rare,
            Failed = OnFailed,
            Trace = _rules,
        };
    }

    /// <summary>Room for what a look at one actor shows, not for all of what a long transaction has read.</summary>
    private static int ResultBytes(Scenario scenario) => (2 * scenario.StateBytes) + 100;

    private void OnPrepared(Task<WorkerHost> prepared)
    {
        if (Scope.IsDead)
        {
            return;
        }

        if (!prepared.IsCompletedSuccessfully)
        {
            _world.RecoveryFailed(this, prepared.Exception!.GetBaseException());
            return;
        }

        _host = prepared.Result;
        Executors = [.. _host.Worker.Executors];
        _stalledUntil = new long[Executors.Length];
        _ready = new int[Executors.Length];
        if (_world.Own is not null)
        {
            Array.ForEach(Executors, executor => executor.Wake = () => _world.IsOnThread());
        }

        _rules.Recovered(_host);
        _world.Opened(this);
        _host.Open();
        SweepLater();
        RememberLater();
    }

    private void RememberLater()
    {
        if (_remembered is not null)
        {
            _world.After(_world.Chance.Between(5, 50) * TimeSpan.TicksPerMillisecond, Scope, () =>
            {
                Remember();
                RememberLater();
            });
        }
    }

    /// <summary>What a real worker does once a minute.</summary>
    private void SweepLater()
    {
        if (_world.Scenario.SweepMs > 0)
        {
            _world.After(_world.Scenario.SweepMs * TimeSpan.TicksPerMillisecond, Scope, () =>
            {
                _host!.Maintain();
                SweepLater();
            });
        }
    }

    private void OnFailed(Exception exception)
    {
        if (!Scope.IsDead)
        {
            _world.WorkerFailed(this, exception);
        }
    }
}
