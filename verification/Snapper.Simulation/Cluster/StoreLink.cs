using Snapper.Protocol.Directory;
using Snapper.Simulation.Core;
using Snapper.Simulation.Rules;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.States;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// The road of one process to what all share. A call travels, is carried out at once, and its answer travels back; on the way it may be lost, late, or cut off. A call
/// that a dead process had sent is still carried out.
/// </summary>
internal sealed class StoreLink(ClusterWorld world, ClusterProcess process)
{
    /// <summary>Look at what becomes durable.</summary>
    public ClusterLogRules Rules => world.LogRules;

    /// <summary>Look at what workers tell each other.</summary>
    public ClusterMessageRules Messages => world.MessageRules;

    /// <summary>A plan was to be committed; if it was just now, looks at what has moved.</summary>
    public ClusterResult<IReadOnlyList<DirectoryEntry>> Moved(string plan, ClusterResult<IReadOnlyList<DirectoryEntry>> committed)
    {
        if (committed.Status == ClusterStatus.Done)
        {
            var record = world.Shared.Plans[plan].Plan;
            var keys = record.Keys.ToHashSet();
            var states = new MemoryStateStore(world.Shared.Log(record.From.Worker), new VirtualTime(world, scope: null), new StateStoreOptions());
            Rules.Moved(
                plan, record.From.Worker,
                actor => keys.Contains(world.Shared.EntryOf(actor, world.PartitionOf(actor))), world.RootOf, states,
                actor => world.Shared.Log(1).States.GetValueOrDefault(actor));
        }

        return committed;
    }

    /// <summary>A plan has ended, unless it had before; the store may forget it at once.</summary>
    public void Ended(string plan, ClusterStatus status)
    {
        if (status == ClusterStatus.Done && world.SharedStore.ForgetsPlan())
        {
            world.Happened.Note(ClusterFaultKind.PlanForgotten);
            world.Shared.EndedPlans.Remove(world.Shared.Plans[plan].Number);
            world.Shared.Plans.Remove(plan);
        }
    }

    /// <summary>
    /// Where this process reads: from the present server, or from a former one to which it is connected.
    /// </summary>
    /// <param name="present">What the present server has.</param>
    /// <param name="former">The same of a former one.</param>
    /// <exception cref="IOException">
    /// A life that began later knows more than the former one, and does not read it.
    /// </exception>
    public T Read<T>(T present, Func<MemoryCluster, T> former)
    {
        if (world.FormerServerOf(process) is not { } server)
        {
            return present;
        }

        if (world.BeganBeforeFailOver(process))
        {
            return former(server);
        }

        throw new IOException("simulated: the server does not have what this worker was told");
    }

    /// <summary>
    /// A former server takes no writes. A life that began later is connected to the present one for them.
    /// </summary>
    private void RequirePrimary(StoreStep step)
    {
        if (!s_reads.Contains(step) && world.FormerServerOf(process) is not null && world.BeganBeforeFailOver(process))
        {
            throw new IOException("simulated: READONLY You can't write against a read only replica.");
        }
    }

    private static readonly HashSet<StoreStep> s_reads =
    [
        StoreStep.LogRead, StoreStep.StateLoad, StoreStep.OutcomeFind, StoreStep.Look, StoreStep.MembersRead,
        StoreStep.RescueRead, StoreStep.DirectoryRead, StoreStep.PlanFind, StoreStep.PlansRead,
        StoreStep.MasterStanding, StoreStep.MasterRead,
    ];

    private const long Patience = 200 * TimeSpan.TicksPerMillisecond;

    /// <summary>What this process is told instead of what is so; null: the truth.</summary>
    public ClusterStatus? Misled
    {
        get
        {
            if (world.SharedStore.IsMisled(process.Number) is not { } kind)
            {
                return null;
            }

            world.Happened.Note(kind);
            process.WasMisled = true;
            return kind == ClusterFaultKind.StoreSaysLost ? ClusterStatus.Lost : ClusterStatus.Stale;
        }
    }

    /// <summary>Sends a call.</summary>
    /// <param name="step">What it is.</param>
    /// <param name="carryOut">Does it, there.</param>
    /// <param name="cancellation">Its sender waits no more; it may be carried out all the same.</param>
    public Task<T> Send<T>(StoreStep step, Func<T> carryOut, CancellationToken cancellation)
    {
        // Continuations run inline: there is one thread, and the order of things is the seed's.
        var answer = new TaskCompletionSource<T>();
        if (cancellation.CanBeCanceled)
        {
            if (cancellation.IsCancellationRequested)
            {
                return Task.FromCanceled<T>(cancellation);
            }

            cancellation.Register(() => answer.TrySetCanceled(cancellation));
        }

        var fate = world.SharedStore.Draw(process);
        if (fate is ClusterFaultKind.StoreCallLost or ClusterFaultKind.StoreDown or ClusterFaultKind.StoreCut)
        {
            GiveUp(answer);
            return answer.Task;
        }

        if (fate is ClusterFaultKind.StoreCallLate or ClusterFaultKind.StoreAnswerLost or ClusterFaultKind.StoreAnswersCut)
        {
            GiveUp(answer);
        }

        var way = fate == ClusterFaultKind.StoreCallLate ? Patience + world.Chance.Between(0, 4 * Patience) : world.SharedStore.Travel(fate == ClusterFaultKind.StoreSlow);
        if (fate == ClusterFaultKind.StoreSlow)
        {
            Hinders(2 * way); // its answer is slow, too, perhaps
        }

        world.After(way, null, () => Arrive(step, carryOut, fate is null or ClusterFaultKind.StoreSlow ? answer : null));
        return answer.Task;
    }

