using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Requests;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Rules;

/// <summary>What the rules may see of what is stored, at the place where it is stored.</summary>
internal interface IStorageView
{
    /// <summary>What is stored can be looked at now: it is not in files, and not another server's.</summary>
    bool IsReadable { get; }

    /// <summary>Another log, or an older copy, stands in the place of the right one.</summary>
    bool IsLost { get; }

    /// <summary>The epoch of the owner.</summary>
    long Epoch { get; }

    /// <summary>Number of the first record that was not trimmed.</summary>
    long FirstSequence { get; }

    /// <summary>A stored state.</summary>
    StoredState? State(ActorKey actor);

    /// <summary>The place of a state is, or was, damaged.</summary>
    bool HadDamagedPlaces => false;

    /// <summary>A stored outcome.</summary>
    OutcomeRecord? Outcome(string requestId);

    /// <summary>A worker has opened the log.</summary>
    void Opened(long epoch);
}

/// <summary>
/// The log and what is made of it, over all lives: a checkpoint of all records of its own, one version after the other, against what is stored (L7, L8), what every
/// life recovers and loads, the index of ids that it begins with (I2, I3), and what is durable when it answers (L5).
/// </summary>
internal sealed class StorageRules(IStorageView view, Action<string> violated, int numbersOfALife = 0) : RuleSet(violated)
{
    private readonly Dictionary<ActorKey, List<ReadOnlyMemory<byte>>> _states = [];
    private readonly Dictionary<ActorKey, long> _stored = [];
    private readonly List<(long Sequence, long Number)> _records = [];
    private readonly Queue<(long Sequence, ActorChange Change)> _changes = [];
    private readonly Queue<(long Sequence, OutcomeRecord Outcome)> _outcomes = [];
    private readonly Dictionary<string, (long Sequence, OutcomeRecord Outcome)> _byId = new(StringComparer.Ordinal);
    private readonly Dictionary<long, long> _confirmed = [];
    private readonly Dictionary<long, LifeOnLog> _numbers = [];
    private long _changesLostIn = -1;
    private long _clock;
    private long _highestPact;
    private long _highestAct;

    /// <summary>The outcome that the log has, or had, of a request; null: none.</summary>
    public OutcomeRecord? OutcomeOf(string requestId) => _byId.TryGetValue(requestId, out var kept) ? kept.Outcome : null;

    /// <summary>A worker has opened the log.</summary>
    public void Opened(long epoch) => view.Opened(epoch);

    /// <summary>A record has become part of the log; its memory stays as it is.</summary>
    public void Appended(long sequence, LogRecord record)
    {
        switch (record)
        {
            case LocalBatchCommitted batch:
                _records.Add((sequence, batch.Batch.Value));
                _highestPact = Math.Max(_highestPact, batch.LastTransaction.Value);
                Add(sequence, batch.Changes);
                foreach (var outcome in batch.Outcomes)
                {
                    Add(sequence, outcome);
                }

                break;
            case ActCommitted act:
                _records.Add((sequence, act.Transaction.Value));
                _highestAct = Math.Max(_highestAct, act.Transaction.Counter);
                Add(sequence, act.Changes);
                if (act.Outcome is { } own)
                {
                    Add(sequence, own);
                }

                break;
        }
    }

    /// <summary>States were checkpointed (L7, L8): each stored one is what the log has made of it at that version, and none goes back.</summary>
    public void Checkpointed(IReadOnlyList<StateCheckpoint> checkpoints)
    {
        if (!view.IsReadable || view.Epoch == _changesLostIn)
        {
            return;
        }

        foreach (var checkpoint in checkpoints)
        {
            if (view.State(checkpoint.Actor) is not { } stored)
            {
                continue;
            }

            Require(stored.Version >= _stored.GetValueOrDefault(checkpoint.Actor), $"L7: the stored state of {checkpoint.Actor} goes back from version {_stored.GetValueOrDefault(checkpoint.Actor)} to {stored.Version}");
            _stored[checkpoint.Actor] = stored.Version;
            RequireAsInLog(checkpoint.Actor, stored, "L8: stored");
        }
    }

