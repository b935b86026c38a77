using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Marks;
using Snapper.Simulation.OwnActors;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Workers;
using Snapper.Simulation.Workloads;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// One simulated run of several workers: clients, the real workers, the roads between them and to what they share, operators who move actors, and what goes wrong with
/// each of them, in one thread under one seed. The same scenario gives the same run, step by step.
/// </summary>
internal sealed partial class ClusterWorld : SimulatedWorld<ClusterProcess>
{
    /// <summary>What is asked for so shortly before the end of its window may hear anything.</summary>
    private const long Spare = 10 * TimeSpan.TicksPerSecond;

    private readonly SeededChance _routes;
    private readonly Tally<ClusterTransition> _clusterTransitions = new();
    private readonly int _partitionOffset;
    private readonly List<long> _moments = []; // at which faults begin and end
    private readonly Dictionary<string, ActorKey> _roots = new(StringComparer.Ordinal);

    /// <param name="scenario">What happens.</param>
    /// <param name="trace">Takes what every worker does; null: nothing does.</param>
    /// <param name="own">The actors and workload of an application; null: those of the scenario.</param>
    public ClusterWorld(ClusterScenario scenario, IClusterTrace? trace = null, ActorWorkload? own = null)
        : base(
            scenario.Load, own is null ? null : new OwnWorkload(scenario.Load, own),
            // A PACT that waits for a number asks the master to drop it, and is asked to say so again.
            roads: 2 * scenario.AnswerMs * Millisecond)
    {
        Cluster = scenario;
        Trace = trace;
        Own = own;
        _programs = own?.ActorTypesBefore is null
            ? null : new ProgramRules(Violated, number => _isOpenedByUpdated[number]);
        _routes = SeededChance.For(scenario.Seed, ChanceOf.Client, 1_000_000);
        _partitionOffset = SeededChance.For(scenario.Seed, ChanceOf.Cluster, 1).Next(Partition.Count);
        Times = new SimulatedTimes(scenario);
        Shared = new MemoryCluster(new VirtualTime(this, scope: null, StoreClock), Times.Cluster);
        SharedStore = new StoreFaults(this);
        LogRules = new ClusterLogRules(
            Violated, () => Now, scenario.WindowMs * Millisecond,
            actor => Shared.Owner(DirectoryKey.Of(actor, PartitionOf(actor))).Worker, () => PlacesGoodSince > 0,
            _programs is { } programs ? programs.Changed : null);
        MessageRules = new ClusterMessageRules(LogRules, Shared, Violated);
        Network = new Network(this);
        Operators = new Operators(this);
        Actors = [.. Workload.Last().Select(static look => look.Request.Actor)];
        foreach (var fault in scenario.Faults)
        {
            _moments.Add(fault.AtMs * Millisecond);
            _moments.Add((fault.AtMs + (fault.ForMs >= PlannedClusterFault.ForGood ? 0L : fault.ForMs)) * Millisecond);
        }

        _moments.Sort();
    }

    /// <summary>What happens.</summary>
    public ClusterScenario Cluster { get; }

    /// <summary>Hears what every worker does; null: nobody listens.</summary>
    public IClusterTrace? Trace { get; }

    /// <summary>Everything else that went wrong, or was done.</summary>
    public Tally<ClusterFaultKind> Happened { get; } = new();

    /// <summary>The clock of the shared store.</summary>
    public WallClock StoreClock { get; } = new();

    /// <summary>What workers are given.</summary>
    public SimulatedTimes Times { get; }

    /// <summary>What all workers share: logs, states, directory, leases, plans.</summary>
    public MemoryCluster Shared { get; }

    public StoreFaults SharedStore { get; }

    /// <summary>Look at what becomes durable.</summary>
    public ClusterLogRules LogRules { get; }

    /// <summary>Look at what workers tell each other.</summary>
    public ClusterMessageRules MessageRules { get; }

    /// <summary>Since when no place of a state is damaged (virtual ticks); before the first one is: 0.</summary>
    public long PlacesGoodSince { get; private set; }

    public Network Network { get; }

    public Operators Operators { get; }

    /// <summary>The actors that clients use.</summary>
    public IReadOnlyList<ActorKey> Actors { get; }

    /// <summary>Where faults begin and end clients have something under way, however far apart that is.</summary>
    public override long DrawPause(SeededChance chance)
    {
        if (Cluster.Paced != 0 && chance.Percent(25))
        {
            foreach (var moment in _moments)
            {
                if (moment > Now)
                {
                    return Math.Max(0, moment - Now + chance.Between(-200 * Millisecond, 500 * Millisecond));
                }
            }
        }

        return chance.Between(0, Cluster.ThinkMs * Millisecond);
    }

