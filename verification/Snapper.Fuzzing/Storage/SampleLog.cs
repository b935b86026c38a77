using Snapper.Fuzzing.Engine;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Fuzzing.Storage;

/// <summary>
/// A log as a worker leaves it: groups of records on a few actors, some of it checkpointed into the states and trimmed. Drawn from a seed, on any backend; remembers what
/// a recovery of any beginning of it must give.
/// </summary>
internal sealed class SampleLog(int seed)
{
    /// <summary>The time at which all of it happens; outcomes stay in their window.</summary>
    public static readonly DateTimeOffset Now = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    private static readonly CancellationToken None = CancellationToken.None;
    private readonly Random _random = new(seed);
    private readonly Dictionary<ActorKey, StoredState> _states = [];
    private readonly List<Dictionary<ActorKey, StoredState>> _after = [[]];

    /// <summary>First sequence numbers of the groups, and behind them the next one.</summary>
    public List<long> Firsts { get; } = [1];

    /// <summary>Groups that were checkpointed into the states.</summary>
    public int Checkpointed { get; private set; }

    /// <summary>Records below this number were trimmed.</summary>
    public long TrimmedBelow { get; private set; } = 1;

    /// <summary>Ids whose outcomes were recorded, with the group.</summary>
    public List<(string Id, int Group)> Outcomes { get; } = [];

    /// <summary>Number of groups.</summary>
    public int Groups => Firsts.Count - 1;

    /// <summary>States after the first groups.</summary>
    public IReadOnlyDictionary<ActorKey, StoredState> After(int groups) => _after[groups];

    /// <summary>Every actor.</summary>
    public IEnumerable<ActorKey> Actors => _states.Keys;

    /// <summary>Writes it.</summary>
    public async Task Write(ITransactionLog log, IStateStore store)
    {
        var opening = await log.Open(None);
        var large = _random.Percent(30);
        var groups = _random.Next(1, 9);
        var dirty = new List<OutcomeRecord>();
        for (var g = 0; g < groups; g++)
        {
            var buffer = new GroupBuffer();
            var count = _random.Next(1, 4);
            for (var r = 0; r < count; r++)
            {
                RecordEncoder.Encode(Record(Firsts[^1] + r, g, large, dirty), buffer);
            }

            Demand(await log.Append(opening.Epoch, Firsts[^1], count, buffer.Written.ToArray(), None));
            buffer.Release();
            Firsts.Add(Firsts[^1] + count);
            _after.Add(new Dictionary<ActorKey, StoredState>(_states));
            if (_random.Percent(25))
            {
                await Checkpoint(log, store, opening.Epoch, dirty);
            }
        }
    }

    private async Task Checkpoint(ITransactionLog log, IStateStore store, long epoch, List<OutcomeRecord> outcomes)
    {
        var before = _after[Checkpointed];
        var checkpoints = new List<StateCheckpoint>();
        foreach (var (actor, state) in _states)
        {
            if (!before.TryGetValue(actor, out var old) || old.Version < state.Version)
            {
                checkpoints.Add(new StateCheckpoint(actor, 0, state.Version, state.Fields));
            }
        }

        Demand(await store.Checkpoint(epoch, checkpoints, None));
        Demand(await store.SaveOutcomes(epoch, outcomes, None));
        Checkpointed = Groups;
        if (_random.Percent(60))
        {
            Demand(await log.Trim(epoch, Firsts[^1], new LogWatermarks(1000 + Firsts[^1], 0), None));
            TrimmedBelow = Firsts[^1];
        }

        outcomes.Clear();
    }

    private LocalBatchCommitted Record(long sequence, int group, bool large, List<OutcomeRecord> dirty)
    {
        var changes = new List<ActorChange>();
        for (var i = _random.Next(1, 4); i > 0; i--)
        {
            var actor = new ActorKey("Account", "a" + i);
            var version = (_states.TryGetValue(actor, out var state) ? state.Version : 0) + 1;
            var value = new byte[large && _random.Percent(40) ? _random.Next(20_000, 60_000) : _random.Next(4, 60)];
            _random.NextBytes(value);
            StateField[] fields = [new(StateField.WholeState, value)];
            changes.Add(new ActorChange(actor, version, fields));
            _states[actor] = new StoredState(version, fields);
        }

        var outcomes = new List<OutcomeRecord>();
        if (_random.Percent(60))
        {
            outcomes.Add(new OutcomeRecord
            {
                RequestId = "r" + sequence,
                IsCallerKey = true,
                RequestHash = (UInt128)sequence,
                IsAct = false,
                Transaction = new TransactionId(1000 + sequence),
                Batch = new BatchId(1000 + sequence),
                Attempts = 1,
                AtUnixMs = Now.ToUnixTimeMilliseconds() - (sequence * 7000),
                Abort = AbortReason.None,
                Payload = "42"u8.ToArray(),
            });
            Outcomes.Add((outcomes[0].RequestId, group));
            dirty.AddRange(outcomes);
        }

        return new LocalBatchCommitted { Batch = new BatchId(1000 + sequence), LastTransaction = new TransactionId(1000 + sequence), Changes = changes, Outcomes = outcomes };
    }

    private static void Demand(AppendResult result)
    {
        if (result.Status != AppendStatus.Appended)
        {
            throw new InvalidOperationException($"The sample log was refused: {result.Status} {result.Detail}");
        }
    }
}

/// <summary>A clock that stands still.</summary>
internal sealed class StandingTime : TimeProvider
{
    public override DateTimeOffset GetUtcNow() => SampleLog.Now;
}
