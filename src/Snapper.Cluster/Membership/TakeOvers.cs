using System.Collections.Concurrent;
using Snapper.Cluster.Branches;
using Snapper.Cluster.Node;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.Recovery;

namespace Snapper.Cluster.Membership;

/// <summary>
/// Takes the actors of dead workers over (R4): fence, read the stream to its end, resolve what is in doubt, checkpoint all of it, and then give the entries to those who live. One
/// dead worker at a time; each step may be repeated, by anyone.
/// </summary>
internal sealed class TakeOvers(
    Worker worker, IBranchNode node, IClusterStore store, DirectoryFollower directory,
    Func<IReadOnlyList<Member>> members) : IAsyncDisposable
{
    /// <summary>
    /// After which a take-over that met damage is tried again; twice as long each time that reads the log.
    /// </summary>
    internal static readonly TimeSpan TriedAgain = TimeSpan.FromSeconds(5);

    /// <summary>Longest pause between two readings of a log that is damaged itself.</summary>
    internal static readonly TimeSpan TriedAgainMost = TimeSpan.FromMinutes(1);

    private readonly IBranchNode _node = node;
    private readonly ConcurrentDictionary<int, Damage> _damaged = []; // by number
    private readonly ConcurrentDictionary<int, Unfinished> _unfinished = []; // by number
    private Task _running = Task.CompletedTask;
    private readonly Dictionary<Incarnation, Task> _evicting = []; // each of its own: a take-over may wait for the very worker that has to be evicted (R2, R5)

    /// <summary>When the take-over of a life met damage last, what it is, and how long the next one waits.</summary>
    private sealed record Damage(Incarnation Dead, long Found, string What, TimeSpan Pause);

    /// <summary>
    /// A take-over that is over but for actors whose places are damaged. No other life writes to the log while it is
    /// open here, so that what was read of it once stays true.
    /// </summary>
    private sealed record Unfinished(Rescue Rescue, SettledRecovery Settled);

    /// <summary>Begins a take-over if somebody needs it and none is under way.</summary>
    public void Look(IReadOnlyList<Member> all)
    {
        if (!_running.IsCompleted)
        {
            return;
        }

        foreach (var (number, unfinished) in _unfinished)
        {
            if (IsOver(unfinished.Rescue, all))
            {
                _running = worker.Background.Run(() => Keep(number, null));
                return;
            }
        }

        foreach (var member in all)
        {
            // One that owned nothing is fenced as well: a new master, ACTs and plans may wait for it (R3).
            if (member.Incarnation.Worker != _node.Self.Worker
                && !IsEvicting(member.Incarnation)
                && !IsRescuedByAnother(member, all)
                && (member.State == MemberState.Expired || (member.State == MemberState.Fenced && member.Entries > 0))
                && !(_damaged.TryGetValue(member.Incarnation.Worker, out var damage)
                    && damage.Dead == member.Incarnation
                    && worker.Time.GetElapsedTime(damage.Found) < damage.Pause))
            {
                _running = worker.Background.Run(() => Run(member, FenceWhen.LeaseExpired));
                return;
            }
        }
    }

    /// <summary>The dead worker lives again, has left, or another rescues it.</summary>
    private bool IsOver(Rescue rescue, IReadOnlyList<Member> all)
    {
        foreach (var member in all)
        {
            if (member.Incarnation.Worker == rescue.Fenced.Worker)
            {
                return member.Incarnation != rescue.Fenced
                    || member.State is MemberState.Live or MemberState.Left
                    || IsRescuedByAnother(member, all);
            }
        }

        return false;
    }

    /// <summary>Another that lives is at it: who else is dead must not wait for that.</summary>
    private bool IsRescuedByAnother(Member dead, IReadOnlyList<Member> all)
    {
        if (dead.State != MemberState.Fenced || dead.Rescuer.IsNone || dead.Rescuer == _node.Self)
        {
            return false;
        }

        foreach (var other in all)
        {
            if (other.Incarnation == dead.Rescuer)
            {
                return other.State == MemberState.Live;
            }
        }

        return false;
    }

    /// <summary>Fences a worker whose lease lives, and takes its actors over (R5).</summary>
    /// <returns>False: that is under way.</returns>
    public bool TryEvict(Member unreachable)
    {
        if (IsEvicting(unreachable.Incarnation))
        {
            return false;
        }

        RuntimeLog.Evicting(worker.Logger, unreachable.Incarnation.ToString());
        _evicting[unreachable.Incarnation] = worker.Background.Run(() => Run(unreachable, FenceWhen.Always));
        return true;
    }

    private bool IsEvicting(Incarnation other)
    {
        if (!_evicting.TryGetValue(other, out var eviction))
        {
            return false;
        }

        if (eviction.IsCompleted)
        {
            _evicting.Remove(other);
        }

        return !eviction.IsCompleted;
    }

    public async ValueTask DisposeAsync()
    {
        await _running.ConfigureAwait(false);
        foreach (var eviction in _evicting.Values)
        {
            await eviction.ConfigureAwait(false);
        }

        foreach (var number in _unfinished.Keys)
        {
            await Keep(number, null).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Keeps what is left of a take-over, or nothing, in place of what was kept of one of the same worker.
    /// </summary>
    private async Task Keep(int number, Unfinished? unfinished)
    {
        _unfinished.TryRemove(number, out var earlier);
        if (unfinished is not null)
        {
            _unfinished[number] = unfinished;
        }

        if (earlier is not null && earlier.Rescue != unfinished?.Rescue)
        {
            await earlier.Rescue.DisposeAsync().ConfigureAwait(false);
        }
    }

    private async Task Run(Member dead, FenceWhen when)
    {
        try
        {
            if (_unfinished.TryGetValue(dead.Incarnation.Worker, out var left)
                && left.Rescue.Fenced == dead.Incarnation)
            {
                await Finish(left).ConfigureAwait(false);
            }
            else
            {
                await TakeOver(dead, when).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            // The next look begins again.
        }
        catch (LogLostException lost) when (lost.Status == AppendStatus.Fenced)
        {
            // Another worker rescues it, or it has come back itself.
        }
        catch (CorruptLogException damage)
        {
            // What it owned is out of reach until an operator has put its storage right. Those who live go on; if they stopped for it, nobody would be left.
            Damaged(dead.Incarnation, damage.Message, readsAll: true);
            RuntimeLog.TakeOverDamaged(worker.Logger, dead.Incarnation.ToString(), damage.Message);
        }
        catch (Exception exception)
        {
            worker.Fail(exception);
        }
    }

    /// <summary>The take-over is tried again later.</summary>
    /// <param name="dead">The dead life.</param>
    /// <param name="what">What is damaged.</param>
    /// <param name="readsAll">The next try reads the whole log: the more of them have failed, the later it is.</param>
    private void Damaged(Incarnation dead, string what, bool readsAll)
    {
        var pause = readsAll && _damaged.TryGetValue(dead.Worker, out var before) && before.Dead == dead
            ? TimeSpan.FromTicks(Math.Min(before.Pause.Ticks * 2, TriedAgainMost.Ticks))
            : TriedAgain;
        _damaged[dead.Worker] = new Damage(dead, worker.Time.GetTimestamp(), what, pause);
    }

    private async Task TakeOver(Member dead, FenceWhen when)
    {
        var fenced = await store.Members.Fence(dead.Incarnation, when, worker.Stopping).ConfigureAwait(false);
        if (fenced.Status == ClusterStatus.Lost)
        {
            throw new CorruptLogException(fenced.Detail); // deleted alone, it is as one that is damaged
        }

        if (!fenced.IsDone)
        {
            return; // it lives, or another is at it
        }

        var rescue = fenced.Value!;
        Unfinished? unfinished = null;
        try
        {
            unfinished = await TakeOver(rescue).ConfigureAwait(false);
        }
        finally
        {
            await Keep(rescue.Fenced.Worker, unfinished).ConfigureAwait(false);
            if (unfinished is null)
            {
                await rescue.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    /// <returns>What is left to do, if anything is.</returns>
    private async Task<Unfinished?> TakeOver(Rescue rescue)
    {
        RuntimeLog.TakingOver(worker.Logger, rescue.Fenced.ToString());
        _node.Gate.Hub.Retire(rescue.Fenced);
        var recovered = await LogRecovery.Run(rescue.Log, rescue.States, rescue.Opening, NoSink.Instance, worker.Time, worker.Stopping, mayReturn: true).ConfigureAwait(false);
        var decided = new List<TransactionId>();
        foreach (var act in recovered.ActsWithOthers)
        {
            decided.Add(act.Transaction);
        }

        _node.Gate.Read(rescue.Fenced.Worker, rescue.Opened.Epoch, decided);
        var verdicts = await _node.Doubts.Resolve(recovered.InDoubt, null, worker.Stopping).ConfigureAwait(false);
        var settled = await Settlement.Run(rescue.Log, rescue.States, rescue.Opening, recovered, verdicts, worker.Time, worker.Stopping).ConfigureAwait(false);
        await LogRecovery.Copy(rescue.States, rescue.Opened.Epoch, recovered.With(settled.Outcomes).Outcomes, worker.Stopping).ConfigureAwait(false);

        await Divide(rescue, settled.Recovered.SetAside).ConfigureAwait(false);
        RuntimeLog.TakenOver(worker.Logger, rescue.Fenced.ToString(), recovered.Records, verdicts.Length);
        _node.First.PostRun(() =>
        {
            _node.Requests.TellResolved(rescue.Fenced);
            _node.Decisions.Kept?.Forget(rescue.Fenced.Worker);
        });
        return Left(rescue, settled);
    }

    /// <summary>
    /// Tries to store what was set aside, and gives the entries away that waited for it. The log is not read for it,
    /// unless something else fails: then what has reached the store is unknown, and the next try begins anew.
    /// </summary>
    private async Task Finish(Unfinished unfinished)
    {
        var rescue = unfinished.Rescue;
        Unfinished? left = null;
        try
        {
            var (opening, _, recovered) = unfinished.Settled;
            var setAside = await LogRecovery.Store(
                rescue.States, rescue.Opened.Epoch, recovered.SetAside, worker.Stopping).ConfigureAwait(false);
            var settled = await Settlement.Run(
                rescue.Log, rescue.States, opening, recovered with { SetAside = setAside }, [], worker.Time,
                worker.Stopping).ConfigureAwait(false);
            if (settled.Recovered.SetAside.Count < recovered.SetAside.Count)
            {
                await Divide(rescue, settled.Recovered.SetAside).ConfigureAwait(false);
            }

            left = Left(rescue, settled);
            if (left is null)
            {
                Damaged(rescue.Fenced, "", readsAll: false); // who is looked at next may be known as of before this
                RuntimeLog.TakenOver(worker.Logger, rescue.Fenced.ToString(), recovered.Records, 0);
            }
        }
        finally
        {
            await Keep(rescue.Fenced.Worker, left).ConfigureAwait(false);
        }
    }

    private Unfinished? Left(Rescue rescue, SettledRecovery settled)
    {
        var setAside = settled.Recovered.SetAside;
        if (setAside.Count == 0)
        {
            return null;
        }

        // It is said once: the next tries find the same, and cost little.
        var what = setAside[0].Damage;
        if (!_damaged.TryGetValue(rescue.Fenced.Worker, out var before) || before.What != what)
        {
            RuntimeLog.TakeOverDamaged(worker.Logger, rescue.Fenced.ToString(), what);
        }

        Damaged(rescue.Fenced, what, readsAll: false);

        // What is copied already is not kept, for as long as a place is damaged.
        var kept = settled.Recovered with { Outcomes = [], Decisions = [], MovedIn = [], ActsWithOthers = [] };
        return new Unfinished(rescue, settled with { Outcomes = [], Recovered = kept });
    }

    /// <summary>
    /// Everybody who lives gets a share; those who have little already, first. What places an actor that was set aside
    /// stays with the dead life: its changes are in that log alone, and it is opened only when they are checkpointed
    /// (R4).
    /// </summary>
    private async Task Divide(Rescue rescue, IReadOnlyList<SetAside> setAside)
    {
        await directory.Read(worker.Stopping).ConfigureAwait(false);
        var entries = await _node.Ask(() =>
        {
            var owned = new List<DirectoryEntry>();
            _node.Directory.AddOwnedBy(rescue.Fenced.Worker, owned);
            foreach (var damaged in setAside)
            {
                var key = _node.Directory.Find(damaged.Actor)?.Key;
                owned.RemoveAll(entry => entry.Key == key);
            }

            return owned;
        }).ConfigureAwait(false);
        var targets = new List<Incarnation>();
        foreach (var member in members())
        {
            if (member.State == MemberState.Live && member.Incarnation.Worker != rescue.Fenced.Worker)
            {
                targets.Add(member.Incarnation);
            }
        }

        if (targets.Count == 0)
        {
            targets.Add(_node.Self);
        }

        for (var target = 0; target < targets.Count; target++)
        {
            var keys = new List<DirectoryKey>();
            for (var i = target; i < entries.Count; i += targets.Count)
            {
                keys.Add(entries[i].Key);
            }

            for (var at = 0; at < keys.Count; at += ClusterOptions.KeysPerCall)
            {
                await Give(rescue, keys.GetRange(at, Math.Min(ClusterOptions.KeysPerCall, keys.Count - at)), targets[target]).ConfigureAwait(false);
            }
        }
    }

    private async Task Give(Rescue rescue, List<DirectoryKey> keys, Incarnation target)
    {
        var given = await store.Directory.TakeOver(rescue, keys, target, worker.Stopping).ConfigureAwait(false);
        if (given.Status == ClusterStatus.Stale && target != _node.Self)
        {
            given = await store.Directory.TakeOver(rescue, keys, _node.Self, worker.Stopping).ConfigureAwait(false); // the target died meanwhile
        }

        if (!given.IsDone)
        {
            throw given.Status == ClusterStatus.Fenced
                ? new LogLostFailure(AppendStatus.Fenced, $"{_node.Self} was fenced while it took {rescue.Fenced} over: {given.Detail}")
                : new IOException($"The take-over of {rescue.Fenced} did not go on ({given.Status}): {given.Detail}");
        }
    }

    private sealed class NoSink : IRecoverySink
    {
        public static NoSink Instance { get; } = new();

        public void Outcome(OutcomeRecord outcome, long sequence)
        {
            // They are in the summary.
        }
    }
}