    public override long DrawLongPause(SeededChance chance) => Cluster.Paced == 0 || IsHealed || !chance.Percent(30)
        ? 0
        : chance.Percent(50) ? chance.Between(Millisecond, Cluster.WindowMs * Millisecond / 2) : chance.Between(Millisecond, Cluster.WindowMs * Millisecond * 2);

    public override bool IsKept(string id) => LogRules.IsKept(id, Spare);

    public override bool HasCommitted(string id) => !LogWasLost && LogRules.HasCommitted(id);

    // Rings of waits between PACTs and ACTs of several workers are ended by a bound of time alone (H6): there a request may time out.
    public override bool IsCalm => Own is null && Cluster.IsCalm && Scenario.PactPercent == 100;

    /// <summary>This life of a worker is not over.</summary>
    public bool Lives(Incarnation worker) => Processes.Exists(process => !process.Scope.IsDead && process.Self == worker);

    /// <summary>Partition of an actor: other actors are neighbours in each run.</summary>
    public Partition PartitionOf(ActorKey actor) => new((Partition.Of(actor).Number + _partitionOffset) % Partition.Count);

    /// <summary>The root of a request with an id of its own that was sent; null: nobody sent one.</summary>
    public ActorKey? RootOf(string id) => _roots.GetValueOrDefault(id);

    public override void Sent(TransactionRequest request)
    {
        if (request.Id is { } id)
        {
            _roots[id] = request.Actor;
        }
    }

    /// <summary>Something else lies where the state of an actor was, until then or until all is healed.</summary>
    public void DamagePlaceUntil(ActorKey actor, long until)
    {
        var places = Shared.Log(1).DamagedPlaces; // all share them
        if (!places.Add(actor))
        {
            return;
        }

        PlacesGoodSince = Math.Max(PlacesGoodSince, until);
        After(until - Now, null, () => places.Remove(actor));
    }

    /// <summary>Runs the scenario to its end.</summary>
    public ClusterRunResult Run()
    {
        RunAlone(_clusterTransitions);
        if (_hasLeftThread)
        {
            Violations.Insert(0, LeftThread);
        }

        return new ClusterRunResult
        {
            Scenario = Cluster,
            Violations = Violations,
            Committed = Committed,
            Aborted = Aborted,
            Unknown = Unknown,
            Faults = Faults,
            Happened = Happened,
            Transitions = TransitionsTaken,
            ClusterTransitions = _clusterTransitions,
            SchedulingChoices = SchedulingChoices,
            Steps = Steps,
            VirtualTime = TimeSpan.FromTicks(Now),
            Digest = Digest.Value,
        };
    }

    protected override bool IsWhole(PlannedTransaction transaction, TransactionEnvelope committed)
    {
        if (Own is not null)
        {
            return true; // methods of an application need not have a result
        }

        if (committed.Result.IsEmpty)
        {
            Violated($"{transaction.Request.Actor}.{transaction.Request.Method} (id {transaction.Request.Id}) was answered {Answers.Describe(committed)}, without a result.");
        }

        return !committed.Result.IsEmpty;
    }

    protected override void OnCommitted(TransactionEnvelope committed) => Digest.Add((ulong)committed.Transaction);

    protected override void RunToTheEnd()
    {
        Begin();

        foreach (var fault in Cluster.Faults)
        {
            After(fault.AtMs * Millisecond, null, () => Operators.Strike(fault));
        }

        if (Cluster.MasterForgottenMs > 0)
        {
            After(Cluster.MasterForgottenMs * Millisecond, null, ForgetMaster);
        }

        if (Cluster.FailOverMs > 0)
        {
            After(Cluster.FailOverMs * Millisecond, null, FailOver);
        }

        StartClients();
        var pauses = Cluster.Paced * 2L * Cluster.WindowMs * Millisecond; // of a client
        var last = _moments.Count == 0 ? 0 : _moments[^1];
        StepUntil(() => ClientsLeft == 0 && !IsAlone, (Soon * (1 + (Scenario.Transactions / 100))) + (Cluster.Paced * last) + (6 * pauses)); // or something stands still until everything is healed
        Heal();
        if (!StepUntil(() => ClientsLeft == 0 && !IsAlone, Soon + pauses))
        {
            Violated($"{ClientsLeft} clients still wait {TimeSpan.FromTicks(Soon + pauses).TotalSeconds} s after the last fault; {Standing}");
            return;
        }

        LookAtTheLiving();
        LookAtTheEnd();
        if (LogWasLost)
        {
            JudgeTheRest();
        }
        else
        {
            Judge();
        }
    }
}
