using Snapper.Protocol;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Membership;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Runtime.Cluster.Migrating;

/// <summary>
/// Carries out one plan (thesis 4.3; M3 to M7): freeze, drain, checkpoint what moves, and let the plan's commit decide. Everything that the source has of an actor is in the shared
/// states before the commit, so that the target only reads.
/// </summary>
internal sealed class MigrationRun(Worker worker, IClusterStore store, DirectoryFollower directory, MigrationPlan plan, MigrationProgress progress)
{
    /// <summary>M4: the bound of freeze to commit.</summary>
    public static readonly TimeSpan Bound = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(2);

    private readonly ClusterNode _node = worker.Cluster!;
    private readonly PlannedActors _moving = new(plan, worker.Cluster!.Directory);

    /// <summary>To its end, done or cancelled.</summary>
    /// <exception cref="IOException">The store, or the log, is away: nobody knows how far it came; its freeze stays. Run again, it goes on where the plan stands.</exception>
    public async Task Run()
    {
        // What was changed until now is checkpointed while everything still runs, gently, and what changed meanwhile once more, quickly, so that little changes meanwhile: the checkpoint for
        // which the actors wait (M5) then has little to do.
        await worker.Checkpoints.CheckpointOf(_moving.Contains, isUrgent: false).WaitAsync(worker.Stopping).ConfigureAwait(false);
        await worker.Checkpoints.CheckpointOf(_moving.Contains, isUrgent: true).WaitAsync(worker.Stopping).ConfigureAwait(false);

        using var limit = new CancellationTokenSource(Bound, worker.Time);
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(worker.Stopping, limit.Token);
        var why = "";
        try
        {
            if (await Freeze().ConfigureAwait(false))
            {
                progress.Enter(MigrationPhase.Freezing);
                await FreezeAtMaster(bound.Token).ConfigureAwait(false);
                progress.Enter(MigrationPhase.Draining);
                await Drain(bound.Token).ConfigureAwait(false);
                progress.Enter(MigrationPhase.HandingOver);
                await HandOver(bound.Token).ConfigureAwait(false);
                why = await Commit().ConfigureAwait(false);
                if (why.Length == 0)
                {
                    return;
                }
            }
            else
            {
                why = "Something in it is not this worker's, or is being moved by another plan.";
            }
        }
        catch (OperationCanceledException) when (!worker.Stopping.IsCancellationRequested)
        {
            why = $"It did not come to rest within {Bound.TotalSeconds:0} s; try again.";
        }

        // M4: first the plan, then the freeze. A plan that the store has forgotten may have been committed (M6).
        var cancelled = await store.Plans.Cancel(plan.Id, why, worker.Stopping).ConfigureAwait(false);
        var elsewhere = cancelled.IsDone
            ? []
            : await ReadMoved(_node, directory, plan.Keys, worker.Stopping).ConfigureAwait(false);
        await Unfreeze(_node, plan.Id, plan.Keys, elsewhere).ConfigureAwait(false);
        progress.Enter(MigrationPhase.Cancelled);
    }

    private async Task<bool> Freeze()
    {
        var frozen = await _node.Ask(() =>
        {
            _node.OpenFreezes[plan.Id] = plan.Keys; // first: whatever becomes of this run, what it has frozen until then is let go
            foreach (var key in plan.Keys)
            {
                if (!_node.Ownership.Freeze(key, plan.Id))
                {
                    return false;
                }
            }

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
            await OnEach(executor =>
            {
                var done = worker.Background.Promise<bool>();
                executor.PostOutside(new WorkItem
                {
                    Kind = WorkKind.Run,
                    Extra = (Action)(() =>
                    {
                        executor.SendLateNow();
                        done.TrySet(true);
                    }),
                });
                return done.Task;
            }).ConfigureAwait(false);
        }
    }

    /// <summary>Asks all executors at once, and waits for all.</summary>
    private async Task OnEach(Func<Executor, Task> ask)
    {
        var asked = new List<Task>();
        foreach (var executor in worker.Executors)
        {
            asked.Add(ask(executor));
        }

        foreach (var task in asked)
        {
            await task.WaitAsync(worker.Stopping).ConfigureAwait(false);
        }
    }

    /// <summary>M3: the master's answer comes behind all parts that it numbered before; a master that changes meanwhile is asked again.</summary>
    private async Task FreezeAtMaster(CancellationToken cancellation)
    {
        _node.Requests.Barrier();
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
    private async Task Drain(CancellationToken cancellation)
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
        while (!await _node.Ask(() => worker.Final >= last && !IsVisited()).ConfigureAwait(false))
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }
    }

