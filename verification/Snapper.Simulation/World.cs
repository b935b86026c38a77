using Snapper.Actors.Generated;
using Snapper.Apps.SmallBank;
using Snapper.Runtime.Door;
using Snapper.Simulation.Faults;
using Snapper.Simulation.OwnActors;
using Snapper.Simulation.Rules;
using Snapper.Simulation.Running;
using Snapper.Simulation.Storage;
using Snapper.Simulation.Workers;

namespace Snapper.Simulation;

/// <summary>
/// One simulated run: clients, the road between them and the worker, the real worker, the log server, and what goes wrong with each of them, in one thread
/// under one seed. The same scenario gives the same run, step by step.
/// </summary>
internal sealed partial class World : SimulatedWorld<SimulatedWorker>
{
    // Once nothing goes wrong any more, everything must end soon: requests by their timeouts, workers by recovering.
    private static readonly long Deadline = TimeSpan.FromSeconds(120).Ticks;

    private readonly HashSet<long> _numbers = [];
    private SimulatedWorker? _owner;
    private int _lives;
    private int _livesAtLoss;
    private int _livesAtRestoring;
    private int _livesAtDamage;
    private int _livesAtRepair;
    private bool _hasLeftThread;

    /// <param name="scenario">What happens.</param>
    /// <param name="own">Somebody's own actors and workload; null: those of the scenario.</param>
    public World(Scenario scenario, ActorWorkload? own = null)
        : base(scenario, own is null ? null : new OwnWorkload(scenario, own))
    {
        Own = own;
        Storage = new SimulatedStorage(this);
        Machine = new SimulatedMachine(this);
        Folder = new FolderDamage(this);
        FilesView = new FilesView(Folder);
        StorageRules = new StorageRules(scenario.Files != 0 ? FilesView : new StorageView(Storage), Violated, scenario.Numbers);
        LogRules = new LogRules(StorageRules, Violated);
    }

    /// <summary>The actor types of our workloads.</summary>
    public static IReadOnlyList<ActorTypeDescriptor> OwnTypes { get; } = [.. SnapperSimulationActors.All, .. SnapperAppsSmallBankActors.All];

    /// <summary>Somebody's own actors and workload; null: ours.</summary>
    public ActorWorkload? Own { get; }

    /// <summary>What the workers host.</summary>
    public IReadOnlyList<ActorTypeDescriptor> ActorTypes => Own?.ActorTypes ?? OwnTypes;

    /// <summary>Nothing goes wrong, and all code is known not to wait.</summary>
    public override bool IsCalm => Own is null && Scenario.IsCalm;

    public SimulatedStorage Storage { get; }

    /// <summary>What the workers run on.</summary>
    public SimulatedMachine Machine { get; }

    /// <summary>What happens to the folder of the file log from outside.</summary>
    public FolderDamage Folder { get; }

    /// <summary>Watches everything that is appended.</summary>
    public LogRules LogRules { get; }

    /// <summary>Watches what is stored, and what each life makes of it.</summary>
    public StorageRules StorageRules { get; }

    /// <summary>What owners of files were told is done.</summary>
    public FilesView FilesView { get; }

    /// <summary>Runs the scenario to its end.</summary>
    public SimulationResult Run()
    {
        RunAlone();
        if (Volatile.Read(ref _hasLeftThread))
        {
            Violations.Insert(0, LeftThread);
        }

        return new SimulationResult
        {
            Scenario = Scenario,
            Violations = Violations,
            Committed = Committed,
            Aborted = Aborted,
            Unknown = Unknown,
            Faults = Faults,
            Transitions = TransitionsTaken,
            SchedulingChoices = SchedulingChoices,
            Steps = Steps,
            VirtualTime = TimeSpan.FromTicks(Now),
            Digest = Digest.Value,
        };
    }

    /// <summary>Where a request arrives.</summary>
    public override IRequestTarget? Route(bool misrouted)
    {
        if (misrouted)
        {
            foreach (var worker in Processes)
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

    /// <summary>Theirs to mend; the run is worth nothing, and says so.</summary>
    protected override void OnThreadLeft()
    {
        if (Own is null)
        {
            base.OnThreadLeft();
        }

        Volatile.Write(ref _hasLeftThread, true);
    }

    protected override void OnCommitted(TransactionEnvelope committed)
    {
        if (!_numbers.Add(committed.Transaction) && Scenario.Numbers == 0)
        {
            Violated($"Two transactions were committed under the number {committed.Transaction}."); // R1
        }
    }

    protected override void RunToTheEnd()
    {
        StartWorker();
        foreach (var fault in Scenario.PlannedFaults)
        {
            After(fault.AtMs * Millisecond, null, () => new FaultInjector(this, fault).Strike());
        }

        StartClients();
        if (!StepUntil(() => ClientsLeft == 0, Soon))
        {
            HealedAt = Now;
            if (!StepUntil(() => ClientsLeft == 0, Deadline))
            {
                Violated($"{ClientsLeft} clients still wait {TimeSpan.FromTicks(Deadline).TotalSeconds} s after the last fault.");
                return;
            }
        }

        if (Now < Storage.DownUntil)
        {
            StepUntil(() => Now >= Storage.DownUntil, Soon); // those who wait must hear something while it lasts
        }

        HealedAt = Math.Min(HealedAt, Now);
        Rare.End();
        LookAtTheLiving();
        LookAtTheEnd();
        Judge();
    }
}
