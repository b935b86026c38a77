using Snapper.Actors.Generated;
using Snapper.Apps.SmallBank;
using Snapper.Protocol;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.OwnActors;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Storage;
using Snapper.Simulation.Workers;
using Snapper.Simulation.Workloads;
using Snapper.Testing.Histories;

namespace Snapper.Simulation;

/// <summary>
/// One simulated run: clients, the road between them and the worker, the real worker, the log server, and what goes wrong with each of them, in one thread
/// under one seed. The same scenario gives the same run, step by step.
/// </summary>
internal sealed partial class World : IClientWorld
{
    private static readonly long Millisecond = TimeSpan.TicksPerMillisecond;

    // Once nothing goes wrong any more, everything must end soon: requests by their timeouts, workers by recovering.
    private static readonly long Deadline = TimeSpan.FromSeconds(120).Ticks;

    // A worker that cannot open its log tries again and again.
    private const int EnoughViolations = 20;

    private const string LeftThread =
        "Code of an actor or a service went on in another thread (Task.Delay, Task.Run, ConfigureAwait(false), I/O?): there a run cannot be repeated. Context.Delay waits in virtual time.";

    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly EventQueue _events = new();
    private readonly List<SimulatedWorker> _workers = [];
    private readonly List<string> _violations = [];
    private readonly HashSet<long> _numbers = [];
    private readonly List<(PlannedTransaction Transaction, TransactionEnvelope Envelope)> _answered = [];
    private readonly List<string> _inDoubt = [];
    private readonly HashSet<PlannedTransaction> _askedAgain = new(ReferenceEqualityComparer.Instance);
    private readonly Digest _digest = new();
    private SimulatedWorker? _owner;
    private int _lives;
    private int _livesAtLoss;
    private int _livesAtRestoring;
    private int _livesAtDamage;
    private int _livesAtRepair;
    private int _clientsLeft;
    private bool _hasLeftThread;
    private int _looksLeft;
    private int _committed;
    private int _aborted;
    private int _unknown;
    private long _steps;
    private long _healedAt = long.MaxValue;
    private readonly Tally<Transition> _transitions = new();
    private readonly Tally<RarePoint> _rarePoints = new();

    /// <param name="scenario">What happens.</param>
    /// <param name="own">Somebody's own actors and workload; null: those of the scenario.</param>
    public World(Scenario scenario, ActorWorkload? own = null)
    {
        Scenario = scenario;
        Own = own;
        Chance = SeededChance.For(scenario.Seed, ChanceOf.Order);
        Rare = new RareChance(scenario, _rarePoints);
        Storage = new SimulatedStorage(this);
        Machine = new SimulatedMachine(this);
        Folder = new FolderDamage(this);
        FilesView = new FilesView(Folder);
        Open = new OpenRequests(this);
        StorageRules = new StorageRules(scenario.Files != 0 ? FilesView : new StorageView(Storage), Violated, scenario.Numbers);
        LogRules = new LogRules(StorageRules, Violated);
        Workload = own is not null ? new OwnWorkload(scenario, own) : scenario.Workload == WorkloadKind.Lists ? new ListsWorkload(scenario) : new BankWorkload(scenario);
    }

    /// <summary>The actor types of our workloads.</summary>
    public static IReadOnlyList<ActorTypeDescriptor> OwnTypes { get; } = [.. SnapperSimulationActors.All, .. SnapperAppsSmallBankActors.All];

    public Scenario Scenario { get; }

    /// <summary>Somebody's own actors and workload; null: ours.</summary>
    public ActorWorkload? Own { get; }

    /// <summary>What the workers host.</summary>
    public IReadOnlyList<ActorTypeDescriptor> ActorTypes => Own?.ActorTypes ?? OwnTypes;

    /// <summary>Nothing goes wrong, and all code is known not to wait.</summary>
    public bool IsCalm => Own is null && Scenario.IsCalm;