    private void Arrive<T>(StoreStep step, Func<T> carryOut, TaskCompletionSource<T>? answer)
    {
        if (world.Operators.AtStep(step, process, after: false))
        {
            return; // it ended before it could send it
        }

        T result;
        try
        {
            RequirePrimary(step);
            result = carryOut();
        }
        catch (Exception exception)
        {
            world.After(world.SharedStore.Travel(slow: false), process.Scope, () => answer?.TrySetException(exception));
            return;
        }

        world.Operators.AtStep(step, process, after: true);
        if (answer is not null)
        {
            world.After(world.SharedStore.Travel(slow: false), process.Scope, () => answer.TrySetResult(result));
        }
    }

    private void GiveUp<T>(TaskCompletionSource<T> answer)
    {
        var patience = world.Chance.Between(Patience / 20, Patience);
        Hinders(patience);
        world.After(patience, process.Scope, () =>
            answer.TrySetException(new IOException("simulated: the connection broke")));
    }

    private void Hinders(long forTicks) => process.HinderedUntil =
        Math.Max(process.HinderedUntil, world.Now + forTicks);
}

/// <summary>The shared store's side of those roads: how far away it is, and from whom it is cut off.</summary>
internal sealed class StoreFaults(ClusterWorld world)
{
    private readonly SeededChance _chance = SeededChance.For(world.Cluster.Seed, ChanceOf.SharedStore);

    private readonly (long Until, ClusterFaultKind How)[] _misled = new (long, ClusterFaultKind)[ClusterScenario.MostWorkers + 2];

    private readonly SeededChance _forgotten = SeededChance.For(world.Cluster.Seed, ChanceOf.ForgottenPlans);

    /// <summary>A plan that ends now is forgotten at once.</summary>
    public bool ForgetsPlan() => !world.IsHealed && _forgotten.Percent(world.Cluster.ForgetPercent);

    /// <summary>Nobody reaches it until then.</summary>
    public long DownUntil { get; set; }

    /// <summary>A worker does not reach it until then, by number.</summary>
    public long[] CutUntil { get; } = new long[ClusterScenario.MostWorkers + 2];

    /// <summary>A worker hears no answers until then, by number.</summary>
    public long[] MuteUntil { get; } = new long[ClusterScenario.MostWorkers + 2];

    /// <summary>The log of a worker takes nothing until then, by number.</summary>
    public long[] FullUntil { get; } = new long[ClusterScenario.MostWorkers + 2];

    /// <summary>Until then a worker is told what is not so.</summary>
    public void Mislead(int worker, long until, ClusterFaultKind how) => _misled[worker] = (until, how);

    /// <summary>How a worker is misled now; null: it is not.</summary>
    public ClusterFaultKind? IsMisled(int worker) => _misled[worker] is var (until, how) && world.Now < until ? how : null;

    /// <summary>Everything works again.</summary>
    public void Heal()
    {
        Array.Clear(_misled);
        DownUntil = 0;
        Array.Clear(CutUntil);
        Array.Clear(MuteUntil);
        Array.Clear(FullUntil);
    }

    /// <summary>One way, in ticks.</summary>
    public long Travel(bool slow) => slow
        ? _chance.Between(TimeSpan.TicksPerMillisecond * 20, TimeSpan.TicksPerMillisecond * 150)
        : _chance.Between(world.Scenario.StorageTicksMin, world.Scenario.StorageTicksMax);

    /// <summary>What happens to a call; null: nothing.</summary>
    public ClusterFaultKind? Draw(ClusterProcess process)
    {
        if (world.IsHealed)
        {
            return null;
        }

        if (world.Now < DownUntil)
        {
            return ClusterFaultKind.StoreDown;
        }

        if (world.Now < CutUntil[process.Number])
        {
            return ClusterFaultKind.StoreCut;
        }

        if (world.Now < MuteUntil[process.Number])
        {
            return ClusterFaultKind.StoreAnswersCut;
        }

        if (!_chance.PerMille(world.Cluster.StoreFaultPerMille))
        {
            return null;
        }

        var kind = _chance.Next(4) switch
        {
            0 => ClusterFaultKind.StoreCallLost,
            1 => ClusterFaultKind.StoreAnswerLost,
            2 => ClusterFaultKind.StoreCallLate,
            _ => ClusterFaultKind.StoreSlow,
        };
        world.Happened.Note(kind);
        return kind;
    }
}