    private bool IsVisited()
    {
        if (worker.Commits.TakesActsBack)
        {
            return true; // A5: its next round may load one of them here again, when it is another's
        }

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

    /// <summary>M5: all of it is durable, and checkpointed into what the target reads, with all outcomes until now. Its cells leave memory.</summary>
    private async Task HandOver(CancellationToken cancellation)
    {
        await Behind().ConfigureAwait(false);
        // What they must wait for is known when they are looked at first: then the log's end below is behind it, and they leave at once when they are checkpointed.
        await OnEach(executor => TryLeave(executor, cancellation)).ConfigureAwait(false);
        var last = worker.Log.LastSequence;
        await worker.Log.Drain(cancellation).ConfigureAwait(false);
        while (worker.Commits.CheckpointedThrough < last)
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }

        while (!await worker.Checkpoints.CheckpointOf(_moving.Contains, isUrgent: true).WaitAsync(cancellation).ConfigureAwait(false))
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false); // the store failed: states would be missed below, outcomes not (I2)
        }

        await OnEach(executor => Leave(executor, cancellation)).ConfigureAwait(false);
    }

    private async Task Leave(Executor executor, CancellationToken cancellation)
    {
        while (!await TryLeave(executor, cancellation).ConfigureAwait(false))
        {
            await Background.Pause(s_look, worker.Time, cancellation).ConfigureAwait(false);
        }
    }

    private Task<bool> TryLeave(Executor executor, CancellationToken cancellation)
    {
        var left = worker.Background.Promise<bool>();
        executor.PostRun(() => left.TrySet(executor.TryLeave(actor => _node.Ownership.Look(actor).Plan == plan.Id)));
        return left.Task.WaitAsync(cancellation);
    }

    /// <summary>M6: from here on it is the target's.</summary>
    /// <returns>Empty: it is done; else why it cannot be.</returns>
    private async Task<string> Commit()
    {
        IReadOnlyList<DirectoryEntry>? moved = null;
        while (moved is null)
        {
            try
            {
                var committed = await store.Plans.Commit(plan.Id, worker.Stopping).ConfigureAwait(false);
                if (!committed.IsDone)
                {
                    return $"It could not be committed: {committed.Detail}.";
                }

                moved = committed.Status == ClusterStatus.Done ? committed.Value! : await ReadMoved(_node, directory, plan.Keys, worker.Stopping).ConfigureAwait(false);
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                await Background.Pause(s_look, worker.Time, worker.Stopping).ConfigureAwait(false); // nobody knows whether it is done: the same again tells
            }
        }

        await Unfreeze(_node, plan.Id, plan.Keys, moved).ConfigureAwait(false);
        progress.Enter(MigrationPhase.Done);
        await OnEach(RequireNothingLeft).ConfigureAwait(false);
        return "";
    }

    /// <summary>M7: of what has moved nothing is under way here, or there are two owners.</summary>
    private Task RequireNothingLeft(Executor executor)
    {
        var looked = worker.Background.Promise<bool>();
        executor.PostRun(() =>
        {
            if (executor.FindInUse(actor => _moving.Contains(actor) && _node.Ownership.Look(actor).State == OwnershipState.NotOwned) is { } actor)
            {
                worker.Fail(new ProtocolViolationException($"{actor} has moved with plan {plan.Id}, and something is under way on it here (M4, M7)."));
            }

            looked.TrySet(true);
        });
        return looked.Task;
    }

    /// <summary>
    /// Where keys are now, when the answer that said so is lost. The master, too, must hear of it before it hears that they are frozen no more: else it would number for their
    /// old owner (M7).
    /// </summary>
    public static async Task<IReadOnlyList<DirectoryEntry>> ReadMoved(ClusterNode node, DirectoryFollower directory, IReadOnlyList<DirectoryKey> keys, CancellationToken cancellation)
    {
        await directory.Read(cancellation).ConfigureAwait(false);
        return await node.Ask(() =>
        {
            var entries = new List<DirectoryEntry>();
            foreach (var key in keys)
            {
                if ((key.Actor is { } actor ? node.Directory.Find(actor) : node.Directory.Find(key.Partition)) is { } entry)
                {
                    entries.Add(entry);
                }
            }

            return entries;
        }).ConfigureAwait(false);
    }

    /// <summary>
    /// A plan has ended. This worker does not own what has moved with it; the rest, and what has come back since and was never read as moved, is as before, here and at
    /// the master.
    /// </summary>
    /// <param name="node">This worker's place among the others.</param>
    /// <param name="plan">Its id.</param>
    /// <param name="keys">What it named.</param>
    /// <param name="moved">Where that is now.</param>
    public static async Task Unfreeze(ClusterNode node, string plan, IReadOnlyList<DirectoryKey> keys, IReadOnlyList<DirectoryEntry> moved)
    {
        await node.Ask(() =>
        {
            node.Apply(moved);
            foreach (var key in keys)
            {
                node.Ownership.Unfreeze(key, plan);
            }

            return node.OpenFreezes.Remove(plan);
        }).ConfigureAwait(false);
        EndForOthers(node, plan, moved);
    }

    /// <summary>The others hear of what has moved, and the master of that before it hears that it is frozen no more (M7): the same master, though another may come meanwhile.</summary>
    private static void EndForOthers(ClusterNode node, string plan, IReadOnlyList<DirectoryEntry> moved)
    {
        var (master, epoch) = (node.Requests.Master, node.Requests.MasterEpoch);
        if (moved.Count > 0)
        {
            node.TellMoved(moved, master);
        }

        node.Send(master, new FreezeMessage(epoch, plan, []));
    }
}