    /// <summary>Decides the order of what happens at once.</summary>
    public SeededChance Chance { get; }

    public Tally<FaultKind> Faults { get; } = new();

    /// <summary>Chance at the rare points of every worker's life.</summary>
    public RareChance Rare { get; }

    public SimulatedStorage Storage { get; }

    /// <summary>What the workers run on.</summary>
    public SimulatedMachine Machine { get; }

    /// <summary>What happens to the folder of the file log from outside.</summary>
    public FolderDamage Folder { get; }

    /// <summary>Watches everything that is appended.</summary>
    public LogRules LogRules { get; }

    /// <summary>Watches what is stored, and what each life makes of it.</summary>
    public StorageRules StorageRules { get; }

    public IWorkload Workload { get; }

    /// <summary>What owners of files were told is done.</summary>
    public FilesView FilesView { get; }

    /// <summary>Requests that wait for their answers.</summary>
    public OpenRequests Open { get; }

    /// <summary>Virtual time in ticks of 100 ns.</summary>
    public long Now { get; private set; }

    public long ClockOffset => Scenario.OffsetMs * Millisecond;

    public long Pause => Millisecond;

    /// <summary>Nothing goes wrong any more.</summary>
    public bool IsHealed => Now >= _healedAt;

    /// <summary>All clients are done; the end is being looked at.</summary>
    public bool IsFinal { get; private set; }

    /// <summary>Runs the scenario to its end.</summary>
    public SimulationResult Run()
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        Transitions.CountInto(_transitions.Counts);
        try
        {
            RunToTheEnd();
        }
        finally
        {
            _workers.ForEach(worker => worker.Crash());
            Transitions.CountInto(null);
            SynchronizationContext.SetSynchronizationContext(context);
        }

        if (Volatile.Read(ref _hasLeftThread))
        {
            _violations.Insert(0, LeftThread);
        }

