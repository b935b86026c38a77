using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;

namespace Snapper.Storage.Recovery;

/// <summary>
/// The end of a recovery in which something was in doubt (R2, R4): markers for what was resolved, and what they make final checkpointed. By the restarted worker, or by
/// whoever takes its actors over, before any of them opens (H2). Repeats safely.
/// </summary>
public static class Settlement
{
    /// <summary>Writes the markers, and checkpoints.</summary>
    /// <param name="log">The log; opened.</param>
    /// <param name="store">Its state store.</param>
    /// <param name="opening">What opening told.</param>
    /// <param name="recovered">
    /// What recovery found; everything but what is in doubt and what was set aside is checkpointed.
    /// </param>
    /// <param name="verdicts">One per <see cref="RecoverySummary.InDoubt"/>, in the same order: true: it is committed.</param>
    /// <param name="time">For the log's writer.</param>
    /// <param name="cancellation">Gives up; the next recovery starts over.</param>
    /// <returns>The log as it stands then, and the outcomes that became true, with the records that hold them.</returns>
    /// <exception cref="CorruptLogException">
    /// The place of an actor is damaged whose change was in doubt and is committed: which version it makes is not
    /// known.
    /// </exception>
    /// <exception cref="LogLostException">Another writer opened the log meanwhile.</exception>
    /// <exception cref="IOException">Log or store refused, for want of room or memory; run again later.</exception>
    public static async Task<(LogOpening Opening, IReadOnlyList<(OutcomeRecord Outcome, long Sequence)> Outcomes)> Run(
        ITransactionLog log, IStateStore store, LogOpening opening, RecoverySummary recovered, IReadOnlyList<bool> verdicts, TimeProvider time,
        CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(store);
        ArgumentNullException.ThrowIfNull(opening);
        ArgumentNullException.ThrowIfNull(recovered);
        ArgumentNullException.ThrowIfNull(verdicts);
        ArgumentNullException.ThrowIfNull(time);
        if (verdicts.Count != recovered.InDoubt.Count)
        {
            throw new ArgumentException($"{verdicts.Count} verdicts on {recovered.InDoubt.Count} records.", nameof(verdicts));
        }

        if (recovered.InDoubt.Count == 0)
        {
            return (opening, []);
        }

        var setAside = recovered.SetAside.ToDictionary(one => one.Actor);
        var versions = new Dictionary<ActorKey, long>();
        var checkpoints = new Dictionary<ActorKey, PendingActor>();
        var outcomes = new List<(OutcomeRecord, long)>();
        var group = new GroupBuffer();
        try
        {
            for (var i = 0; i < verdicts.Count; i++)
            {
                var prepared = recovered.InDoubt[i];
                var given = new List<long>();
                for (var c = 0; verdicts[i] && c < prepared.Changes.Count; c++)
                {
                    if (setAside.TryGetValue(prepared.Changes[c].Actor, out var damaged))
                    {
                        // The version of the log's last change is not the actor's, if it was elsewhere meanwhile (M5).
                        throw new CorruptLogException(
                            $"A change of {damaged.Actor} was in doubt and is committed now, and its version cannot be "
                            + $"known: {damaged.Damage}");
                    }

                    given.Add(await Version(store, versions, prepared.Changes[c], checkpoints, cancellation).ConfigureAwait(false));
                }

                for (var o = 0; verdicts[i] && o < prepared.Outcomes.Count; o++)
                {
                    outcomes.Add((prepared.Outcomes[o].WithPayloadOfItsOwn(), prepared.Sequence));
                }

                RecordEncoder.Encode(MarkerOf(prepared.Record, verdicts[i], given), group);
            }

            // The markers first: a checkpoint without them would count once more when it is repeated.
            Check(await log.Append(opening.Epoch, opening.NextSequence, verdicts.Count, group.Written.ToArray(), cancellation).ConfigureAwait(false));
        }
        finally
        {
            group.Release();
        }

        var chunk = new List<StateCheckpoint>(checkpoints.Count);
        foreach (var (actor, pending) in checkpoints)
        {
            chunk.Add(pending.ToCheckpoint(actor));
        }

        Check(await store.Checkpoint(opening.Epoch, chunk, cancellation).ConfigureAwait(false));
        return (opening with { NextSequence = opening.NextSequence + verdicts.Count }, outcomes);
    }

    private static async Task<long> Version(
        IStateStore store, Dictionary<ActorKey, long> versions, ActorChange change, Dictionary<ActorKey, PendingActor> checkpoints, CancellationToken cancellation)
    {
        if (!versions.TryGetValue(change.Actor, out var version))
        {
            version = (await store.Load(change.Actor, cancellation).ConfigureAwait(false))?.Version ?? 0;
        }

        versions[change.Actor] = ++version;
        if (!checkpoints.TryGetValue(change.Actor, out var pending))
        {
            checkpoints.Add(change.Actor, pending = new PendingActor());
        }

        pending.Add(change with { Version = version });
        return version;
    }

    private static LogRecord MarkerOf(LogRecord prepared, bool committed, IReadOnlyList<long> versions) => prepared switch
    {
        Prepared batch => new Decided { Global = batch.Global, Committed = committed, Versions = versions },
        ActPrepared act => new ActEnded { Transaction = act.Transaction, Committed = committed, Versions = versions },
        _ => throw new ArgumentException($"A {prepared.GetType().Name} is not conditional.", nameof(prepared)),
    };

    private static void Check(AppendResult result)
    {
        switch (result.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                return;
            case AppendStatus.Refused:
                throw new IOException($"The log or its store refused what recovery settled: {result.Detail}");
            default:
                throw new LogLostException(result.Status, result.Detail);
        }
    }
}
