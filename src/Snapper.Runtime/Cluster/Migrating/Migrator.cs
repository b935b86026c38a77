using System.Collections.Concurrent;
using Snapper.Protocol;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Membership;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Hosting;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Cluster;

namespace Snapper.Runtime.Cluster.Migrating;

/// <summary>
/// Carries out the plans whose source this worker is (thesis 4.4; M3 to M7): freeze, drain, fold everything, and let the plan's commit decide. Everything that the source has
/// of an actor is in the shared states before the commit, so that the target only reads. Plans of sources or targets that are gone are cancelled by whoever sees it.
/// </summary>
internal sealed class Migrator(Worker worker, IClusterStore store, DirectoryFollower directory) : IAsyncDisposable
{
    /// <summary>M4: the bound of freeze to commit.</summary>
    public static readonly TimeSpan Bound = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(2);

    private readonly ClusterNode _node = worker.Cluster!;
    private readonly ConcurrentDictionary<string, Task> _running = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, MigrationProgress> _progress = new(StringComparer.Ordinal);

    /// <summary>What this worker knows of plans that it carries out, or has.</summary>
    public IReadOnlyCollection<MigrationProgress> Progress => (IReadOnlyCollection<MigrationProgress>)_progress.Values;

    /// <summary>Open plans have changed: begins those that are this worker's, and cancels those that nobody can carry out.</summary>
    public async Task Look(IReadOnlyList<Member> members, CancellationToken cancellation)
    {
        // First those that have ended: one that the store's absence has interrupted begins again below.
        var plans = await store.Plans.ReadOpen(cancellation).ConfigureAwait(false);
        foreach (var (id, task) in _running)
        {
            if (task.IsCompleted)
            {
                await LetGo(id, plans, cancellation).ConfigureAwait(false);
                _running.TryRemove(id, out _);
            }
        }

        foreach (var open in plans)
        {
            var plan = open.Plan;
            if (!Lives(plan.From, members) || !Lives(plan.To, members))
            {
                Transitions.Note(ClusterTransition.MigrationOfGoneCancelled);
                await store.Plans.Cancel(plan.Id, $"{(Lives(plan.From, members) ? plan.To : plan.From)} is gone.", cancellation).ConfigureAwait(false);
            }
            else if (plan.From == _node.Self && !_running.ContainsKey(plan.Id))
            {
                _running[plan.Id] = worker.Background.Run(() => Run(plan.Id));
            }
        }
    }

    /// <summary>Something is under way, or cannot have been told to the master in time.</summary>
    public bool IsBusy => !_running.IsEmpty;

    /// <summary>Open plans with all that they name: a new master numbers for none of it (R3).</summary>
    public async Task<IReadOnlyList<MigrationPlan>> ReadOpen(CancellationToken cancellation)
    {
        var plans = new List<MigrationPlan>();
        foreach (var open in await store.Plans.ReadOpen(cancellation).ConfigureAwait(false))
        {
            if (await store.Plans.Find(open.Plan.Id, cancellation).ConfigureAwait(false) is { State: PlanState.Planned } record)
            {
                plans.Add(record.Plan);
            }
        }

        return plans;
    }

    public async ValueTask DisposeAsync() => await Task.WhenAll(_running.Values).ConfigureAwait(false);

    private static bool Lives(Incarnation worker, IReadOnlyList<Member> members)
    {
        foreach (var member in members)
        {
            if (member.Incarnation == worker)
            {
                // One whose lease has run out need not be waited for until it is fenced: its plans would keep what they name frozen so long.
                return member.CurrentEpoch == worker.Epoch && member.State == MemberState.Live;
            }
        }

        return false;
    }

    /// <summary>
    /// A run that the store's absence has interrupted has kept its freeze. If the plan has ended meanwhile, by this worker's own word, of whose arrival it did not hear, or by
    /// another's, nobody begins it again: what is not the target's now is this worker's as before (M4).
    /// </summary>
    private async Task LetGo(string id, IReadOnlyList<PlanRecord> open, CancellationToken cancellation)
    {
        foreach (var plan in open)
        {
            if (plan.Plan.Id == id)
            {
                return;
            }
        }

        if (await _node.Ask(() => _node.OpenFreezes.GetValueOrDefault(id)).ConfigureAwait(false) is not { } keys)
        {
            return;
        }

        await directory.Read(cancellation).ConfigureAwait(false); // what has moved is no longer frozen here, but gone
        await Unfreeze(id, keys).ConfigureAwait(false);
        if (_progress.TryGetValue(id, out var progress))
        {
            var record = await store.Plans.Find(id, cancellation).ConfigureAwait(false);
            progress.Enter(record?.State == PlanState.Done ? MigrationPhase.Done : MigrationPhase.Cancelled);
        }
    }

