using Snapper.Cluster.Node;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Membership;
using Snapper.Storage.Recovery;

namespace Snapper.Cluster.Recovering;

/// <summary>
/// Finds out what became of what was prepared in a stream that is recovered (R2): asks the master for batches, the root's worker for ACTs, and reads the streams of those that
/// are dead, always after fencing them.
/// </summary>
internal sealed class InDoubtResolver(PeerMessenger gate, IClusterStore store, MasterElection seat, TimeProvider time)
{
    private static readonly TimeSpan s_answer = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(50);

    /// <summary>Returns when all are known; in the order of the question. Nothing may open before.</summary>
    /// <param name="doubts">What is in doubt.</param>
    /// <param name="patience">
    /// For how long it asks about each while the store answers; null: for as long as it takes. Twice as long when the one that is asked has a lower
    /// number: of workers that wait for each other in a ring the lowest gives up first, and the one that waits for it sees its lease run out and learns the answer.
    /// </param>
    /// <param name="cancellation">Gives up.</param>
    /// <exception cref="UnsettledException">The patience is over.</exception>
    public async Task<bool[]> Resolve(IReadOnlyList<InDoubt> doubts, TimeSpan? patience, CancellationToken cancellation)
    {
        var verdicts = new bool[doubts.Count];
        for (var i = 0; i < verdicts.Length; i++)
        {
            verdicts[i] = doubts[i].Record switch
            {
                Prepared batch => await Repeat(
                    batch.Global.Value, () => OfBatch(batch.Global, cancellation), patience,
                    $"global batch {batch.Global}", cancellation).ConfigureAwait(false),
                ActPrepared act => await Repeat(
                    act.Transaction.Value, () => AskOfAct(act.Transaction, act.Root, cancellation), patience,
                    $"ACT {act.Transaction} of {act.Root}", cancellation).ConfigureAwait(false),
                var other => throw new ArgumentException($"A {other.GetType().Name} is not conditional.", nameof(doubts)),
            };
        }

        return verdicts;
    }

    /// <summary>What became of an ACT that this worker, or one that it rescues, has voted for.</summary>
    public Task<bool> OfAct(TransactionId act, Incarnation root, CancellationToken cancellation) =>
        Repeat(act.Value, () => AskOfAct(act, root, cancellation), null, "", cancellation);

    private async Task<bool> Repeat(
        long number, Func<Task<(bool? Verdict, int Asked)>> look, TimeSpan? patience, string what,
        CancellationToken cancellation)
    {
        try
        {
            return await Repeat(look, patience, what, cancellation).ConfigureAwait(false);
        }
        finally
        {
            gate.EndAsking(number);
        }
    }

    private async Task<bool> Repeat(
        Func<Task<(bool? Verdict, int Asked)>> look, TimeSpan? patience, string what, CancellationToken cancellation)
    {
        long? since = null;
        while (true)
        {
            try
            {
                var (said, asked) = await look().ConfigureAwait(false);
                if (said is { } verdict)
                {
                    return verdict;
                }

                since ??= time.GetTimestamp();
                var isLower = asked < store.Self.Worker;
                if (time.GetElapsedTime(since.Value) >= (isLower ? patience * 2 : patience))
                {
                    throw new UnsettledException($"What became of {what} was not said in time by w{asked}, which knows.");
                }
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                since = null; // every look may be repeated; while the store is away nobody could take over
            }

            await Background.Pause(s_pause, time, cancellation).ConfigureAwait(false);
        }
    }

    private async Task<(bool? Verdict, int Asked)> OfBatch(BatchId batch, CancellationToken cancellation)
    {
        if (seat.TryDecide(batch) is { } known)
        {
            return (known, store.Self.Worker);
        }

        var master = await store.Master.Read(cancellation).ConfigureAwait(false);
        if (master.IsHeld && (master.Holder != store.Self || seat.Held is not null))
        {
            return (await gate.Ask(master.Holder, batch.Value, default, s_answer, time, cancellation).ConfigureAwait(false), master.Holder.Worker);
        }

        await seat.TryTake(cancellation).ConfigureAwait(false); // R2: the new master reads the global stream
        return (null, store.Self.Worker);
    }

    private async Task<(bool? Verdict, int Asked)> AskOfAct(TransactionId act, Incarnation root, CancellationToken cancellation) =>
        (await TryOfAct(act, root, cancellation).ConfigureAwait(false), root.Worker);

    private async Task<bool?> TryOfAct(TransactionId act, Incarnation root, CancellationToken cancellation)
    {
        if (gate.Decided(act, root) is { } known)
        {
            return known;
        }

        foreach (var member in await store.Members.Read(cancellation).ConfigureAwait(false))
        {
            if (member.Incarnation.Worker != root.Worker)
            {
                continue;
            }

            if (member.State == MemberState.Live)
            {
                // The root in its own life, or a later life, which has read what the earlier one wrote.
                return await gate.Ask(member.Incarnation, act.Value, root, s_answer, time, cancellation).ConfigureAwait(false);
            }

            if (!member.Rescuer.IsNone && member.Rescuer != store.Self
                && await gate.Ask(member.Rescuer, act.Value, root, s_answer, time, cancellation).ConfigureAwait(false) is { } verdict)
            {
                return verdict;
            }

            await FenceAndRead(member.Incarnation, cancellation).ConfigureAwait(false);
        }

        return null;
    }

    /// <summary>Always fence before reading absence (R2).</summary>
    private async Task FenceAndRead(Incarnation worker, CancellationToken cancellation)
    {
        var fenced = await store.Members.Fence(worker, FenceWhen.LeaseExpired, cancellation).ConfigureAwait(false);
        if (!fenced.IsDone)
        {
            return;
        }

        await using var rescue = fenced.Value!;
        var decided = new List<TransactionId>();
        var records = LogRecovery.ReadAll(rescue.Log, rescue.Opening, cancellation);
        await foreach (var record in records.ConfigureAwait(false))
        {
            if (record is ActCommitted { Participants.Count: > 0 } act)
            {
                decided.Add(act.Transaction);
            }
        }

        gate.Read(worker.Worker, rescue.Opened.Epoch, decided);
    }
}

/// <summary>What is in doubt could not be settled in time, although the store answers.</summary>
internal sealed class UnsettledException(string message) : Exception(message);
