using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Checkpoints;

/// <summary>
/// What is durable and not checkpointed: coalesced changes, outcomes to be copied out, watermarks. A checkpoint takes a snapshot and in the
/// end forgets it or puts it back under what has come since. Not thread-safe; <see cref="Checkpointer"/> locks.
/// </summary>
internal sealed class DirtyActors
{
    private Dictionary<ActorKey, PendingActor> _dirty = [];
    private Dictionary<ActorKey, PendingActor> _taken = [];
    private List<OutcomeRecord> _outcomes;
    private LogWatermarks _marks;
    private readonly PreparedRecords _prepared = new();
    private readonly SortedSet<long> _held = [];
    private readonly HashSet<ActorKey> _unversioned = [];
    private readonly HashSet<ActorKey> _given = []; // of them, those whose markers are on their way to the log

    /// <param name="lastSequence">Number of the last record that recovery read, or wrote.</param>
    /// <param name="marks">Highest numbers so far.</param>
    /// <param name="outcomes">That recovery found.</param>
    /// <param name="setAside">What it could not store.</param>
    /// <param name="unversioned">What is committed and has no version yet.</param>
    public DirtyActors(
        long lastSequence, LogWatermarks marks, IReadOnlyList<OutcomeRecord> outcomes, IReadOnlyList<SetAside> setAside,
        IReadOnlyList<InDoubt> unversioned)
    {
        LastSequence = lastSequence;
        _marks = marks;
        _outcomes = [.. outcomes];
        foreach (var one in setAside)
        {
            if (one.Changes.IsPending)
            {
                _dirty.Add(one.Actor, one.Changes);
            }
        }

        foreach (var one in unversioned)
        {
            _prepared.Keep(one);
            _unversioned.UnionWith(one.Waiting);
        }
    }

    /// <summary>One checkpoint's share.</summary>
    public sealed record Snapshot(
        Dictionary<ActorKey, PendingActor> Actors, List<OutcomeRecord> Outcomes, LogWatermarks Watermarks, long LastSequence, long KeepFrom, long Bytes);

    /// <summary>Number of the last record taken in.</summary>
    public long LastSequence { get; private set; }

    /// <summary>Rough bytes of the records taken in since the last snapshot.</summary>
    public long Bytes { get; private set; }

    /// <summary>Actors with a change that is not checkpointed, a snapshot's included.</summary>
    public int Actors
    {
        get
        {
            var both = 0;
            foreach (var actor in _taken.Keys)
            {
                both += _dirty.ContainsKey(actor) ? 1 : 0;
            }

            return _dirty.Count + _taken.Count - both;
        }
    }

    /// <summary>True when a change of the actor is not checkpointed.</summary>
    public bool Holds(ActorKey actor) =>
        _dirty.ContainsKey(actor) || _taken.ContainsKey(actor) || _unversioned.Contains(actor);

    /// <summary>True: a change is committed and has no version yet.</summary>
    public bool HasUnversioned => _unversioned.Count > 0;

    /// <summary>Some actors of which a change has no version yet.</summary>
    /// <param name="which">Null: all.</param>
    public List<ActorKey> Unversioned(Func<ActorKey, bool>? which) =>
        [.. _unversioned.Where(actor => which?.Invoke(actor) != false)];

    /// <summary>
    /// The markers that give versions to the changes of actors that have none, behind what is stored of them. Each is
    /// given once; what was to be checkpointed of these actors before is.
    /// </summary>
    /// <param name="stored">The stored version of each.</param>
    public List<LogRecord> Give(Dictionary<ActorKey, long> stored)
    {
        foreach (var actor in stored.Keys)
        {
            if (!_given.Add(actor))
            {
                stored.Remove(actor);
            }
        }

        var markers = new List<LogRecord>();
        foreach (var one in _prepared.Unversioned)
        {
            var versions = new long[one.Changes.Count];
            foreach (var i in one.Unversioned)
            {
                if (stored.TryGetValue(one.Changes[i].Actor, out var version))
                {
                    stored[one.Changes[i].Actor] = versions[i] = version + 1;
                }
            }

            if (versions.Any(static version => version != InDoubt.NoVersion))
            {
                markers.Add(one.MarkerOf(committed: true, versions));
            }
        }

        return markers;
    }