    private async Task Run(string id)
    {
        try
        {
            if (await store.Plans.Find(id, worker.Stopping).ConfigureAwait(false) is { State: PlanState.Planned } record)
            {
                var progress = new MigrationProgress(id, record.KeyCount, worker.Time);
                _progress[id] = progress;
                await Run(record.Plan, progress).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            Transitions.Note(ClusterTransition.MigrationInterrupted); // the next look begins again, where the plan stands
        }
        catch (Exception exception)
        {
            worker.Fail(exception);
        }
    }

    private async Task Run(MigrationPlan plan, MigrationProgress progress)
    {
        // What was changed until now is folded while everything still runs; the fold for which the actors wait (M5) then has little to do.
        await worker.Checkpoints.FoldNow().WaitAsync(worker.Stopping).ConfigureAwait(false);
        using var limit = new CancellationTokenSource(Bound, worker.Time);
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(worker.Stopping, limit.Token);
        var why = "";
        try
        {
            if (await Freeze(plan).ConfigureAwait(false))
            {
                Transitions.Note(ClusterTransition.MigrationFrozen);
                progress.Enter(MigrationPhase.Freezing);
                if (!Planted.Is(PlantedFault.MasterNotAskedToFreeze))
                {
                    await FreezeAtMaster(plan, bound.Token).ConfigureAwait(false);
                }

                Transitions.Note(ClusterTransition.MigrationFrozenAtMaster);
                progress.Enter(MigrationPhase.Draining);
                await Drain(plan, bound.Token).ConfigureAwait(false);
                Transitions.Note(ClusterTransition.MigrationDrained);
                progress.Enter(MigrationPhase.HandingOver);
                await HandOver(plan, bound.Token).ConfigureAwait(false);
                Transitions.Note(ClusterTransition.MigrationHandedOver);
                if (await Commit(plan, progress).ConfigureAwait(false))
                {
                    return;
                }
            }
            else
            {
                Transitions.Note(ClusterTransition.MigrationNotFrozen);
                why = "Something in it is not this worker's, or is being moved by another plan.";
            }
        }
        catch (OperationCanceledException) when (!worker.Stopping.IsCancellationRequested)
        {
            Transitions.Note(ClusterTransition.MigrationTimedOut);
            why = $"It did not come to rest within {Bound.TotalSeconds:0} s; try again.";
        }

        // M4: first the plan, then the freeze.
        await store.Plans.Cancel(plan.Id, why, worker.Stopping).ConfigureAwait(false);
        await Unfreeze(plan.Id, plan.Keys).ConfigureAwait(false);
        progress.Enter(MigrationPhase.Cancelled);
    }

    private async Task<bool> Freeze(MigrationPlan plan)
    {
        var frozen = await _node.Ask(() =>
        {
            foreach (var key in plan.Keys)
            {
                if (!_node.Ownership.Freeze(key, plan.Id))
                {
                    return false;
                }
            }

            _node.OpenFreezes[plan.Id] = plan.Keys;
            return true;
        }).ConfigureAwait(false);

        // Whoever has looked before has said so when every executor has done what was under way: numbers were given, first visits were let in.
        await Behind().ConfigureAwait(false);
        return frozen;
    }

    private async Task Behind()
    {
        for (var round = 0; round < 2; round++)
        {
            foreach (var executor in worker.Executors)
            {
                var done = worker.Background.Promise<bool>();
                executor.PostOutside(new Execution.WorkItem { Kind = Execution.WorkKind.Run, Extra = (Action)(() => done.TrySet(true)) });
                await done.Task.WaitAsync(worker.Stopping).ConfigureAwait(false);
            }
        }
    }

    /// <summary>M3: the master's answer comes behind all parts that it numbered before; a master that changes meanwhile is asked again.</summary>
    private async Task FreezeAtMaster(MigrationPlan plan, CancellationToken cancellation)
    {
        while (true)
        {
            var epoch = _node.Requests.MasterEpoch;
            if (epoch != 0)
            {
                var answer = _node.Frozen.GetOrAdd((epoch, plan.Id), static (_, background) => background.Promise<bool>(), worker.Background);
                _node.Send(_node.Requests.Master, new FreezeMessage(epoch, plan.Id, plan.Keys));
                try
                {
                    await answer.Task.WaitAsync(TimeSpan.FromSeconds(1), worker.Time, cancellation).ConfigureAwait(false);
                    return;
                }
                catch (TimeoutException)
                {
                    // Another may be master now.
                }
                finally
                {
                    _node.Frozen.TryRemove((epoch, plan.Id), out _);
                }
            }

            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>M4: every batch that may touch it is final, and no ACT is in.</summary>
    private async Task Drain(MigrationPlan plan, CancellationToken cancellation)
    {
        await Behind().ConfigureAwait(false);

        // Parts that may touch it have come, but perhaps have no place yet: what is open when they have is what must become final.
        var highest = await _node.Ask(() => _node.Pacts.HighestKnown).ConfigureAwait(false);
        while (!await _node.Ask(() => _node.Pacts.LowestUnplaced is var lowest && (lowest == BatchId.None || lowest > highest)).ConfigureAwait(false))
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }

        var last = await _node.Ask(() =>
        {
            var open = worker.Commits.Open;
            return open.Count == 0 ? BatchId.None : open[^1].Bid;
        }).ConfigureAwait(false);
        while (!await _node.Ask(() => worker.Final >= last && !IsVisited(plan)).ConfigureAwait(false))
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }
    }

    private bool IsVisited(MigrationPlan plan)
    {
        foreach (var act in worker.Acts.Values)
        {
            foreach (var actor in act.TakeParticipants())
            {
                if (_node.Ownership.Look(actor).Plan == plan.Id)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>M5: all of it is durable, and folded into what the target reads. Its cells leave memory.</summary>
    private async Task HandOver(MigrationPlan plan, CancellationToken cancellation)
    {
        await Behind().ConfigureAwait(false);
        if (Planted.Is(PlantedFault.HandOverBeforeFold))
        {
            return;
        }

        var last = worker.Log.LastSequence;
        await worker.Log.Drain(cancellation).ConfigureAwait(false);
        while (worker.Commits.ToldSequence < last)
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }

        if (!Planted.Is(PlantedFault.HandOverWithoutOutcomes))
        {
            do
            {
                await worker.Checkpoints.FoldNow().WaitAsync(cancellation).ConfigureAwait(false);
            }
            while (worker.Checkpoints.FoldedBelow <= last && await Pause(cancellation).ConfigureAwait(false)); // the store failed: states would be missed below, outcomes not (I2)
        }

        foreach (var executor in worker.Executors)
        {
            Promise<bool> left;
            do
            {
                left = worker.Background.Promise<bool>();
                var answer = left;
                executor.PostRun(() => answer.TrySet(executor.TryLeave(actor => _node.Ownership.Look(actor).Plan == plan.Id)));
            }
            while (!await left.Task.WaitAsync(cancellation).ConfigureAwait(false) && await Pause(cancellation).ConfigureAwait(false));
        }
    }

    private async Task<bool> Pause(CancellationToken cancellation)
    {
        await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        return true;
    }

    /// <summary>M6: from here on it is the target's.</summary>
    private async Task<bool> Commit(MigrationPlan plan, MigrationProgress progress)
    {
        IReadOnlyList<DirectoryEntry>? moved = null;
        while (moved is null)
        {
            try
            {
                var committed = await store.Plans.Commit(plan.Id, worker.Stopping).ConfigureAwait(false);
                if (!committed.IsDone)
                {
                    Transitions.Note(ClusterTransition.MigrationFoundCancelled);
                    return false;
                }

                moved = committed.Value ?? [];
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                await Background.Pause(s_look, worker.Time, worker.Stopping).ConfigureAwait(false); // nobody knows whether it is done: the same again tells
            }
        }

        Transitions.Note(ClusterTransition.MigrationCommitted);
        await _node.Ask(() => _node.OpenFreezes.Remove(plan.Id) && _node.Apply(moved)).ConfigureAwait(false);
        _node.TellMoved(moved);
        UnfreezeAtMaster(plan.Id);
        progress.Enter(MigrationPhase.Done);
        return true;
    }

    private async Task Unfreeze(string plan, IReadOnlyList<DirectoryKey> keys)
    {
        await _node.Ask(() =>
        {
            foreach (var key in keys)
            {
                _node.Ownership.Unfreeze(key, plan);
            }

            return _node.OpenFreezes.Remove(plan);
        }).ConfigureAwait(false);
        UnfreezeAtMaster(plan);
    }

    private void UnfreezeAtMaster(string plan) => _node.Send(_node.Requests.Master, new FreezeMessage(_node.Requests.MasterEpoch, plan, []));
}