    /// <summary>Records were trimmed (L8): what they changed is checkpointed, what they answered is copied.</summary>
    public void Trimmed()
    {
        if (!view.IsReadable || view.Epoch == _changesLostIn)
        {
            return;
        }

        var first = view.FirstSequence;
        while (_changes.TryPeek(out var next) && next.Sequence < first)
        {
            var (sequence, change) = _changes.Dequeue();
            Require(
                view.State(change.Actor)?.Version >= change.Version, $"L8: record {sequence} is trimmed, and version {change.Version} of {change.Actor} is not checkpointed");
        }

        while (_outcomes.TryPeek(out var next) && next.Sequence < first)
        {
            var (sequence, outcome) = _outcomes.Dequeue();
            Require(
                !outcome.IsCallerKey || view.Outcome(outcome.RequestId)?.Transaction == outcome.Transaction,
                $"L8: record {sequence} is trimmed, and the outcome of {outcome.RequestId} is not copied");
        }
    }

    /// <summary>A call to the log leaves a worker.</summary>
    /// <returns>To be handed to <see cref="Confirmed"/>.</returns>
    public long Sent() => ++_clock;

    /// <summary>A call was carried out: its epoch was the current one.</summary>
    public void Confirmed(long epoch, long sent) => _confirmed[epoch] = Math.Max(_confirmed.GetValueOrDefault(epoch), sent);

    public LifeOnLog BeginLife() => new();

    /// <summary>A life begins to serve: what it stands on is all that the log holds.</summary>
    public void Recovered(LifeOnLog life, WorkerHost host)
    {
        life.Epoch = host.Opening.Epoch;
        if (!IsReplaced(life))
        {
            (life.HighestPactBefore, life.HighestActBefore) = (_highestPact, _highestAct);
        }

        if (IsForeign(life) || !view.IsReadable)
        {
            return; // replaced meanwhile, or the server has lost what this life had just checkpointed: the fence of its first call will tell it
        }

        var setAside = host.Recovered.SetAside.ToDictionary(one => one.Actor, one => one.Changes.To);
        Require(setAside.Count == 0 || view.HadDamagedPlaces,
            $"R4: a recovery sets {setAside.Count} actors aside, and no place was damaged");
        foreach (var (actor, states) in _states)
        {
            if (setAside.TryGetValue(actor, out var version))
            {
                Require(version == states.Count,
                    $"R4: {actor} is set aside with version {version}; the log has version {states.Count}");
                continue;
            }

            Require(view.State(actor)?.Version == states.Count, $"R4: {actor} is recovered with version {view.State(actor)?.Version}; the log has version {states.Count}");
            if (view.State(actor) is { } stored)
            {
                RequireAsInLog(actor, stored, "R4: recovered");
            }
        }

        RequireIndex(host.RequestManager.Ids);
    }

    /// <summary>Another life owns the log.</summary>
    public bool IsReplaced(LifeOnLog life) => life.Epoch != view.Epoch;

    /// <summary>What is stored is not the life's own: another life owns the log, or another log stands in its place.</summary>
    public bool IsForeign(LifeOnLog life) => IsReplaced(life) || IsBehind(life);

    /// <summary>The log, or what was stored beside it, is not what the life left.</summary>
    public bool IsBehind(LifeOnLog life) => view.IsLost || life.Epoch <= _changesLostIn;

    /// <summary>The server has lost checkpoints, and no record: what is stored is older, and lives of this epoch believe otherwise until a call tells them.</summary>
    public void ChangesLost()
    {
        _changesLostIn = view.Epoch;
        _stored.Clear();
    }

    /// <summary>An actor comes into memory: its stored state alone must do (L8).</summary>
    public void Loaded(LifeOnLog life, ActorKey actor, StoredState? stored)
    {
        var inLog = _states.TryGetValue(actor, out var states) ? states.Count : 0;
        Require(IsForeign(life) || (stored?.Version ?? 0) == inLog, $"L8: {actor} is loaded with version {stored?.Version}; the log has version {inLog}");
        if (stored is not null)
        {
            RequireAsInLog(actor, stored, "L8: loaded");
        }
    }

    /// <summary>An actor comes into memory, and nothing can be read where its state is.</summary>
    public void Unreadable(LifeOnLog life, ActorKey actor) =>
        Require(IsForeign(life) || view.HadDamagedPlaces, $"{actor} cannot be read, and no place was damaged");