    /// <summary>Takes in the next record.</summary>
    /// <exception cref="ProtocolViolationException">The number or an actor's version does not follow the one before it.</exception>
    public void Add(LogRecord record, long sequence)
    {
        if (sequence != LastSequence + 1)
        {
            throw new ProtocolViolationException($"The checkpointer was told of record {sequence} after {LastSequence}.");
        }

        LastSequence = sequence;
        Bytes += 64;
        switch (record)
        {
            case LocalBatchCommitted batch:
                _marks = _marks.Max(new LogWatermarks(batch.LastTransaction.Value, 0));
                Add(batch.Changes, sequence);
                for (var i = 0; i < batch.Outcomes.Count; i++)
                {
                    Add(batch.Outcomes[i]);
                }

                break;
            case ActCommitted act:
                _marks = _marks.Max(new LogWatermarks(0, act.Transaction.Counter));
                Add(act.Changes, sequence);
                if (act.Outcome is not null)
                {
                    Add(act.Outcome);
                }

                break;
            case Prepared prepared:
                _marks = _marks.Max(new LogWatermarks(prepared.LastTransaction.Value, 0));
                _prepared.Add(prepared, sequence);
                break;
            case ActPrepared:
                _prepared.Add(record, sequence);
                break;
            case Decided or ActEnded:
                if (!_prepared.TrySettle(record, sequence, out var settled))
                {
                    throw new ProtocolViolationException($"The checkpointer was told of marker {sequence}, and of nothing that it ends.");
                }

                Add(settled.Changes, sequence);
                for (var i = 0; i < settled.Outcomes.Count; i++)
                {
                    Add(settled.Outcomes[i]);
                }

                if (HasUnversioned)
                {
                    _unversioned.IntersectWith(_prepared.Unversioned.SelectMany(static one => one.Waiting));
                }

                break;
            case Decision or MovedIn:
                break; // nothing to checkpoint: the one says something of others, the other counts when its plan is done, and is checkpointed then
            default:
                throw new ProtocolViolationException($"The checkpointer knows no record of type {record.GetType().Name}.");
        }
    }

    /// <summary>
    /// L8: the log is kept from here on: from what is not taken in yet, from the oldest conditional record without its marker, and from what others may ask for.
    /// </summary>
    public long KeepFrom
    {
        get
        {
            var keep = LastSequence + 1;
            if (_prepared.OldestSequence is not 0 and var prepared)
            {
                keep = Math.Min(keep, prepared);
            }

            return _held.Count > 0 ? Math.Min(keep, _held.Min) : keep;
        }
    }

    /// <summary>A record that others may ask for stays in the log.</summary>
    public void Hold(long sequence) => _held.Add(sequence);

    /// <summary>Nobody will ask for it any more.</summary>
    public void Release(long sequence) => _held.Remove(sequence);

    /// <summary>Everything so far, for one checkpoint; at most one snapshot is out.</summary>
    public Snapshot Take()
    {
        (_taken, _dirty) = (_dirty, _taken);
        var snapshot = new Snapshot(_taken, _outcomes, _marks, LastSequence, KeepFrom, Bytes);
        _outcomes = [];
        Bytes = 0;
        return snapshot;
    }

    /// <summary>What some actors have so far, and all outcomes. The bytes stay counted: the records stay in the log.</summary>
    public Snapshot Take(Func<ActorKey, bool> which)
    {
        foreach (var (actor, pending) in _dirty)
        {
            if (which(actor))
            {
                _taken.Add(actor, pending);
            }
        }

        foreach (var actor in _taken.Keys)
        {
            _dirty.Remove(actor);
        }

        var snapshot = new Snapshot(_taken, _outcomes, _marks, LastSequence, KeepFrom, Bytes: 0);
        _outcomes = [];
        return snapshot;
    }

    /// <summary>The snapshot is checkpointed.</summary>
    public void Forget(Snapshot taken) => taken.Actors.Clear();

    /// <summary>The snapshot was not, or not wholly, checkpointed: it lies under what has come since. Folding a part of it twice does no harm (L7).</summary>
    public void PutBack(Snapshot taken)
    {
        foreach (var (actor, later) in _dirty)
        {
            if (taken.Actors.TryGetValue(actor, out var earlier))
            {
                earlier.Add(later);
            }
            else
            {
                taken.Actors.Add(actor, later);
            }
        }

        _dirty.Clear();
        (_dirty, _taken) = (taken.Actors, _dirty);
        taken.Outcomes.AddRange(_outcomes);
        _outcomes = taken.Outcomes;
        Bytes += taken.Bytes;
    }

    private static ProtocolViolationException OutOfOrder(ActorChange change, long before, long sequence) =>
        new($"Record {sequence} brings actor {change.Actor} to version {change.Version}; the change before it made version {before}.");

    private void Add(IReadOnlyList<ActorChange> changes, long sequence)
    {
        for (var i = 0; i < changes.Count; i++)
        {
            var change = changes[i];
            if (!_dirty.TryGetValue(change.Actor, out var pending))
            {
                if (_taken.TryGetValue(change.Actor, out var earlier) && earlier.To + 1 != change.Version)
                {
                    throw OutOfOrder(change, earlier.To, sequence);
                }

                _dirty.Add(change.Actor, pending = new PendingActor());
            }

            if (!pending.Add(change))
            {
                throw OutOfOrder(change, pending.To, sequence);
            }

            for (var f = 0; f < change.Fields.Count; f++)
            {
                Bytes += 48 + (change.Fields[f].Value?.Length ?? 0);
            }
        }
    }

    private void Add(OutcomeRecord outcome)
    {
        // Generated ids are asked for only until answered (I3): they go with the record, unless the answer was "in doubt".
        if (outcome.IsCallerKey || outcome.IsInDoubt)
        {
            _outcomes.Add(outcome);
        }

        Bytes += 96 + outcome.Payload.Length;
    }
}