        return new SimulationResult
        {
            Scenario = Scenario,
            Violations = _violations,
            Committed = _committed,
            Aborted = _aborted,
            Unknown = _unknown,
            Faults = Faults,
            Transitions = _transitions,
            RarePoints = _rarePoints,
            Steps = _steps,
            VirtualTime = TimeSpan.FromTicks(Now),
            Digest = _digest.Value,
        };
    }

    /// <summary>Does something later, in a process or (null) between them.</summary>
    public void After(long ticks, ProcessScope? scope, Action action)
    {
        if (!IsOnThread())
        {
            throw new InvalidOperationException(LeftThread);
        }

        _events.Add(Now + ticks, scope, action);
    }

    /// <summary>Without this a hop to the pool would show as runs that cannot be repeated, which is hard to find.</summary>
    /// <returns>False: what calls has left it, which is their own code's doing.</returns>
    public bool IsOnThread()
    {
        if (Environment.CurrentManagedThreadId == _thread)
        {
            return true;
        }

        if (Own is null)
        {
            Environment.FailFast("Something left the simulator's thread: " + new System.Diagnostics.StackTrace());
        }

        // Theirs to mend; the run is worth nothing, and says so.
        Volatile.Write(ref _hasLeftThread, true);
        return false;
    }

    /// <summary>Does something in a process now, or when it goes on.</summary>
    public void Within(ProcessScope scope, Action action)
    {
        if (scope.IsPaused)
        {
            scope.Missed.Enqueue(action);
        }
        else if (!scope.IsDead)
        {
            action();
        }
    }

    /// <summary>Where a request arrives.</summary>
    public IRequestTarget? Route(bool misrouted)
    {
        if (misrouted)
        {
            foreach (var worker in _workers)
            {
                if (worker != _owner && worker.IsOpen)
                {
                    Faults.Note(FaultKind.RequestMisrouted);
                    return worker;
                }
            }
        }

        return _owner;
    }

    public void Violated(string what) => _violations.Add(what);

    /// <summary>A worker has answered a request with a generated id so: whoever asks by the id must hear what became of it.</summary>
    public void ToldInDoubt(string id) => _inDoubt.Add(id);

    public void ClientIsDone() => _clientsLeft--;

    public void Concluded(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked)
    {
        if ((transaction.Client >= Scenario.Clients && !IsFinal) || _askedAgain.Contains(transaction))
        {
            return; // a look at the living, the same look comes again at the end; or an id that had its answer
        }

        if (transaction.Request.Id is not null && envelope is not null && Answers.IsFinal(envelope))
        {
            _answered.Add((transaction, envelope));
        }

        Workload.Observe(transaction, verdict, envelope, invoked, Now);
        if (verdict == ObservedOutcome.Committed && !_numbers.Add(envelope!.Transaction) && Scenario.Numbers == 0)
        {
            Violated($"Two transactions were committed under the number {envelope.Transaction}."); // R1
        }

        _ = verdict switch { ObservedOutcome.Committed => _committed++, ObservedOutcome.Aborted => _aborted++, _ => _unknown++ };
        _digest.Add((ulong)Now);
        _digest.Add(((ulong)transaction.Client << 32) + (ulong)transaction.Number);
        _digest.Add((ulong)verdict + 1);
        if (verdict == ObservedOutcome.Committed)
        {
            _digest.Add(envelope!.Result.Span);
        }
    }

    private void RunToTheEnd()
    {
        StartWorker();
        foreach (var fault in Scenario.PlannedFaults)
        {
            After(fault.AtMs * Millisecond, null, () => new FaultStriker(this, fault).Strike());
        }

        _clientsLeft = Scenario.Clients;
        for (var client = 0; client < Scenario.Clients; client++)
        {
            new SimulatedClient(this, client).Start();
        }

        if (!StepUntil(() => _clientsLeft == 0, TimeSpan.FromSeconds(30).Ticks))
        {
            _healedAt = Now;
            if (!StepUntil(() => _clientsLeft == 0, Deadline))
            {
                Violated($"{_clientsLeft} clients still wait {TimeSpan.FromTicks(Deadline).TotalSeconds} s after the last fault.");
                return;
            }
        }

        if (Now < Storage.DownUntil)
        {
            StepUntil(() => Now >= Storage.DownUntil, s_soon); // those who wait must hear something while it lasts
        }

        _healedAt = Math.Min(_healedAt, Now);
        Rare.End();
        LookAtTheLiving();
        LookAtTheEnd();
        if (_violations.Count == 0 || !IsFinal)
        {
            _violations.AddRange(Workload.Judge());
        }
    }

    private bool StepUntil(Func<bool> done, long within)
    {
        var until = Now + within;
        while (!done())
        {
            if (Now > until || _violations.Count > EnoughViolations || !Step())
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>One step: an item of an executor that has one, or what is due. Which one of several is the seed's choice.</summary>
    private bool Step()
    {
        _steps++;
        if (Now >= Open.NextLook)
        {
            Open.Look();
        }

        var ready = CountReady();
        var due = _events.TryPeek(out var next) && next <= Now;
        if (ready == 0 && !due)
        {
            if (_events.Count == 0)
            {
                return false;
            }

            Now = next;
        }

        var choice = ready == 0 ? 0 : Chance.Next(ready + (due ? 1 : 0));
        if (choice == ready)
        {
            _events.RunNext();
            return true;
        }

        RunReady(choice);
        Now += Chance.Next(Scenario.CpuTicksMax);
        return true;
    }

    private int CountReady()
    {
        var ready = 0;
        foreach (var worker in _workers)
        {
            ready += worker.CountReady();
        }

        return ready;
    }

    /// <summary>Runs one of the executors that are ready, in the order of workers and executors.</summary>
    private void RunReady(int choice)
    {
        foreach (var worker in _workers)
        {
            var ready = worker.Ready;
            if (choice < ready)
            {
                worker.RunReady(choice);
                return; // which workers there are may have changed
            }

            choice -= ready;
        }
    }
}