    /// <summary>
    /// R1: a number is given once, over all lives, and lies above all that the log has of earlier ones. Where a life has fewer numbers set apart than it uses, those
    /// beyond that may be given again if they left no record; so may those that were set apart by a trim that the server has lost,
    /// also by the life that had set them apart, which goes on until its next call meets the fence.
    /// </summary>
    public void Numbered(LifeOnLog life, long number)
    {
        var tid = new TransactionId(number);
        Require(
            IsReplaced(life) || (tid.IsAct ? tid.Counter > life.HighestActBefore : number > life.HighestPactBefore),
            $"R1: {tid} is given by a life that began behind PACT {life.HighestPactBefore} and ACT {life.HighestActBefore}");
        if (!_numbers.TryAdd(number, life))
        {
            var first = Math.Min(_numbers[number].Epoch, life.Epoch);
            Require(numbersOfALife > 0 || first <= _changesLostIn, $"R1: {number} is given a second time");
            _numbers[number] = life;
        }
    }

    /// <summary>The commit order takes a step; what it queues then was made no later than now.</summary>
    public void Steps(LifeOnLog life) => life.Stepped = ++_clock;

    public void Queued(LifeOnLog life, LogRecord? record, long sequence)
    {
        var number = record switch { LocalBatchCommitted batch => batch.Batch.Value, ActCommitted act => act.Transaction.Value, _ => 0 };
        life.Unanswered.Enqueue((number, sequence, life.Stepped));
    }

    /// <summary>L5: what is answered is in the log, or a check of the epoch was sent after it was made, and passed.</summary>
    public void Answered(LifeOnLog life)
    {
        var (number, sequence, made) = life.Unanswered.Dequeue();
        if (number == 0)
        {
            Require(_confirmed.GetValueOrDefault(life.Epoch) > made, $"L5: something is answered, and no flush that was sent after it has succeeded");
        }
        else
        {
            var at = sequence - (_records.Count > 0 ? _records[0].Sequence : 0);
            Require(at >= 0 && at < _records.Count && _records[(int)at] == (sequence, number), $"L5: {number} is answered, and record {sequence} of the log is not its");
        }
    }

    private void Add(long sequence, IReadOnlyList<ActorChange> changes)
    {
        foreach (var change in changes)
        {
            if (!_states.TryGetValue(change.Actor, out var states))
            {
                _states.Add(change.Actor, states = []);
            }

            states.Add(change.Fields[0].Value!.Value);
            _changes.Enqueue((sequence, change));
        }
    }

    private void Add(long sequence, OutcomeRecord outcome)
    {
        Require(!_byId.TryGetValue(outcome.RequestId, out var before), $"I1: request {outcome.RequestId} has outcomes in records {before.Sequence} and {sequence}");
        _byId[outcome.RequestId] = (sequence, outcome);
        _outcomes.Enqueue((sequence, outcome));
    }

    private void RequireAsInLog(ActorKey actor, StoredState stored, string what)
    {
        var states = _states.GetValueOrDefault(actor);
        Require(
            states is not null && stored.Version >= 1 && stored.Version <= states.Count && stored.Fields[0].Value!.Value.Span.SequenceEqual(states[(int)stored.Version - 1].Span),
            $"{what}: {actor} is not what the log says of its version {stored.Version}");
    }

    /// <summary>I2, I3: every id whose record is still in the log is in the index, with its place; every other one is stored; and nothing else is in the index.</summary>
    private void RequireIndex(IdempotencyIndex index)
    {
        var inLog = 0;
        foreach (var (id, (sequence, outcome)) in _byId)
        {
            var isKnown = index.TryFind(RequestHash.OfId(id), out var running, out var done);
            Require(running is null, $"I2: request {id} is running before the worker is open");
            if (sequence >= view.FirstSequence)
            {
                inLog++;
                Require(isKnown && done.Sequence == sequence && done.RequestHash == outcome.RequestHash, $"I2: after recovery the outcome of {id} is looked for in record {done.Sequence}; it is in {sequence}");
            }
            else
            {
                Require(!outcome.IsCallerKey || view.Outcome(id) is not null, $"I3: the outcome of {id} is neither in the log nor stored");
            }
        }

        Require(index.Kept == inLog, $"I2: after recovery {index.Kept} ids are known; the log has {inLog}");
    }

    /// <summary>What one life of a worker has under way with the log.</summary>
    internal sealed class LifeOnLog
    {
        public long Epoch { get; set; }

        public long Stepped { get; set; }

        /// <summary>The highest numbers in the log when it began.</summary>
        public long HighestPactBefore { get; set; }

        public long HighestActBefore { get; set; }

        public Queue<(long Number, long Sequence, long Made)> Unanswered { get; } = new();
    }
}
