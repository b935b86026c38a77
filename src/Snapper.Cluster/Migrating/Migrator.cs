using System.Collections.Concurrent;
using Snapper.Cluster.Node;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Migrating;

/// <summary>
/// Sees to it that plans whose source this worker is are carried out, one after another, whatever interrupts them, and that no freeze outlives its plan. Plans of sources or
/// targets that are gone are cancelled by every worker that sees it (M4).
/// </summary>
internal sealed class Migrator(Worker worker, IMigratingNode node, IClusterStore store, DirectoryFollower directory)
    : IAsyncDisposable
{
    private const int MaxShown = 1000;

    private readonly IMigratingNode _node = node;
    private readonly MigrationNotes _notes = new(worker, store);
    private readonly ConcurrentDictionary<string, MigrationProgress> _progress = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, bool> _damaged = new(StringComparer.Ordinal); // logged already
    private readonly Queue<string> _shown = [];
    private Task _run = Task.CompletedTask;
    private volatile bool _isOwed;

    /// <summary>The plans that this worker carries out, or has, for those that look inside.</summary>
    internal IReadOnlyCollection<MigrationProgress> Progress => (IReadOnlyCollection<MigrationProgress>)_progress.Values;

    /// <summary>Open plans have changed: begins those that are this worker's, and cancels those that nobody can carry out.</summary>
    public async Task Look(IReadOnlyList<Member> members, CancellationToken cancellation)
    {
        foreach (var what in await store.Plans.ReadDamaged(cancellation).ConfigureAwait(false))
        {
            NoteDamaged(what);
        }

        var plans = await store.Plans.ReadOpen(cancellation).ConfigureAwait(false);
        var isMine = false;
        foreach (var open in plans)
        {
            var plan = open.Plan;
            if (IsGone(plan.From, members) || IsGone(plan.To, members))
            {
                var gone = IsGone(plan.From, members) ? plan.From : plan.To;
                await store.Plans.Cancel(plan.Id, $"{gone} is gone.", cancellation).ConfigureAwait(false);
            }
            else
            {
                isMine |= plan.From == _node.Self;
            }
        }

        CountFrozen();
        if (!_run.IsCompleted)
        {
            _isOwed = true; // it may have asked what is next before these were there
            return;
        }

        // Also for a freeze that a run has left when the store's absence interrupted it, whatever became of its plan since.
        var isOwed = isMine || await _node.Ask(() => _node.OpenFreezes.Count > 0).ConfigureAwait(false);
        _isOwed = false;
        if (isOwed)
        {
            _run = worker.Background.Run(RunAll);
        }
    }

    /// <summary>Something is under way, or was not heard of when it was asked: look again even if no plan has changed.</summary>
    public bool IsBusy => _isOwed || !_run.IsCompleted;

    /// <summary>Open plans with all that they name: a new master numbers for none of it (R3).</summary>
    public async Task<IReadOnlyList<MigrationPlan>> ReadOpen(CancellationToken cancellation)
    {
        var plans = new List<MigrationPlan>();
        foreach (var open in await store.Plans.ReadOpen(cancellation).ConfigureAwait(false))
        {
            if (await Find(open.Plan.Id, cancellation).ConfigureAwait(false) is { State: PlanState.Planned } record)
            {
                plans.Add(record.Plan);
            }
        }

        return plans;
    }

    public async ValueTask DisposeAsync()
    {
        await _run.ConfigureAwait(false);
        await _notes.Written().ConfigureAwait(false);
    }

    private void NoteDamaged(string what)
    {
        if (_damaged.TryAdd(what, true))
        {
            RuntimeLog.PlanDamaged(worker.Logger, what);
        }
    }

    /// <summary>A plan with its keys; null: there is none, or it is damaged, and nothing commits it.</summary>
    private async Task<PlanRecord?> Find(string id, CancellationToken cancellation)
    {
        try
        {
            return await store.Plans.Find(id, cancellation).ConfigureAwait(false);
        }
        catch (CorruptLogException damage)
        {
            NoteDamaged(damage.Message);
            return null;
        }
    }

    /// <summary>
    /// A life that the members do not name yet has registered since they were read: it has not ended.
    /// </summary>
    private static bool IsGone(Incarnation worker, IReadOnlyList<Member> members)
    {
        foreach (var member in members)
        {
            if (member.Incarnation.Worker == worker.Worker)
            {
                // One whose lease has run out need not be waited for until it is fenced: its plans would keep what they name frozen so long.
                var lives = member.CurrentEpoch == worker.Epoch && member.State == MemberState.Live;
                return member.Incarnation.Epoch > worker.Epoch || (member.Incarnation == worker && !lives);
            }
        }

        return false;
    }

    /// <summary>For people: looks at the requests under way once a look, so that no request has to be counted where it waits.</summary>
    private void CountFrozen()
    {
        foreach (var (plan, progress) in _progress)
        {
            if (!progress.IsFrozen)
            {
                continue;
            }

            var frozen = 0;
            foreach (var request in worker.RequestManager.UnderWay())
            {
                frozen += request.Phase == TransactionPhase.Waiting && !request.IsAnswered && WaitsFor(request, plan) ? 1 : 0;
            }

            progress.Counted(frozen);
        }
    }

    private bool WaitsFor(Request request, string plan)
    {
        if (_node.Ownership.Look(request.Asked.Actor).Plan == plan)
        {
            return true;
        }

        foreach (var access in request.Declared ?? [])
        {
            if (_node.Ownership.Look(access.Actor).Plan == plan)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// A run that the store's absence has interrupted has kept its freeze. Once its plan is not open any more, by this worker's own word, of whose arrival it did not hear, or by
    /// another's, no run begins it again: what is not the target's now is this worker's as before (M4).
    /// </summary>
    private async Task LetGoOfEnded(IReadOnlyList<PlanRecord> open)
    {
        var ended = await _node.Ask(() => new Dictionary<string, IReadOnlyList<DirectoryKey>>(_node.OpenFreezes, StringComparer.Ordinal)).ConfigureAwait(false);
        foreach (var plan in open)
        {
            ended.Remove(plan.Plan.Id);
        }

        foreach (var (id, keys) in ended)
        {
            // What has moved is no longer frozen here, but gone; the master hears of that before it hears that the plan has ended.
            var record = await Find(id, worker.Stopping).ConfigureAwait(false);
            var moved = await MigrationRun.ReadMoved(_node, directory, keys, worker.Stopping).ConfigureAwait(false);
            await _node.Ask(() =>
            {
                MigrationRun.Unfreeze(_node, id, keys, moved);
                return true;
            }).ConfigureAwait(false);
            if (_progress.TryGetValue(id, out var progress))
            {
                progress.Enter(record?.State == PlanState.Done ? MigrationPhase.Done : MigrationPhase.Cancelled);
            }
        }
    }

    /// <summary>Carries out the open plans of this worker one after another, in the order in which they were made: at any time little is frozen.</summary>
    private async Task RunAll()
    {
        try
        {
            while (await Next().ConfigureAwait(false) is { } plan && await TryRun(plan).ConfigureAwait(false))
            {
            }
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            Interrupt(); // it could not be asked what is next
        }
        catch (Exception exception)
        {
            worker.Fail(exception);
        }
    }

    /// <summary>Compares what this worker holds frozen with the open plans, and finds the first of these that it has to carry out.</summary>
    private async Task<MigrationPlan?> Next()
    {
        var plans = await store.Plans.ReadOpen(worker.Stopping).ConfigureAwait(false);
        await LetGoOfEnded(plans).ConfigureAwait(false);
        foreach (var open in plans)
        {
            if (open.Plan.From != _node.Self)
            {
                continue;
            }

            if (await Find(open.Plan.Id, worker.Stopping).ConfigureAwait(false) is { State: PlanState.Planned } record)
            {
                return record.Plan;
            }

            _isOwed = true; // it has ended since: the next look lets go of what is frozen for it
        }

        return null;
    }

    /// <returns>False: the store's absence, or damage of the plan, has interrupted it, and its freeze stays.</returns>
    private async Task<bool> TryRun(MigrationPlan plan)
    {
        try
        {
            await new MigrationRun(worker, _node, store, directory, plan, Show(plan)).Run().ConfigureAwait(false);
            return true;
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            Interrupt();
            return false;
        }
        catch (CorruptLogException)
        {
            foreach (var open in await store.Plans.ReadOpen(worker.Stopping).ConfigureAwait(false))
            {
                if (open.Plan.Id == plan.Id)
                {
                    throw; // it is not the plan that is damaged
                }
            }

            Interrupt(); // nothing commits it any more: the next look lets go of what is frozen for it
            return false;
        }
    }

    /// <summary>The next look begins again, where the plan stands.</summary>
    private void Interrupt()
    {
        _isOwed = true;
    }

    private MigrationProgress Show(MigrationPlan plan)
    {
        var progress = new MigrationProgress(plan.Id, plan.Keys.Count, worker.Time, _notes.Owe);
        if (!_progress.ContainsKey(plan.Id))
        {
            _shown.Enqueue(plan.Id);
        }

        _progress[plan.Id] = progress;
        while (_shown.Count > MaxShown)
        {
            _progress.TryRemove(_shown.Dequeue(), out _);
        }

        return progress;
    }
}
