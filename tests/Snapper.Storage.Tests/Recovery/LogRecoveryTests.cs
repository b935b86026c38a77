using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Memory;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Recovery;

public sealed class LogRecoveryTests
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly MemoryStorage _storage = new();
    private readonly ManualTime _time = new();

    [Fact]
    public async Task A_log_larger_than_the_memory_for_it_is_folded_in_parts_with_its_versions_checked_across_them()
    {
        var (log, store, opening) = await Written(
            Some.Batch(1, [Fields("a", 1, ("k:x", "1")), Some.Change("b", 1, "old")]),
            Some.Batch(2, [Fields("a", 2, ("k:y", "2"))]),
            Some.Batch(3, [Fields("a", 3, ("k:x", null)), Some.Change("b", 2, "new")]));

        var summary = await LogRecovery.Run(log, store, opening, new Sink(), _time, foldBytes: 1, None);

        Assert.Equal((3, 5), (summary.Records, summary.ActorsCheckpointed));
        var a = await store.Load(Some.Actor("a"), None);
        Assert.Equal((3, "k:y"), (a!.Version, a.Fields.Single().Name));
        Assert.Equal("new", Some.Text((await store.Load(Some.Actor("b"), None))!.Fields.Single().Value));

        var (broken, brokenStore, brokenOpening) = await Written(Some.Batch(4, "a", 4), Some.Batch(5, "a", 6));
        await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(broken, brokenStore, brokenOpening, new Sink(), _time, foldBytes: 1, None));
    }

    /// <summary>
    /// The checkpointer sets such an actor aside. A restart, or a take-over, must not need it more than a worker does.
    /// </summary>
    [Fact]
    public async Task A_damaged_place_of_one_actor_keeps_no_other_from_being_recovered()
    {
        var (log, store, opening) = await Written(
            Some.Batch(1, [.. "abcde".Select(id => Some.Change(id.ToString(), 1, "1"))]), Some.Batch(2, "b", 2),
                Some.Batch(3, "d", 2));
        _storage.DamagedPlaces.UnionWith([Some.Actor("b"), Some.Actor("e")]);

        foreach (var foldBytes in (long[])[LogRecovery.FoldBytes, 1])
        {
            var recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, foldBytes, None);

            foreach (var (id, version) in (ValueTuple<string, long>[])[("a", 1), ("c", 1), ("d", 2)])
            {
                Assert.Equal(version, (await store.Load(Some.Actor(id), None))!.Version);
            }

            Assert.Equal(["b", "e"], recovered.SetAside.Select(one => one.Actor.Id).Order());
            Assert.All(recovered.SetAside, one =>
                Assert.Contains($"The place of actor {one.Actor}", one.Damage, StringComparison.Ordinal));
        }
    }

    /// <summary>
    /// The log keeps what was set aside until it is stored: over any number of restarts, and what follows.
    /// </summary>
    [Fact]
    public async Task What_was_set_aside_is_checkpointed_once_its_place_is_repaired_and_the_log_is_trimmed_then()
    {
        var (log, store, opening) = await Written(
            Some.Batch(1, [Some.Change("a", 1, "1"), Some.Change("b", 1, "1")]), Some.Batch(2, "a", 2));
        _storage.DamagedPlaces.Add(Some.Actor("a"));
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, None);
        await using var checkpointer = new Checkpointer(
            log, store, opening, recovered, new CheckpointerOptions(), _time);

        await checkpointer.CheckpointNow();
        Assert.Contains("The place of actor Account/a", checkpointer.LastError, StringComparison.Ordinal);
        Assert.Equal((1, true, false), (_storage.FirstSequence, checkpointer.IsSetAside(Some.Actor("a")),
            checkpointer.IsSetAside(Some.Actor("b"))));

        _storage.DamagedPlaces.Clear();
        Assert.True(checkpointer.IsSetAside(Some.Actor("a")));
        await checkpointer.CheckpointNow();
        Assert.Equal((null, false, 3),
            (checkpointer.LastError, checkpointer.IsSetAside(Some.Actor("a")), _storage.FirstSequence));
        Assert.Equal(2, (await store.Load(Some.Actor("a"), None))!.Version);
    }

    /// <summary>
    /// The actor was another worker's meanwhile (M5): its version is not that of its last change in this log. What was
    /// in doubt there, and is committed, waits for it without a version; what else it changed does not.
    /// </summary>
    [Fact]
    public async Task What_is_committed_at_a_damaged_place_gets_its_version_once_and_when_the_place_is_good()
    {
        var (log, store, opening) = await Written(
            Some.Batch(1, [Some.Change("a", 1, "1"), Some.Change("c", 1, "1")]), InDoubt("a", "b", "c"));
        await Stored(store, opening, "a", 6, "of the other worker");
        await Stored(store, opening, "c", 3, "of the other worker");
        _storage.DamagedPlaces.UnionWith([Some.Actor("a"), Some.Actor("b")]);
        var settled = await Settle(log, store, true);
        Assert.Equal(["a", "b"], settled.Recovered.SetAside.Select(static one => one.Actor.Id).Order());
        Assert.Equal((4, "of the act"), await Read(store, "c"));

        // Over any number of lives; and what goes on meanwhile is not undone.
        for (var version = 5; version < 8; version++)
        {
            await Stored(store, settled.Opening, "c", version, "later");
            settled = await Settle(log, store);
            Assert.Equal(["a", "b"], settled.Recovered.SetAside.Select(static one => one.Actor.Id).Order());
            Assert.Equal((version, "later"), await Read(store, "c"));
        }

        _storage.DamagedPlaces.Remove(Some.Actor("a")); // the key that was renamed is back
        settled = await Settle(log, store);
        Assert.Equal("b", Assert.Single(settled.Recovered.SetAside).Actor.Id);
        Assert.Equal((7, "of the act"), await Read(store, "a"));

        await Stored(store, settled.Opening, "a", 8, "later");
        _storage.DamagedPlaces.Clear();
        settled = await Settle(log, store);
        Assert.Empty(settled.Recovered.SetAside);
        Assert.Equal((1, "of the act"), await Read(store, "b"));
        settled = await Settle(log, store);
        Assert.True(settled.Recovered.IsSettled);
        Assert.Equal(((8, "later"), (1, "of the act")), (await Read(store, "a"), await Read(store, "b")));
    }

    [Fact]
    public async Task What_was_in_doubt_at_a_damaged_place_and_is_aborted_leaves_nothing()
    {
        var (log, store, opening) = await Written(InDoubt("a"));
        await Stored(store, opening, "a", 6, "before");
        _storage.DamagedPlaces.Add(Some.Actor("a"));
        var settled = await Settle(log, store, false);
        Assert.True(settled.Recovered.IsSettled);
        Assert.Empty(settled.Recovered.SetAside);
        _storage.DamagedPlaces.Clear();
        await Settle(log, store);
        Assert.Equal((6, "before"), await Read(store, "a"));
    }

    /// <summary>
    /// A worker that runs gives the versions when it can read the place: after what lies before them is stored, and
    /// by markers that are durable before the changes are.
    /// </summary>
    [Fact]
    public async Task A_worker_that_runs_gives_the_versions_by_markers_and_keeps_the_log_until_they_are_stored()
    {
        var (log, store, opening) = await Written(Some.Batch(1, "a", 1), InDoubt("a", "b"), InDoubt(13, "a"));
        await Stored(store, opening, "a", 6, "of the other worker");
        _storage.DamagedPlaces.UnionWith([Some.Actor("a"), Some.Actor("b")]);
        var settled = await Settle(log, store, true, true);
        var markers = new List<LogRecord>();
        await using var checkpointer = new Checkpointer(
            log, store, settled.Opening, settled.Recovered, new CheckpointerOptions(), _time)
        {
            OnVersionsGiven = markers.Add,
        };
        await checkpointer.CheckpointNow();
        Assert.Contains("The place of actor", checkpointer.LastError, StringComparison.Ordinal);
        Assert.Empty(markers);

        // No hand-over (M5).
        Assert.False(await checkpointer.CheckpointOf(static actor => actor.Id == "b", isUrgent: true));
        Assert.True(await checkpointer.CheckpointOf(static actor => actor.Id == "c", isUrgent: true));

        _storage.DamagedPlaces.Remove(Some.Actor("a"));
        await checkpointer.CheckpointNow();
        await checkpointer.CheckpointNow();
        Assert.Equal(["7,0", "8"], markers.Select(static marker => string.Join(',', ((ActEnded)marker).Versions)));
        Assert.Equal((6, "of the other worker"), await Read(store, "a"));
        Assert.True(checkpointer.IsSetAside(Some.Actor("a")));
        Assert.False(await checkpointer.CheckpointOf(static actor => actor.Id == "a", isUrgent: true));

        var sequence = settled.Opening.NextSequence;
        foreach (var marker in markers)
        {
            await log.Append(settled.Opening.Epoch, sequence, 1, Some.Encode(marker), None);
            checkpointer.OnDurable(marker, sequence++);
            await checkpointer.CheckpointNow();
        }

        Assert.Equal((8, "of the act"), await Read(store, "a"));
        Assert.Equal((false, true, 1, 2), (checkpointer.IsSetAside(Some.Actor("a")),
            checkpointer.IsSetAside(Some.Actor("b")), _storage.FirstSequence, markers.Count));

        _storage.DamagedPlaces.Clear();
        await checkpointer.CheckpointNow();
        Assert.Equal(2, _storage.FirstSequence); // from the record on whose change has no version
        await log.Append(settled.Opening.Epoch, sequence, 1, Some.Encode(markers[2]), None);
        checkpointer.OnDurable(markers[2], sequence++);
        await checkpointer.CheckpointNow();
        Assert.Equal((null, false, sequence), (checkpointer.LastError, checkpointer.IsSetAside(Some.Actor("b")),
            _storage.FirstSequence));
        Assert.Equal((1, "of the act"), await Read(store, "b"));
    }

    /// <summary>
    /// The place was good when the log was read, and damaged before the log was settled; and it is repaired from a
    /// backup that is older than the log. A version behind that one would stand for two changes.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_place_that_is_repaired_with_less_than_the_log_has_gets_no_version_until_that_is_stored_again(
        bool runs)
    {
        var (log, store, opening) = await Written(Some.Batch(1, "a", 1), Some.Batch(2, "a", 2), InDoubt("a", "b"));
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, None, mayReturn: true);
        var places = _storage.DamagedPlaces;
        places.UnionWith([Some.Actor("a"), Some.Actor("b")]);
        var settled = await Settlement.Run(log, store, opening, recovered, [true], _time, None);
        Assert.Equal(2, settled.Recovered.SetAside.Count);
        places.Remove(Some.Actor("a"));
        _storage.States.Remove(Some.Actor("a"));
        await Stored(store, opening, "a", 1, "of the backup");

        if (runs)
        {
            var markers = new List<LogRecord>();
            await using var checkpointer = new Checkpointer(
                log, store, settled.Opening, settled.Recovered, new CheckpointerOptions(), _time)
            {
                OnVersionsGiven = markers.Add,
            };
            await checkpointer.CheckpointNow();
            Assert.Empty(markers);
            Assert.Equal(AppendStatus.Behind, checkpointer.Stopped);
            Assert.True(checkpointer.IsSetAside(Some.Actor("a")));
        }
        else
        {
            var refused = await Assert.ThrowsAsync<CorruptLogException>(
                () => Settlement.Run(log, store, settled.Opening, settled.Recovered, [], _time, None));
            Assert.Contains("Account/a is stored at version 1", refused.Message, StringComparison.Ordinal);
        }

        for (var lives = 0; lives < 2; lives++)
        {
            settled = await Settle(log, store);
            Assert.Equal((3, "of the act"), await Read(store, "a"));
        }

        Assert.Equal("b", Assert.Single(settled.Recovered.SetAside).Actor.Id);
    }

    [Fact]
    public async Task Versions_that_are_stored_already_are_passed_over()
    {
        var (log, store, opening) = await Written(Some.Batch(1, [Fields("a", 1, ("k:x", "1"))]), Some.Batch(2, [Fields("a", 2, ("k:x", "2"))]));
        await store.Checkpoint(opening.Epoch, [new StateCheckpoint(Some.Actor("a"), 0, 5, [new StateField("k:x", Some.Bytes("5"))])], None);

        await LogRecovery.Run(log, store, opening, new Sink(), _time, None);

        Assert.Equal(5, (await store.Load(Some.Actor("a"), None))!.Version);
    }

    [Fact]
    public async Task Fields_that_build_on_a_version_that_was_never_stored_stop_it()
    {
        var (log, store, opening) = await Written(Some.Batch(1, [Fields("a", 3, ("k:x", "1"))]));

        var error = await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(log, store, opening, new Sink(), _time, None));

        Assert.Contains("actor Account/a is stored at version 0, the checkpoint (2, 3]", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_recovery_that_is_passed_by_another_stops()
    {
        var (log, store, opening) = await Written(Some.Batch(1, "a", 1));
        await log.Open(None);

        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => LogRecovery.Run(log, store, opening, new Sink(), _time, None))).Status);
        Assert.Null(await store.Load(Some.Actor("a"), None));
    }

    [Fact]
    public async Task What_the_next_owner_has_trimmed_is_no_damage_to_a_recovery_that_it_has_fenced()
    {
        var (log, store, opening) = await Written(Some.Batch(1, "a", 1), Some.Batch(2, "a", 2));
        var next = await log.Open(None);
        await log.Trim(next.Epoch, 2, default, None);
        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => LogRecovery.Run(log, store, opening, new Sink(), _time, None))).Status);

        await log.Trim(next.Epoch, next.NextSequence, default, None);
        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => LogRecovery.Run(log, store, opening, new Sink(), _time, None))).Status);
        Assert.Contains("record 1", (await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(log, store, next, new Sink(), _time, None))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Running_it_twice_changes_nothing()
    {
        var (log, store, opening) = await Written(
            Some.Batch(7, [Some.Change("a", 1, "1")], Some.Outcome("k1"), Some.Outcome("g1", isCallerKey: false)),
            new ActCommitted { Transaction = TransactionId.Act(12, 0), Changes = [], Outcome = Some.Outcome("k2") });
        var first = await LogRecovery.Run(log, store, opening, new Sink(), _time, None);
        var sink = new Sink();

        var second = await LogRecovery.Run(log, store, opening, sink, _time, None);

        Assert.Equal((7, 12, 7), (second.HighestTransaction, second.HighestActCounter, second.HighestBatch));
        Assert.Equal((first.Records, first.Bytes), (second.Records, second.Bytes));
        Assert.Equal(["k1 1", "g1 1", "k2 2"], sink.Heard);
        Assert.Equal(["k1", "g1", "k2"], second.Outcomes.Select(o => o.RequestId));
        Assert.Equal(1, (await store.Load(Some.Actor("a"), None))!.Version);
    }

    private static ActPrepared InDoubt(params string[] actors) => InDoubt(12, actors);

    private static ActPrepared InDoubt(long number, params string[] actors) => new()
    {
        Transaction = TransactionId.Act(number, 0),
        Root = new Incarnation(2, 1),
        Changes = [.. actors.Select(static actor => Some.Change(actor, 0, "of the act"))],
    };

    /// <summary>What another worker has checkpointed.</summary>
    private static async Task Stored(IStateStore store, LogOpening opening, string actor, long version, string value)
    {
        var state = new StateCheckpoint(
            Some.Actor(actor), 0, version, [new StateField(StateField.WholeState, Some.Bytes(value))]);
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(opening.Epoch, [state], None)).Status);
    }

    private static async Task<(long Version, string Value)> Read(IStateStore store, string actor)
    {
        var state = await store.Load(Some.Actor(actor), None);
        return (state!.Version, Some.Text(state.Fields.Single().Value));
    }

    /// <summary>One more life: opens, recovers and settles.</summary>
    private async Task<SettledRecovery> Settle(ITransactionLog log, IStateStore store, params bool[] verdicts)
    {
        var opening = await log.Open(None);
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, None, mayReturn: true);
        return await Settlement.Run(log, store, opening, recovered, verdicts, _time, None);
    }

    private static ActorChange Fields(string actor, long version, params (string Name, string? Value)[] fields) =>
        new(Some.Actor(actor), version, [.. fields.Select(f => new StateField(f.Name, f.Value is null ? (ReadOnlyMemory<byte>?)null : Some.Bytes(f.Value)))]);

    /// <summary>Adds the records, one group each, and opens the log again.</summary>
    private async Task<(ITransactionLog Log, IStateStore Store, LogOpening Opening)> Written(params LogRecord[] records)
    {
        var log = new MemoryTransactionLog(_storage);
        var opening = await log.Open(None);
        for (var i = 0; i < records.Length; i++)
        {
            Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, opening.NextSequence + i, 1, Some.Encode(records[i]), None)).Status);
        }

        return (log, new MemoryStateStore(_storage, _time, new StateStoreOptions()), await log.Open(None));
    }

    private sealed class Sink : IRecoverySink
    {
        public List<string> Heard { get; } = [];

        public void Outcome(OutcomeRecord outcome, long sequence) => Heard.Add($"{outcome.RequestId} {sequence}");
    }
}
