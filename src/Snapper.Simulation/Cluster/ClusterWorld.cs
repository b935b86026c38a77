using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Workers;
using Snapper.Simulation.Workloads;
using Snapper.Testing.Histories;
using Snapper.TransactionLog.Cluster;
using Snapper.TransactionLog.Cluster.InMemory;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// One simulated run of several workers: clients, the real workers, the roads between them and to what they share, operators who move actors, and what goes wrong with
/// each of them, in one thread under one seed. The same scenario gives the same run, step by step.
/// </summary>
internal sealed partial class ClusterWorld : IClientWorld
{
    private static readonly long s_millisecond = TimeSpan.TicksPerMillisecond;

    // Clients have come to their ends by then, or something stands still until everything is healed.
    private static readonly long s_load = TimeSpan.FromSeconds(30).Ticks;

    private const int EnoughViolations = 20;

    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly EventQueue _events = new();
    private readonly SeededChance _routes;
    private readonly Tally<Transition> _transitions = new();
    private readonly Tally<ClusterTransition> _clusterTransitions = new();
    private readonly Tally<RarePoint> _rarePoints = new();
    private readonly List<string> _violations = [];
    private readonly HashSet<(int Worker, long Number)> _numbers = [];
    private readonly List<(PlannedTransaction Transaction, TransactionEnvelope Envelope)> _answered = [];
    private readonly HashSet<PlannedTransaction> _askedAgain = new(ReferenceEqualityComparer.Instance);
    private readonly List<string> _inDoubt = [];
    private readonly Digest _digest = new();
    private readonly int _partitionOffset;
    private int _clientsLeft;
    private int _committed;
    private int _aborted;
    private int _unknown;
    private long _steps;
    private long _healedAt = long.MaxValue;

    public ClusterWorld(ClusterScenario scenario, IClusterTrace? trace = null)
    {
        Cluster = scenario;
        Trace = trace;
        Chance = SeededChance.For(scenario.Seed, ChanceOf.Order);
        _routes = SeededChance.For(scenario.Seed, ChanceOf.Client, 1_000_000);
        _partitionOffset = SeededChance.For(scenario.Seed, ChanceOf.Cluster, 1).Next(Partition.Count);
        Rare = new RareChance(scenario.Load, _rarePoints);
        ServerTime = new VirtualTime(this, scope: null);
        Options = new ClusterOptions { Lease = TimeSpan.FromMilliseconds(scenario.LeaseMs) };
        Shared = new MemoryCluster(ServerTime, Options);
        SharedStore = new SharedStoreWeather(this);
        LogRules = new ClusterLogRules(Violated);
        MessageRules = new ClusterMessageRules(LogRules, Shared, Violated);
        Network = new Network(this);
        Operators = new Operators(this);
        Open = new OpenRequests(this, 2 * scenario.AnswerMs * s_millisecond); // a PACT that waits for a number asks the master to drop it, and is asked to say so again
        Workload = scenario.Load.Workload == WorkloadKind.Lists ? new ListsWorkload(scenario.Load) : new BankWorkload(scenario.Load);
        Actors = [.. Workload.Last().Select(static look => look.Request.Actor)];
    }

    /// <summary>What happens.</summary>
    public ClusterScenario Cluster { get; }

    public Scenario Scenario => Cluster.Load;

    /// <summary>Hears what every worker does; null: nobody listens.</summary>
    public IClusterTrace? Trace { get; }

    public SeededChance Chance { get; }

    /// <summary>Faults on the roads between clients and workers.</summary>
    public Tally<FaultKind> Faults { get; } = new();

    /// <summary>Everything else that went wrong, or was done.</summary>
    public Tally<ClusterFaultKind> Happened { get; } = new();

    /// <summary>Chance at the rare points of every worker's life.</summary>
    public RareChance Rare { get; }

    /// <summary>The clock of the shared store.</summary>
    public VirtualTime ServerTime { get; }

    public ClusterOptions Options { get; }

    /// <summary>What all workers share: logs, states, directory, leases, plans.</summary>
    public MemoryCluster Shared { get; }

    public SharedStoreWeather SharedStore { get; }

    /// <summary>Look at what becomes durable.</summary>
    public ClusterLogRules LogRules { get; }

    /// <summary>Look at what workers tell each other.</summary>
    public ClusterMessageRules MessageRules { get; }

    public Network Network { get; }

    public Operators Operators { get; }

    public OpenRequests Open { get; }

    public IWorkload Workload { get; }

    /// <summary>The actors that clients use.</summary>
    public IReadOnlyList<ActorKey> Actors { get; }

    public long Now { get; private set; }

    public long ClockOffset => Scenario.OffsetMs * s_millisecond;

