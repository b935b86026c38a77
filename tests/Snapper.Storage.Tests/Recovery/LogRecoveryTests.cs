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
    /// The actor was another worker's meanwhile (M5): its version is not that of its last change in this log.
    /// </summary>
    [Fact]
    public async Task What_was_in_doubt_on_an_actor_that_came_back_is_not_lost_when_its_place_was_damaged()
    {
        var (log, store, opening) = await Written(
            Some.Batch(1, "a", 1),
            new ActPrepared { Transaction = TransactionId.Act(12, 0), Root = new Incarnation(2, 1),
                Changes = [Some.Change("a", 0, "of the act")] });
        var others = new StateCheckpoint(
            Some.Actor("a"), 0, 6, [new StateField(StateField.WholeState, Some.Bytes("of the other worker"))]);
        await store.Checkpoint(opening.Epoch, [others], None);
        _storage.DamagedPlaces.Add(Some.Actor("a"));
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, None, mayReturn: true);

        // The log knows no better version than 1, and the actor has 6: what is committed must not get lost.
        var refused = await Assert.ThrowsAsync<CorruptLogException>(
            () => Settlement.Run(log, store, opening, recovered, [true], _time, None));
        Assert.Contains("its version cannot be known", refused.Message, StringComparison.Ordinal);

        _storage.DamagedPlaces.Clear(); // the key that was renamed is back
        recovered = await LogRecovery.Run(log, store, opening, new Sink(), _time, None, mayReturn: true);
        await Settlement.Run(log, store, opening, recovered, [true], _time, None);
        var a = await store.Load(Some.Actor("a"), None);
        Assert.Equal((7, "of the act"), (a!.Version, Some.Text(a.Fields.Single().Value)));
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
