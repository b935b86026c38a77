using Snapper.Protocol;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;
using Snapper.Simulation.Workers;
using Snapper.Simulation.Workloads;
using Snapper.Judging.Histories;

namespace Snapper.Simulation;

/// <summary>
/// What all simulated runs have in common: one thread, one seed, one virtual time, step by step; clients, and what they conclude. The same scenario gives the same run.
/// </summary>
/// <typeparam name="TProcess">The lives of its workers.</typeparam>
internal abstract class SimulatedWorld<TProcess> : IClientWorld
    where TProcess : SimulatedProcess
{
    protected const long Millisecond = TimeSpan.TicksPerMillisecond;

    /// <summary>Requests end by their timeouts by then; leases and the bounds of migrations are far below.</summary>
    protected const long Soon = 30 * TimeSpan.TicksPerSecond;

    protected const string LeftThread =
        "Code of an actor or a service went on in another thread (Task.Delay, Task.Run, ConfigureAwait(false), I/O?): there a run cannot be repeated. Context.Delay waits in virtual time.";

    /// <summary>How many ids that had their answers are asked for again.</summary>
    protected const int IdsAskedAgain = 5;

    private const int MaxIdsInDoubt = 10;

    // A worker that cannot open its log tries again and again.
    private const int EnoughViolations = 20;

    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly EventQueue _events = new();
    private readonly List<string> _inDoubt = [];

    /// <param name="scenario">What happens.</param>
    /// <param name="workload">What clients ask for; null: what the scenario says.</param>
    /// <param name="roads">What messages between workers that are lost may add to a request's timeout, in ticks.</param>
    protected SimulatedWorld(Scenario scenario, IWorkload? workload = null, long roads = 0)
    {
        Scenario = scenario;
        Chance = SeededChance.For(scenario.Seed, ChanceOf.Order);
        Rare = new RareChance(scenario, SchedulingChoices);
        Open = new OpenRequests(this, roads);
        Workload = workload ?? (scenario.Workload == WorkloadKind.Lists ? new ListsWorkload(scenario) : new BankWorkload(scenario));
    }

    public Scenario Scenario { get; }

    public SeededChance Chance { get; }

    public RareChance Rare { get; }

    public OpenRequests Open { get; }

    public IWorkload Workload { get; }

    public Tally<FaultKind> Faults { get; } = new();

    public long Now { get; private set; }

    public long ClockOffset => Scenario.OffsetMs * Millisecond;

    public bool IsHealed => Now >= HealedAt;

    public bool IsFinal { get; protected set; }

    public virtual long DrawPause(SeededChance chance) => chance.Between(0, Millisecond);

    public virtual long DrawLongPause(SeededChance chance) => 0;

    public virtual bool IsKept(string id) => true;

    public virtual bool HasCommitted(string id) => false;

    public abstract bool IsCalm { get; }

    public abstract bool LogWasLost { get; }

    /// <inheritdoc/>
    public virtual bool AnswersWereLost => false;

    /// <summary>Lives that are not over, those that were replaced included; in the order of their beginnings.</summary>
    public List<TProcess> Processes { get; } = [];

    protected List<string> Violations { get; } = [];

    protected Tally<Transition> TransitionsTaken { get; } = new();

    protected Tally<SchedulingChoice> SchedulingChoices { get; } = new();

    protected Digest Digest { get; } = new();

    protected int Committed { get; private set; }

    protected int Aborted { get; private set; }

    protected int Unknown { get; private set; }

    protected long Steps { get; private set; }

    /// <summary>Since when nothing goes wrong any more.</summary>
    protected long HealedAt { get; set; } = long.MaxValue;

    /// <summary>Clients that have something to send yet, or wait.</summary>
    protected int ClientsLeft { get; private set; }

    /// <summary>Answers to looks at the end that are missing.</summary>
    protected int LooksLeft { get; set; }

    /// <summary>Transactions with ids that have final answers, and these.</summary>
    protected List<(PlannedTransaction Transaction, TransactionEnvelope Envelope)> Answered { get; } = [];

    /// <summary>... that were sent once more.</summary>
    protected HashSet<PlannedTransaction> AskedAgain { get; } = new(ReferenceEqualityComparer.Instance);

    /// <summary>The generated ids that were told to be in doubt last.</summary>
    protected IReadOnlyList<string> InDoubt => [.. _inDoubt.TakeLast(MaxIdsInDoubt)];

    public abstract IRequestTarget? Route(bool misrouted);

    public virtual void Sent(TransactionRequest request)
    {
        // Whoever wants to know of it says so.
    }

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

        OnThreadLeft();
        return false;
    }

    public void Violated(string what) => Violations.Add(what);

    public void ToldInDoubt(string id) => _inDoubt.Add(id);

    public void ClientIsDone() => ClientsLeft--;

    public void Concluded(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked)
    {
        if ((transaction.Client >= Scenario.Clients && !IsFinal) || AskedAgain.Contains(transaction))
        {
            return; // a look at the living, the same look comes again at the end; or an id that had its answer
        }

        if (verdict == ObservedOutcome.Committed && !IsWhole(transaction, envelope!))
        {
            return;
        }

        if (transaction.Request.Id is not null && envelope is not null && Answers.IsFinal(envelope))
        {
            Answered.Add((transaction, envelope));
        }

        Workload.Observe(transaction, verdict, envelope, invoked, Now);
        _ = verdict switch { ObservedOutcome.Committed => Committed++, ObservedOutcome.Aborted => Aborted++, _ => Unknown++ };
        Digest.Add((ulong)Now);
        Digest.Add(((ulong)transaction.Client << 32) + (ulong)transaction.Number);
        Digest.Add((ulong)verdict + 1);
        if (verdict == ObservedOutcome.Committed)
        {
            OnCommitted(envelope!);
            Digest.Add(envelope!.Result.Span);
        }
    }

    /// <summary>Everything that happens.</summary>
    protected abstract void RunToTheEnd();

    /// <summary>Something went on in another thread: ours never does.</summary>
    protected virtual void OnThreadLeft() => Environment.FailFast("Something left the simulator's thread: " + new System.Diagnostics.StackTrace());

    /// <summary>A commit was answered as it should be; says so if not.</summary>
    protected virtual bool IsWhole(PlannedTransaction transaction, TransactionEnvelope committed) => true;

    /// <summary>A client has heard of a commit.</summary>
    protected abstract void OnCommitted(TransactionEnvelope committed);

    /// <summary>Runs everything, alone in its thread.</summary>
    /// <param name="ofSeveral">Counts transitions of several workers.</param>
    protected void RunAlone(Tally<ClusterTransition>? ofSeveral = null)
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        Transitions.CountInto(TransitionsTaken.Counts, ofSeveral?.Counts);
        try
        {
            RunToTheEnd();
        }
        finally
        {
            Processes.ForEach(static process => process.Crash());
            Transitions.CountInto(null);
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }

    protected void StartClients()
    {
        ClientsLeft = Scenario.Clients;
        for (var client = 0; client < Scenario.Clients; client++)
        {
            new SimulatedClient(this, client).Start();
        }
    }

    /// <summary>Judges what clients saw, unless the run broke off for what is wrong already.</summary>
    protected void Judge()
    {
        if (Violations.Count == 0 || !IsFinal)
        {
            Violations.AddRange(Workload.Judge());
        }
    }

    /// <summary>What became of an id that had its answer, asked without a road between (I2).</summary>
    protected void AskById(IRequestTarget worker, string id, TransactionEnvelope envelope, string where)
    {
        LooksLeft++;
        worker.Find(id, found =>
        {
            LooksLeft--;
            if (found is null || !Answers.Agree(found, envelope))
            {
                Violated($"I2: request {id} was answered {Answers.Describe(envelope)}; asked for by id{where} it is {Answers.Describe(found)}.");
            }
        });
    }

    /// <summary>A request whose id had its answer is sent again, and must hear the same (I1, I2).</summary>
    protected void SendAgain(SimulatedClient client, PlannedTransaction transaction, TransactionEnvelope envelope, string where)
    {
        LooksLeft++;
        client.Send(transaction, (verdict, again) =>
        {
            LooksLeft--;
            if (again is null || !Answers.Agree(again, envelope))
            {
                Violated($"I2: request {transaction.Request.Id} was answered {Answers.Describe(envelope)}; asked again{where} it is {verdict}, {Answers.Describe(again)}.");
            }
        });
    }

    /// <returns>False: it did not come to that in this time, or enough is wrong.</returns>
    protected bool StepUntil(Func<bool> done, long within)
    {
        var until = Now + within;
        while (!done())
        {
            if (Now > until || Violations.Count > EnoughViolations || !Step())
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>One step: an item of an executor that has one, or what is due. Which one of several is the seed's choice.</summary>
    private bool Step()
    {
        Steps++;
        if (Now >= Open.NextLook)
        {
            Open.Look();
        }

        var ready = 0;
        for (var i = 0; i < Processes.Count; i++)
        {
            ready += Processes[i].CountReady(Now);
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

    /// <summary>Runs one of the executors that are ready, in the order of processes and executors.</summary>
    private void RunReady(int choice)
    {
        for (var i = 0; i < Processes.Count; i++)
        {
            var ready = Processes[i].Ready;
            if (choice < ready)
            {
                Processes[i].RunReady(choice);
                return; // which processes there are may have changed
            }

            choice -= ready;
        }
    }
}
