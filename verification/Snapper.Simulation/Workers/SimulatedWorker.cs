using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Storage;
using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Remembering;
using Snapper.Storage.States;

namespace Snapper.Simulation.Workers;

/// <summary>One life of the one worker, on its log and its disk.</summary>
internal sealed class SimulatedWorker : SimulatedProcess
{
    private readonly World _world;
    private readonly StorageLink _link;
    private readonly IncarnationRules _rules;
    private readonly DiskProcess _disk;
    private DataLossGuard? _remembered;

    public SimulatedWorker(World world, int life)
        : base(world, life)
    {
        _world = world;
        _link = new StorageLink(world, Scope);
        _rules = new IncarnationRules(world.StorageRules, world.Violated);
        _disk = new DiskProcess(world, Scope, kind => world.CrashedInACall(this, kind));
    }

    /// <summary>An earlier life was not over when it began.</summary>
    public bool HadCompany { get; init; }

    /// <summary>Requests are let in.</summary>
    public override bool IsOpen => Host is not null && !Scope.IsDead;

    public bool IsRecovering => Host is null && !Scope.IsDead;

    /// <summary>It takes requests, and none is under way.</summary>
    public bool IsAtRest => !Scope.IsPaused && !Scope.IsDead && Host is { RequestManager: { InFlight: 0, Ids.Running: 0, Deadlines: 0 }, Worker: { Unavailability: null, Acts.Count: 0, Commits.ActsInOrder: 0 } };

    /// <summary>It is at rest: what its rules say of that.</summary>
    public void LookAtRest() => _rules.AtRest();

    /// <summary>Why it is not at rest, in words.</summary>
    public override string Standing => Host is { Worker: var worker, RequestManager: var requests }
        ? $"life {Life} is {worker.Unavailability ?? "available"}, {requests.InFlight} requests are in flight, {worker.Acts.Count} ACTs are open, {worker.Commits.ActsInOrder} in the commit order, {requests.Deadlines} deadlines are looked at, {requests.Ids.Running} ids are running"
        : $"life {Life} is not open";

    /// <summary>Requests that it has begun and, now that it has failed or was stopped, will not answer any more.</summary>
    public int LeftUnanswered => Host is { Worker: { IsOver: true, RequestManager.InFlight: var left } } ? left : 0;

    /// <summary>Ends it as <c>kill -9</c> would.</summary>
    public override void Crash()
    {
        base.Crash();
        _disk.End();
        Host = null;
    }

    /// <summary>Writes down how far its log went, as a real one does each few seconds, after a failure and at its end.</summary>
    public void Remember()
    {
        if (_remembered is { } remembered)
        {
            // As every call to the disk: it may stand still in its middle, with the gate of the memory in its hands.
            _disk.Run(remembered, () => WriteDown(remembered), CancellationToken.None);
        }
    }

    private static bool WriteDown(DataLossGuard remembered)
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
            store = new WatchedStateStore(new FileStateStore(files, Time, new StateStoreOptions()), _world.FilesView, _world.StorageRules);
        }
        else
        {
            log = new SimulatedLog(_link, _world.Storage, _world.LogRules, _world.StorageRules);
            store = new SimulatedStateStore(_link, _world.Storage, Time, _world.StorageRules);
        }

        if (scenario.Remembers == 0)
        {
            return (log, store);
        }

        var memory = new LogIdentityFile(SimulatedMachine.MemoryFile, "simulated", _disk);
        _remembered = new DataLossGuard(log, memory, "simulated log", static () => TimeSpan.Zero, Time);
        return (_remembered, store);
    }

    protected override WorkerSetup Setup()
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
                MaxKeptResultBytes = 1 << 20, // what the clients saw is judged by what they are told later
                MaxActorBytes = scenario.Room > 0 ? scenario.Room : long.MaxValue,
                CallerTimeShare = 0.25,
                LoadsAhead = scenario.Room > 0 ? scenario.Room % 3 : 64,
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
            Checkpointing = Checkpointing,
            Writing = Writing,
            Time = Time,
            NumbersOfALife = scenario.Numbers > 0 ? scenario.Numbers : WorkerSetup.UsualNumbersOfALife,
            SchedulingPolicy = new(_world.Rare),
            Failed = OnFailed,
            Trace = _rules,
        };
    }

    /// <summary>Room for what a look at one actor shows, not for all of what a long transaction has read.</summary>
    private static int ResultBytes(Scenario scenario) => (2 * scenario.StateBytes) + 100;

    protected override void RecoveryFailed(Exception exception) => _world.RecoveryFailed(this, exception);

    protected override void Recovered(WorkerHost host)
    {
        if (_world.Own is not null)
        {
            Array.ForEach(Executors, executor => executor.Wake = () => _world.IsOnThread());
        }

        _rules.Recovered(host);
        _world.Opened(this);
        host.Open();
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

    private void OnFailed(Exception exception)
    {
        if (!Scope.IsDead)
        {
            _world.WorkerFailed(this, exception);
        }
    }
}
