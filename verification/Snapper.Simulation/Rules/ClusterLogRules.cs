using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Rules;

/// <summary>
/// The rules of the logs of several workers and of their master, looked at in every record in the order in which it becomes durable: nothing final behind what is undecided (L2),
/// parts in local order (L3), versions without gaps whoever owns an actor (L7, R4), decisions behind everything that they rest on (R), markers that say what was decided (R1, R2),
/// changes by the owner alone (M6, M7), and of what moves everything in what all share (M4, M5).
/// </summary>
/// <param name="violated">Hears what is wrong.</param>
/// <param name="now">Time that has passed, in ticks; null: none ever does.</param>
/// <param name="window">For how long an id has its outcome, in ticks.</param>
/// <param name="ownerOf">The worker that the directory gives an actor to; 0: none yet, since one worker alone has everything; null: not looked at.</param>
/// <param name="hadDamagedPlaces">A place of a state is, or was, damaged; null: not looked at.</param>
/// <param name="changed">Takes each change with the worker in whose log it is, in the order of versions.</param>
internal sealed class ClusterLogRules(
    Action<string> violated, Func<long>? now = null, long window = long.MaxValue, Func<ActorKey, int>? ownerOf = null,
    Func<bool>? hadDamagedPlaces = null, Action<int, ActorChange>? changed = null) : RuleSet(violated)
{
    /// <summary>Stands for the master's log where a worker's number is asked for.</summary>
    public const int Master = 0;

    private readonly GroupDecoder _decoder = new();
    private readonly Dictionary<int, Stream> _streams = [];
    private readonly Dictionary<ActorKey, long> _versions = [];
    private readonly HashSet<long> _decided = [];
    private readonly HashSet<long> _presumedAborted = [];
    private readonly Dictionary<BatchId, HashSet<int>> _participants = [];
    private readonly Dictionary<string, (TransactionId As, long At)> _committed = new(StringComparer.Ordinal);
    private readonly Dictionary<string, long> _kept = new(StringComparer.Ordinal);
    private readonly List<(int Worker, LogRecord Record)> _records = [];
    private BatchId _lastDecision;
    private bool _looksBack; // at records from before a loss: who owned what then is not known any more

    /// <summary>A group has become part of a log.</summary>
    /// <param name="worker">Whose log; <see cref="Master"/>.</param>
    /// <param name="firstSequence">Of its first record.</param>
    /// <param name="count">Of its records.</param>
    /// <param name="records">Their bytes; nobody changes them any more.</param>
    public void Appended(int worker, long firstSequence, int count, ReadOnlyMemory<byte> records)
    {
        _decoder.Start(new LogGroup(firstSequence, count, records));
        while (_decoder.MoveNext())
        {
            Look(worker, _decoder.Current);
        }
    }

    /// <summary>Records of all logs so far.</summary>
    public int Records => _records.Count;

    /// <summary>All logs have lost what came behind so many records: what follows builds on those alone.</summary>
    public void Lose(int kept)
    {
        var left = _records.GetRange(0, kept);
        _records.Clear();
        _streams.Clear();
        _versions.Clear();
        _decided.Clear();
        _presumedAborted.Clear();
        _participants.Clear();
        _committed.Clear();
        _lastDecision = default;
        _looksBack = true;
        foreach (var (worker, record) in left)
        {
            Look(worker, record);
        }

        _looksBack = false;
    }

    /// <summary>A record has become part of a log.</summary>
    public void Look(int worker, LogRecord record)
    {
        _records.Add((worker, record));
        var stream = Of(worker);
        switch (record)
        {
            case LocalBatchCommitted batch:
                OnLocalBatch(stream, batch);
                break;
            case Prepared part:
                OnPrepared(stream, part);
                break;
            case Decided marker:
                OnDecided(stream, marker);
                break;
            case Decision decision:
                OnDecision(decision.Global);
                break;
            case ActCommitted act:
                OnAct(stream, act);
                break;
            case ActPrepared part:
                Require(stream.OpenActs.TryAdd(part.Transaction, part), $"R: {stream} has two parts of ACT {part.Transaction}");
                stream.Voted.Add(part.Transaction);
                RequireOwned(stream, part.Changes);
                break;
            case ActEnded marker:
                OnEnded(stream, marker);
                break;
        }
    }

    /// <summary>M4, M5: a plan was committed, and what it names is another worker's from now on.</summary>
    /// <param name="plan">Its id.</param>
    /// <param name="source">Whose it was.</param>
    /// <param name="hasMoved">What it names.</param>
    /// <param name="rootOf">The root of a request; null: it is not known.</param>
    /// <param name="states">What all share, with the outcomes that the source has copied there.</param>
    /// <param name="stateOf">A state, whether its place can be read or not; null: it can.</param>
    public void Moved(
        string plan, int source, Func<ActorKey, bool> hasMoved, Func<string, ActorKey?> rootOf, IStateStore states,
        Func<ActorKey, StoredState?>? stateOf = null)
    {
        stateOf ??= actor => states.Load(actor, CancellationToken.None).Result;
        var stream = Of(source);
        foreach (var part in stream.OpenParts.Values)
        {
            Require(part.Changes.All(change => !hasMoved(change.Actor)), $"M4: plan {plan} is done, and {stream} has a part of global batch {part.Global} that is not decided");
        }

        foreach (var part in stream.OpenActs.Values)
        {
            Require(part.Changes.All(change => !hasMoved(change.Actor)), $"M4: plan {plan} is done, and {stream} has a part of ACT {part.Transaction} that is not decided");
        }

        foreach (var (number, changes) in stream.Unversioned)
        {
            Require(
                changes.All(change => change is null || !hasMoved(change.Actor)),
                $"M4: plan {plan} is done, and {stream} has a change of {number} that has no version");
        }

        foreach (var (actor, version) in _versions)
        {
            if (hasMoved(actor))
            {
                var stored = stateOf(actor)?.Version ?? 0;
                Require(stored == version, $"M5: {actor} has moved with plan {plan} in version {stored}, and its last one is {version}");
            }
        }

        foreach (var id in stream.Kept)
        {
            if (IsKept(id, 0) && rootOf(id) is { } root && hasMoved(root))
            {
                Require(states.FindOutcome(id, CancellationToken.None).Result is not null, $"M5, I2: {root} has moved with plan {plan}, and the outcome of its request {id} is in {stream} alone");
            }
        }
    }

    /// <summary>A batch has a part at these workers.</summary>
    public void HasParts(BatchId global, IEnumerable<int> workers)
    {
        if (!_participants.TryGetValue(global, out var known))
        {
            _participants.Add(global, known = []);
        }

        known.UnionWith(workers);
    }

    /// <summary>A worker's log has held its part of a global batch.</summary>
    public bool HasPrepared(int worker, BatchId global) => Of(worker).Prepared.Contains(global);

    /// <summary>A worker's log has held its part of an ACT.</summary>
    public bool HasPrepared(int worker, TransactionId act) => Of(worker).Voted.Contains(act);

    /// <summary>The decision to commit a global batch or an ACT of several workers is durable.</summary>
    public bool IsDecided(long number) => _decided.Contains(number);

    /// <summary>A log, of whatever worker, has a commit under this id.</summary>
    public bool HasCommitted(string id) => _committed.ContainsKey(id);

    /// <summary>The outcome of an id is in no log yet, or has been there for less than the window, with so much to spare.</summary>
    public bool IsKept(string id, long spare) => !_kept.TryGetValue(id, out var at) || Now < at + window - spare;

    /// <summary>A log has a part of it, and no marker.</summary>
    public bool IsAwaited(long number)
    {
        foreach (var stream in _streams.Values)
        {
            if (stream.OpenParts.ContainsKey(new BatchId(number)) || stream.OpenActs.ContainsKey(new TransactionId(number)))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Actors with changes in doubt, and the workers whose logs have these.</summary>
    public IReadOnlyList<(int Worker, ActorKey Actor)> Doubtful =>
    [
        .. _streams.Values.SelectMany(static stream => stream.OpenParts.Values.SelectMany(static part => part.Changes)
            .Concat(stream.OpenActs.Values.SelectMany(static part => part.Changes))
            .Select(change => (stream.Worker, change.Actor))),
    ];

    /// <summary>Somebody was told, or has noted, that it is aborted: it must never be decided otherwise (R1).</summary>
    public void Presumed(long number) => _presumedAborted.Add(number);

    private long Now => now?.Invoke() ?? 0;

    private Stream Of(int worker)
    {
        if (!_streams.TryGetValue(worker, out var stream))
        {
            _streams.Add(worker, stream = new Stream(worker));
        }

        return stream;
    }

    private void OnLocalBatch(Stream stream, LocalBatchCommitted batch)
    {
        foreach (var open in stream.OpenParts.Values)
        {
            Require(
                !open.Changes.Any(change => batch.Changes.Any(behind => behind.Actor.Equals(change.Actor))),
                $"D2: {stream} has something of batch {batch.Batch} final, and global batch {open.Global}, here {open.Batch}, is undecided and has changed one of its actors");
        }

        Change(stream, batch.Changes, null);
        Commit(stream, batch.Outcomes);
    }

    private void OnPrepared(Stream stream, Prepared part)
    {
        Require(part.Batch > stream.LastPart, $"D7: {stream} has part {part.Batch} behind part {stream.LastPart}");
        stream.LastPart = part.Batch;
        Require(stream.Prepared.Add(part.Global), $"R: {stream} prepares its part of global batch {part.Global} again");
        Require(!_decided.Contains(part.Global.Value), $"R: {stream} prepares its part of global batch {part.Global} after that was decided");
        stream.OpenParts[part.Global] = part;
        RequireOwned(stream, part.Changes);
    }

    private void OnDecided(Stream stream, Decided marker)
    {
        if (OnLate(stream, marker.Global.Value, marker.Committed, marker.Versions))
        {
            return;
        }

        if (!stream.OpenParts.Remove(marker.Global, out var part))
        {
            Require(false, $"R: {stream} has a marker of global batch {marker.Global}, and no part of it");
            return;
        }

        if (!marker.Committed)
        {
            Require(!_decided.Contains(marker.Global.Value), $"R2: {stream} aborts its part of global batch {marker.Global}, which is decided");
            Presumed(marker.Global.Value);
            return;
        }

        Require(_decided.Contains(marker.Global.Value), $"R2: {stream} commits its part of global batch {marker.Global}, which is not decided");
        foreach (var open in stream.OpenParts.Values)
        {
            Require(open.Batch > part.Batch, $"D7: {stream} has global batch {marker.Global} final, and {open.Global} before it is undecided");
        }

        ChangeBy(stream, marker.Global.Value, part.Changes, marker.Versions);
        Commit(stream, part.Outcomes);
    }

    private void OnDecision(BatchId global)
    {
        Require(global > _lastDecision, $"R: global batch {global} is decided behind {_lastDecision}");
        _lastDecision = global;
        Require(!_presumedAborted.Contains(global.Value), $"R2: global batch {global} is decided, and somebody was told that it is not");
        foreach (var worker in _participants.GetValueOrDefault(global) ?? [])
        {
            Require(Of(worker).OpenParts.ContainsKey(global), $"R: global batch {global} is decided, and the log of w{worker} has no part of it");
        }

        _decided.Add(global.Value);
    }

    private void OnAct(Stream stream, ActCommitted act)
    {
        Change(stream, act.Changes, null);
        if (act.Outcome is { } outcome)
        {
            Commit(stream, outcome);
        }

        if (act.Participants.Count == 0)
        {
            return;
        }

        Require(!_presumedAborted.Contains(act.Transaction.Value), $"R2: ACT {act.Transaction} is committed, and somebody was told that it is not");
        foreach (var worker in act.Participants)
        {
            Require(Of(worker).OpenActs.ContainsKey(act.Transaction), $"R: ACT {act.Transaction} is committed, and the log of w{worker} has no part of it");
        }

        _decided.Add(act.Transaction.Value);
    }

    private void OnEnded(Stream stream, ActEnded marker)
    {
        if (OnLate(stream, marker.Transaction.Value, marker.Committed, marker.Versions))
        {
            return;
        }

        if (!stream.OpenActs.Remove(marker.Transaction, out var part))
        {
            Require(false, $"R: {stream} has a marker of ACT {marker.Transaction}, and no part of it");
            return;
        }

        if (!marker.Committed)
        {
            Require(!_decided.Contains(marker.Transaction.Value), $"R2: {stream} aborts its part of ACT {marker.Transaction}, which is committed");
            Presumed(marker.Transaction.Value);
            return;
        }

        Require(_decided.Contains(marker.Transaction.Value), $"R2: {stream} commits its part of ACT {marker.Transaction}, which is not committed");
        ChangeBy(stream, marker.Transaction.Value, part.Changes, marker.Versions);
    }

    /// <summary>R4: a marker of what is committed already gives versions to changes that had none, once.</summary>
    private bool OnLate(Stream stream, long number, bool committed, IReadOnlyList<long> versions)
    {
        if (!stream.Unversioned.Remove(number, out var changes))
        {
            return false;
        }

        Require(committed, $"R2: {stream} aborts {number}, which it has committed");
        ChangeBy(stream, number, changes, versions);
        return true;
    }

    /// <summary>What has no version yet waits for another marker; nothing else changes that actor before.</summary>
    private void ChangeBy(Stream stream, long number, IReadOnlyList<ActorChange?> changes, IReadOnlyList<long> versions)
    {
        Require(
            versions.Count == changes.Count,
            $"R4: {stream} gives {versions.Count} versions to {changes.Count} changes of {number}");
        var left = new ActorChange?[changes.Count];
        for (var i = 0; i < changes.Count; i++)
        {
            if (versions[i] == InDoubt.NoVersion)
            {
                left[i] = changes[i];
                continue;
            }

            Require(changes[i] is not null, $"R4: {stream} gives a second version to a change of {number}");
            if (changes[i] is { } change)
            {
                Change(stream, [change with { Version = versions[i] }], null);
            }
        }

        if (left.Any(static change => change is not null))
        {
            Require(
                hadDamagedPlaces?.Invoke() != false,
                $"R4: {stream} has no version for changes of {number}, and no place was damaged");
            stream.Unversioned.Add(number, left);
        }
    }

    /// <summary>M6, M7: nothing begins to be stored for an actor by any worker but its owner. What is in doubt is settled before anything moves.</summary>
    private void RequireOwned(Stream stream, IReadOnlyList<ActorChange> changes)
    {
        foreach (var change in changes)
        {
            var owner = _looksBack ? stream.Worker : ownerOf?.Invoke(change.Actor) ?? stream.Worker;
            Require(owner is 0 || owner == stream.Worker, $"M6, M7: {stream} has a change of {change.Actor}, which is w{owner}'s");
        }
    }

    private void Change(Stream stream, IReadOnlyList<ActorChange> changes, IReadOnlyList<long>? versions)
    {
        RequireOwned(stream, changes);
        for (var i = 0; i < changes.Count; i++)
        {
            var (actor, version) = (changes[i].Actor, versions is null ? changes[i].Version : versions[i]);
            var last = _versions.GetValueOrDefault(actor);
            Require(version == last + 1, $"L7, R4: {stream} gives {actor} version {version}, and the last one that any log has is {last}");
            _versions[actor] = version;
            changed?.Invoke(stream.Worker, changes[i]);
        }
    }

    private void Commit(Stream stream, IReadOnlyList<OutcomeRecord> outcomes)
    {
        foreach (var outcome in outcomes)
        {
            Commit(stream, outcome);
        }
    }

    private void Commit(Stream stream, OutcomeRecord outcome)
    {
        _kept.TryAdd(outcome.RequestId, Now);
        if (outcome.IsCallerKey)
        {
            stream.Kept.Add(outcome.RequestId);
        }

        if (outcome.Abort == AbortReason.None)
        {
            // By the time that passes, whatever clocks show: what is sent again later than the window may run again.
            var isFirst = !_committed.TryGetValue(outcome.RequestId, out var before) || Now - before.At >= window;
            Require(isFirst, $"I1: request {outcome.RequestId} is committed as {outcome.Transaction}, and was as {before.As}");
            _committed[outcome.RequestId] = (outcome.Transaction, Now);
        }
    }

    private sealed class Stream(int worker)
    {
        public Dictionary<BatchId, Prepared> OpenParts { get; } = [];

        public Dictionary<TransactionId, ActPrepared> OpenActs { get; } = [];

        /// <summary>Committed changes without a version, by the number of their batch or ACT.</summary>
        public Dictionary<long, IReadOnlyList<ActorChange?>> Unversioned { get; } = [];

        public HashSet<BatchId> Prepared { get; } = [];

        public HashSet<TransactionId> Voted { get; } = [];

        public int Worker => worker;

        /// <summary>Ids whose outcomes callers may ask for.</summary>
        public HashSet<string> Kept { get; } = new(StringComparer.Ordinal);

        public BatchId LastPart { get; set; }

        public override string ToString() => $"the log of w{worker}";
    }
}
