using Snapper.Cluster.Node;
using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Migration;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Migrating;

/// <summary>
/// The shell of a <see cref="MigrationMachine"/>: carries out its actions, and brings it their answers and what happens
/// meanwhile, on the first executor.
/// </summary>
internal sealed class MigrationRun(
    Worker worker,
    IMigratingNode node,
    IClusterStore store,
    DirectoryFollower directory,
    MigrationPlan plan,
    MigrationProgress progress) : IMigrationSource
{
    /// <summary>M4: the bound of freeze to commit.</summary>
    public static readonly TimeSpan Bound = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(2);
    private static readonly string s_reason =
        $"The migration timed out after {Bound.TotalSeconds:0} s, while what had begun before it came to its end; try again.";

    private readonly PlannedActors _moving = new(plan, node.Directory);
    private readonly Promise<bool> _ended = worker.Background.Promise<bool>();
    private MigrationMachine? _machine;
    private MigrationPhase _phase;
    private ITimer? _bound;
    private long _action; // number of the one under way, on the first executor alone

    BatchId IMigrationSource.HighestKnownPart => node.Pacts.HighestKnown;

    BatchId IMigrationSource.LowestUnplacedPart => node.Pacts.LowestUnplaced;

    BatchId IMigrationSource.HighestOpen => worker.Commits.Open is { Count: > 0 } open ? open[^1].Bid : BatchId.None;

    bool IMigrationSource.TakesActsBack => worker.Commits.TakesActsBack;

    long IMigrationSource.LastSequence => worker.Log.LastSequence;

    long IMigrationSource.CheckpointedThrough => worker.Commits.CheckpointedThrough;

    private MigrationMachine Machine => _machine ??= new MigrationMachine(plan.Id, plan.Keys, node.Ownership, this);

    /// <summary>To its end, done or cancelled.</summary>
    /// <exception cref="IOException">
    /// The store, or the log, is away: how far the plan came is not known, and its freeze stays. Another run of it goes
    /// on where the plan stands.
    /// </exception>
    public async Task Run()
    {
        node.First.PostRun(() =>
        {
            node.MasterFroze = OnMasterFroze;
            worker.Commits.Progressed = OnProgress;
            Carry(Machine.Begin());
        });
        await _ended.Task.WaitAsync(worker.Stopping).ConfigureAwait(false);
    }

    bool IMigrationSource.HasOpenUpTo(BatchId last)
    {
        foreach (var batch in worker.Commits.Open)
        {
            for (var slot = 0; batch.Bid <= last && slot < batch.SlotCount; slot++)
            {
                if (batch.SubBatchOf(slot) is { IsFinal: false } open && _moving.Contains(open.Actor))
                {
                    return true;
                }
            }
        }

        return false;
    }

    TransactionId IMigrationSource.FindVisitor(string plan)
    {
        foreach (var act in worker.Acts.Values)
        {
            foreach (var actor in act.TakeParticipants())
            {
                if (node.Ownership.Look(actor).Plan == plan)
                {
                    return act.Tid;
                }
            }
        }

        return TransactionId.None;
    }

    bool IMigrationSource.IsUnderWay(TransactionId tid) => worker.Acts.ContainsKey(tid.Value);

    private void OnProgress() => Carry(Machine.OnProgress());

    /// <summary>M3: the answer of the master that this worker listens to.</summary>
    private void OnMasterFroze(FrozenMessage answer)
    {
        if (answer.Plan == plan.Id && answer.MasterEpoch == node.Requests.MasterEpoch)
        {
            Carry(Machine.OnMasterFroze());
        }
    }

    private void Carry(MigrationAction action)
    {
        ShowPhase();
        switch (action)
        {
            case MigrationAction.None:
                break;
            case MigrationAction.Checkpoint:
                Begin(() => worker.Checkpoints.CheckpointOf(_moving.Contains, isUrgent: false), OnCheckpointed);
                break;
            case MigrationAction.CheckpointUrgently:
                Begin(() => worker.Checkpoints.CheckpointOf(_moving.Contains, isUrgent: true), OnCheckpointed);
                break;
            case MigrationAction.PassQueues:
                _bound ??= worker.Time.CreateTimer(_ => OnBound(), null, Bound, Timeout.InfiniteTimeSpan);
                Begin(() => OnEach(PassQueue), _ => Machine.OnQueuesPassed());
                break;
            case MigrationAction.AskMaster:
                AskMaster();
                break;
            case MigrationAction.LeaveMemory:
                Begin(() => OnEach(TryLeave), Machine.OnLeft);
                break;
            case MigrationAction.Flush:
                Begin(Flush, _ => Machine.OnFlushed());
                break;
            case MigrationAction.Pause:
                Begin(Pause, _ => Machine.OnPaused());
                break;
            case MigrationAction.Commit:
                Begin(Commit, Answer);
                break;
            case MigrationAction.Cancel:
                Begin(Cancel, Machine.OnCancelled);
                break;
            case MigrationAction.Unfreeze:
                Unfreeze(node, plan.Id, plan.Keys, Machine.Moved);
                Carry(Machine.OnUnfrozen());
                break;
            case MigrationAction.RequireNothingLeft:
                Begin(() => OnEach(RequireNothingLeft), _ => Machine.OnNothingLeft());
                break;
            case MigrationAction.End:
                End();
                _ended.TrySet(true);
                break;
            default:
                throw new ProtocolViolationException($"Plan {plan.Id}: nothing is known of how to do {action}.");
        }
    }

    /// <summary>Begins an action beside the executors; its answer comes back to the first one, if no other has begun since.</summary>
    private void Begin<T>(Func<Task<T>> work, Func<T, MigrationAction> answered)
    {
        var number = ++_action;
        _ = worker.Background.Run(async () =>
        {
            try
            {
                var answer = await work().WaitAsync(worker.Stopping).ConfigureAwait(false);
                node.First.PostRun(() =>
                {
                    if (number == _action)
                    {
                        Carry(answered(answer));
                    }
                });
            }
            catch (Exception exception) // the run's, which knows what passes
            {
                node.First.PostRun(() =>
                {
                    if (number == _action)
                    {
                        End();
                        _ended.TryFail(exception);
                    }
                });
            }
        });
    }

    private void End()
    {
        _action++;
        _bound?.Dispose();
        node.MasterFroze = null;
        worker.Commits.Progressed = null;
    }

    private void OnBound() => node.First.PostRun(() => Carry(Machine.OnBound(s_reason)));

    private MigrationAction OnCheckpointed(bool isComplete)
    {
        if (Machine.Step == MigrationStep.CheckpointingAgain)
        {
            // Ahead of the freeze: what is frozen from here on is unfrozen, whatever becomes of this run.
            node.OpenFreezes[plan.Id] = plan.Keys;
        }

        return Machine.OnCheckpointed(isComplete);
    }

    private void ShowPhase()
    {
        var phase = Machine.Step switch
        {
            < MigrationStep.Freezing => MigrationPhase.Planned,
            <= MigrationStep.FreezingAtMaster => MigrationPhase.Freezing,
            <= MigrationStep.PassingEnds => MigrationPhase.Draining,
            MigrationStep.Done => MigrationPhase.Done,
            MigrationStep.Cancelled => MigrationPhase.Cancelled,
            MigrationStep.Cancelling or MigrationStep.Unfreezing => _phase,
            _ => MigrationPhase.HandingOver,
        };
        if (phase != _phase)
        {
            _phase = phase;
            progress.Enter(phase);
        }
    }

    /// <summary>Asks all executors at once, and waits for all.</summary>
    /// <returns>All have answered true.</returns>
    private async Task<bool> OnEach(Func<Executor, Task<bool>> ask)
    {
        var asked = new List<Task<bool>>();
        foreach (var executor in worker.Executors)
        {
            asked.Add(ask(executor));
        }

        var all = true;
        foreach (var task in asked)
        {
            all &= await task.WaitAsync(worker.Stopping).ConfigureAwait(false);
        }

        return all;
    }

    private Task<bool> PassQueue(Executor executor)
    {
        var done = worker.Background.Promise<bool>();
        executor.PostOutside(WorkItem.Run(() =>
        {
            executor.SendLateNow();
            done.TrySet(true);
        }));
        return done.Task;
    }

    private Task<bool> TryLeave(Executor executor)
    {
        var left = worker.Background.Promise<bool>();
        executor.PostRun(() => left.TrySet(executor.TryLeave(actor => node.Ownership.Look(actor).Plan == plan.Id)));
        return left.Task;
    }

    /// <summary>M7: of what has moved nothing is under way here, or there are two owners.</summary>
    private Task<bool> RequireNothingLeft(Executor executor)
    {
        var looked = worker.Background.Promise<bool>();
        executor.PostRun(() =>
        {
            if (executor.FindInUse(HasMoved) is { } actor)
            {
                worker.Fail(new ProtocolViolationException(
                    $"{actor} has moved with plan {plan.Id}, and something is under way on it here (M4, M7)."));
            }

            looked.TrySet(true);
        });
        return looked.Task;
    }

    private bool HasMoved(ActorKey actor) =>
        _moving.Contains(actor) && node.Ownership.Look(actor).State == OwnershipState.NotOwned;

    private void AskMaster()
    {
        _action++; // the answer is the master's
        node.Requests.Barrier();
        if (node.Requests.MasterEpoch is not 0 and var epoch)
        {
            node.Send(node.Requests.Master, new FreezeMessage(epoch, plan.Id, plan.Keys));
        }
    }

    private async Task<bool> Flush()
    {
        await worker.Log.Drain(worker.Stopping).ConfigureAwait(false);
        return true;
    }

    private async Task<bool> Pause()
    {
        await Background.Pause(s_pause, worker.Time, worker.Stopping).ConfigureAwait(false);
        return true;
    }

    /// <summary>M6: the commit of the plan decides.</summary>
    private async Task<Committed> Commit()
    {
        try
        {
            var committed = await store.Plans.Commit(plan.Id, worker.Stopping).ConfigureAwait(false);
            RequireOwnLife(committed.Status, committed.Detail);
            if (!committed.IsDone)
            {
                return new Committed([], $"It could not be committed: {committed.Detail}.");
            }

            var moved = committed.Status == ClusterStatus.Done
                ? committed.Value!
                : await ReadMoved(node, directory, plan.Keys, worker.Stopping).ConfigureAwait(false);
            return new Committed(moved, null);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            return new Committed(null, null);
        }
    }

    private MigrationAction Answer(Committed answer)
    {
        if (answer.Refusal is { } refusal)
        {
            return Machine.OnRefused(refusal);
        }

        return answer.Moved is { } moved ? Machine.OnCommitted(moved) : Machine.OnUnknown();
    }

    /// <returns>A plan that the store has forgotten may have been committed (M6): where its keys are.</returns>
    private async Task<IReadOnlyList<DirectoryEntry>> Cancel()
    {
        var cancelled = await store.Plans.Cancel(plan.Id, Machine.Reason, worker.Stopping).ConfigureAwait(false);
        RequireOwnLife(cancelled.Status, cancelled.Detail);
        return cancelled.IsDone
            ? []
            : await ReadMoved(node, directory, plan.Keys, worker.Stopping).ConfigureAwait(false);
    }

    /// <summary>
    /// R4: a life that was fenced unfreezes nothing. Its plan is open until another worker cancels it, and until then
    /// the master numbers nothing for what it names.
    /// </summary>
    private void RequireOwnLife(ClusterStatus status, string detail)
    {
        if (status == ClusterStatus.Fenced)
        {
            throw new LogLostFailure(AppendStatus.Fenced, $"{node.Self} was fenced: {detail}");
        }
    }

    /// <summary>
    /// Where keys are now, when the answer that said so is lost. The master, too, must learn it before it learns that
    /// they are frozen no more: else it would number for their old owner (M7).
    /// </summary>
    public static async Task<IReadOnlyList<DirectoryEntry>> ReadMoved(
        INode node,
        DirectoryFollower directory,
        IReadOnlyList<DirectoryKey> keys,
        CancellationToken cancellation)
    {
        await directory.Read(cancellation).ConfigureAwait(false);
        return await node.Ask(() =>
        {
            var entries = new List<DirectoryEntry>();
            foreach (var key in keys)
            {
                var found = key.Actor is { } actor ? node.Directory.Find(actor) : node.Directory.Find(key.Partition);
                if (found is { } entry)
                {
                    entries.Add(entry);
                }
            }

            return entries;
        }).ConfigureAwait(false);
    }

    /// <summary>
    /// A plan has ended. This worker does not own what has moved with it; the rest, and what has come back since and was
    /// never read as moved, is as before, here and at the master. On the first executor.
    /// </summary>
    /// <param name="node">This worker's place among the others.</param>
    /// <param name="plan">Its id.</param>
    /// <param name="keys">What it named.</param>
    /// <param name="moved">Where that is now.</param>
    public static void Unfreeze(
        IMigratingNode node, string plan, IReadOnlyList<DirectoryKey> keys, IReadOnlyList<DirectoryEntry> moved)
    {
        node.Apply(moved);
        foreach (var key in keys)
        {
            node.Ownership.Unfreeze(key, plan);
        }

        node.OpenFreezes.Remove(plan);

        // M7: the master learns of the move before it learns of the end. While this worker settles what an earlier
        // master had open, it is the next one, which numbers as soon as it hears that that is done (R3).
        var (master, epoch) = node.LatestMaster;
        if (moved.Count > 0)
        {
            node.TellMoved(moved, master);
        }

        node.Send(master, new FreezeMessage(epoch, plan, []));
    }

    /// <summary>What the store says of the plan's commit; neither: its answer is lost.</summary>
    private readonly record struct Committed(IReadOnlyList<DirectoryEntry>? Moved, string? Refusal);
}