    public long Pause => Cluster.ThinkMs * s_millisecond;

    public bool IsHealed => Now >= _healedAt;

    public bool IsFinal { get; private set; }

    // Rings of waits between PACTs and ACTs of several workers are ended by a bound of time alone (H6): there a request may time out.
    public bool IsCalm => Cluster.IsCalm && Scenario.PactPercent == 100;

    public bool LogWasLost => false;

    /// <summary>This life of a worker is not over.</summary>
    public bool Lives(Incarnation worker) => _processes.Exists(process => !process.Scope.IsDead && process.Self == worker);

    /// <summary>Partition of an actor: other actors are neighbours in each run.</summary>
    public Partition PartitionOf(ActorKey actor) => new((Partition.Of(actor).Number + _partitionOffset) % Partition.Count);

    /// <summary>Runs the scenario to its end.</summary>
    public ClusterRunResult Run()
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        Transitions.CountInto(_transitions.Counts, _clusterTransitions.Counts);
        try
        {
            RunToTheEnd();
        }
        finally
        {
            _processes.ForEach(process => process.Crash());
            Transitions.CountInto(null);
            SynchronizationContext.SetSynchronizationContext(context);
        }

        return new ClusterRunResult
        {
            Scenario = Cluster,
            Violations = _violations,
            Committed = _committed,
            Aborted = _aborted,
            Unknown = _unknown,
            Faults = Faults,
            Happened = Happened,
            Transitions = _transitions,
            ClusterTransitions = _clusterTransitions,
            RarePoints = _rarePoints,
            Steps = _steps,
            VirtualTime = TimeSpan.FromTicks(Now),
            Digest = _digest.Value,
        };
    }

    public void After(long ticks, ProcessScope? scope, Action action)
    {
        if (Environment.CurrentManagedThreadId != _thread)
        {
            Environment.FailFast("Something left the simulator's thread: " + new System.Diagnostics.StackTrace());
        }

        _events.Add(Now + ticks, scope, action);
    }

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

    public void Violated(string what) => _violations.Add(what);

    public void ToldInDoubt(string id) => _inDoubt.Add(id);

    public void ClientIsDone() => _clientsLeft--;

    public void Concluded(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked)
    {
        if ((transaction.Client >= Scenario.Clients && !IsFinal) || _askedAgain.Contains(transaction))
        {
            return; // a look at the living, the same look comes again at the end; or an id that had its answer
        }

        if (verdict == ObservedOutcome.Committed && envelope!.Result.IsEmpty)
        {
            Violated($"{transaction.Request.Actor}.{transaction.Request.Method} (id {transaction.Request.Id}) was answered {Answers.Describe(envelope)}, without a result.");
            return;
        }

        if (transaction.Request.Id is not null && envelope is not null && Answers.IsFinal(envelope))
        {
            _answered.Add((transaction, envelope));
        }

        Workload.Observe(transaction, verdict, envelope, invoked, Now);
        _ = verdict switch { ObservedOutcome.Committed => _committed++, ObservedOutcome.Aborted => _aborted++, _ => _unknown++ };
        _digest.Add((ulong)Now);
        _digest.Add(((ulong)transaction.Client << 32) + (ulong)transaction.Number);
        _digest.Add((ulong)verdict + 1);
        if (verdict == ObservedOutcome.Committed)
        {
            _digest.Add((ulong)envelope!.Transaction);
            _digest.Add(envelope.Result.Span);
        }
    }

    private void RunToTheEnd()
    {
        for (var number = 1; number <= Cluster.Workers; number++)
        {
            StartLater(number, Chance.Between(0, 20 * s_millisecond));
        }

        foreach (var fault in Cluster.Faults)
        {
            After(fault.AtMs * s_millisecond, null, () => Operators.Strike(fault));
        }

        _clientsLeft = Scenario.Clients;
        for (var client = 0; client < Scenario.Clients; client++)
        {
            new SimulatedClient(this, client).Start();
        }

        StepUntil(() => _clientsLeft == 0, s_load);
        Heal();
        if (!StepUntil(() => _clientsLeft == 0, s_load))
        {
            Violated($"{_clientsLeft} clients still wait {TimeSpan.FromTicks(s_load).TotalSeconds} s after the last fault; {Standing}");
            return;
        }

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

        var ready = 0;
        foreach (var process in _processes)
        {
            ready += process.CountReady();
        }

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

    private void RunReady(int choice)
    {
        foreach (var process in _processes)
        {
            var ready = process.Ready;
            if (choice < ready)
            {
                process.RunReady(choice);
                return; // which processes there are may have changed
            }

            choice -= ready;
        }
    }
}
