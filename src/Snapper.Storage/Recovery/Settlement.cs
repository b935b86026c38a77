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
    /// <remarks>
    /// The version of a change is the one behind what is stored, since the log's last one need not be the actor's
    /// (M5). Where the place of an actor is damaged its changes have none: the marker says so, and a later one gives it
    /// when the place is good. The record stays in the log until then (L8).
    /// </remarks>
    /// <param name="log">The log; opened.</param>
    /// <param name="store">Its state store.</param>
    /// <param name="opening">What opening told.</param>
    /// <param name="recovered">
    /// What recovery found; everything but what is in doubt and what was set aside is checkpointed.
    /// </param>
    /// <param name="verdicts">One per <see cref="RecoverySummary.InDoubt"/>, in the same order: true: it is committed.</param>
    /// <param name="time">For the log's writer.</param>
    /// <param name="cancellation">Gives up; the next recovery starts over.</param>
    /// <exception cref="CorruptLogException">
    /// Less is stored of an actor than the log has: its place was repaired, or lost, since the log was read.
    /// </exception>
    /// <exception cref="LogLostException">Another writer opened the log meanwhile.</exception>
    /// <exception cref="IOException">Log or store refused, for want of room or memory; run again later.</exception>
    public static async Task<SettledRecovery> Run(
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

        if (recovered.IsSettled)
        {
            return new SettledRecovery(opening, [], recovered);
        }

        var run = new Versions(store, recovered.SetAside, recovered.LastVersions);
        var outcomes = new List<(OutcomeRecord, long)>();
        var unversioned = new List<InDoubt>();
        var markers = 0;
        var group = new GroupBuffer();
        try
        {
            // Those of an earlier life are before all that is in doubt now, in the order of each actor.
            foreach (var prepared in recovered.Unversioned)
            {
                var given = await run.Give(prepared, cancellation).ConfigureAwait(false);
                if (given.Any(static version => version != InDoubt.NoVersion))
                {
                    RecordEncoder.Encode(prepared.MarkerOf(committed: true, given), group);
                    markers++;
                }

                AddLeft(unversioned, prepared, prepared.Unversioned.Where(i => given[i] == InDoubt.NoVersion));
            }

            for (var i = 0; i < verdicts.Count; i++, markers++)
            {
                var prepared = recovered.InDoubt[i];
                IReadOnlyList<long> given = [];
                if (verdicts[i])
                {
                    given = await run.Give(prepared, cancellation).ConfigureAwait(false);
                    AddLeft(
                        unversioned, prepared,
                        Enumerable.Range(0, given.Count).Where(c => given[c] == InDoubt.NoVersion));
                    foreach (var outcome in prepared.Outcomes)
                    {
                        outcomes.Add((outcome.WithPayloadOfItsOwn(), prepared.Sequence));
                    }
                }

                RecordEncoder.Encode(prepared.MarkerOf(verdicts[i], given), group);
            }

            // The markers first: a checkpoint without them would count once more when it is repeated.
            if (markers > 0)
            {
                var bytes = group.Written.ToArray();
                Check(await log.Append(opening.Epoch, opening.NextSequence, markers, bytes, cancellation)
                    .ConfigureAwait(false));
            }
        }
        finally
        {
            group.Release();
        }

        Check(await run.Checkpoint(opening.Epoch, cancellation).ConfigureAwait(false));
        return new SettledRecovery(
            opening with { NextSequence = opening.NextSequence + markers },
            outcomes,
            recovered.With(outcomes) with { InDoubt = [], SetAside = run.SetAside, Unversioned = unversioned });
    }

    private static void AddLeft(List<InDoubt> unversioned, InDoubt prepared, IEnumerable<int> left)
    {
        int[] those = [.. left];
        if (those.Length > 0)
        {
            unversioned.Add(prepared with { Unversioned = those });
        }
    }

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

    /// <summary>The versions that changes get, one after the other, and what is to be checkpointed with them.</summary>
    private sealed class Versions(
        IStateStore store, IReadOnlyList<SetAside> setAside, IReadOnlyDictionary<ActorKey, long> lastVersions)
    {
        private readonly Dictionary<ActorKey, SetAside> _setAside = setAside.Where(static one => one.Changes.IsPending)
            .ToDictionary(static one => one.Actor);
        private readonly Dictionary<ActorKey, long> _versions = [];
        private readonly Dictionary<ActorKey, PendingActor> _checkpoints = [];

        /// <summary>Actors that are set aside by now.</summary>
        public IReadOnlyList<SetAside> SetAside => [.. _setAside.Values];

        /// <summary>Versions of the changes of a committed record that have none.</summary>
        public async Task<long[]> Give(InDoubt prepared, CancellationToken cancellation)
        {
            var given = new long[prepared.Changes.Count];
            for (var i = 0; i < given.Length; i++)
            {
                if (prepared.Unversioned.Count == 0 || prepared.Unversioned.Contains(i))
                {
                    given[i] = await Give(prepared.Changes[i], cancellation).ConfigureAwait(false);
                }
            }

            return given;
        }

        public async Task<AppendResult> Checkpoint(long epoch, CancellationToken cancellation)
        {
            Dictionary<ActorKey, CorruptLogException> damaged = [];
            List<StateCheckpoint> chunk = [.. _checkpoints.Select(static one => one.Value.ToCheckpoint(one.Key))];
            var stored = await DamagedPlaces.Checkpoint(
                store, epoch, chunk, damaged, cancellation).ConfigureAwait(false);
            foreach (var (actor, damage) in damaged)
            {
                _setAside.Add(actor, new SetAside(actor, _checkpoints[actor], damage.Message)); // since it was read
            }

            return stored;
        }

        private async Task<long> Give(ActorChange change, CancellationToken cancellation)
        {
            if (_setAside.ContainsKey(change.Actor))
            {
                return InDoubt.NoVersion;
            }

            if (!_versions.TryGetValue(change.Actor, out var version))
            {
                try
                {
                    version = (await store.Load(change.Actor, cancellation).ConfigureAwait(false))?.Version ?? 0;
                }
                catch (CorruptLogException damage)
                {
                    _setAside.Add(change.Actor, new SetAside(change.Actor, new PendingActor(), damage.Message));
                    return InDoubt.NoVersion;
                }

                if (CheckpointRule.Lost(change.Actor, version, lastVersions) is { } lost)
                {
                    throw new CorruptLogException($"The log does not follow the stored states: {lost}");
                }
            }

            _versions[change.Actor] = ++version;
            if (!_checkpoints.TryGetValue(change.Actor, out var pending))
            {
                _checkpoints.Add(change.Actor, pending = new PendingActor());
            }

            pending.Add(change with { Version = version });
            return version;
        }
    }
}

/// <summary>What a settlement has made of a recovery.</summary>
/// <param name="Opening">The log as it stands then.</param>
/// <param name="Outcomes">Outcomes that became true, with the records that hold them.</param>
/// <param name="Recovered">What was recovered, these outcomes among it; nothing of it is in doubt.</param>
public sealed record SettledRecovery(
    LogOpening Opening, IReadOnlyList<(OutcomeRecord Outcome, long Sequence)> Outcomes, RecoverySummary Recovered);
