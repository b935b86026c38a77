using Snapper.Protocol;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Checkpoints;

public sealed class CheckpointerTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly MemoryStorage _storage = new();
    private readonly ManualTime _time = new();
    private readonly MemoryTransactionLog _log;
    private readonly SpyStore _store;
    private LogOpening _opening = null!;
    private Checkpointer _checkpointer = null!;
    private readonly List<string> _damaged = [];
    private readonly List<(TimeSpan Since, string Why)> _failing = [];
    private long _sequence;

    public CheckpointerTests()
    {
        _log = new MemoryTransactionLog(_storage);
        _store = new SpyStore(new MemoryStateStore(_storage, _time, new StateStoreOptions()));
    }

    public async Task InitializeAsync()
    {
        _opening = await _log.Open(None);
        var recovered = await LogRecovery.Run(_log, _store, _opening, new NoSink(), _time, None);
        _store.Checkpoints.Clear();
        var options = new CheckpointerOptions { UnfoldedBytesMax = 64 * 1024 };
        _checkpointer = new Checkpointer(_log, _store, _opening, recovered, options, _time)
        {
            OnDamaged = _damaged.Add,
            OnFailing = (since, why) => _failing.Add((since, why)),
        };
    }

    public async Task DisposeAsync() => await _checkpointer.DisposeAsync();

    [Fact]
    public async Task Nothing_runs_while_there_is_nothing_to_fold()
    {
        _checkpointer.Start();
        Assert.Equal(0, _time.Armed);
        await Durable(Some.Batch(1, "a", 1));
        Assert.Equal(TimeSpan.FromSeconds(5), _time.NextIn);
        await Durable(Some.Batch(2, "a", 2));

        _time.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal((1L, 0, 0), (_checkpointer.Checkpoints, _checkpointer.PendingActors, _time.Armed));
        Assert.Equal([("a", 0L, 2L)], _store.Checkpoints.Select(f => (f.Actor.Id, f.From, f.To)));
        Assert.Empty(_storage.Groups);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal(1, _checkpointer.Checkpoints);
    }

    [Fact]
    public async Task Many_bytes_start_a_fold_at_once()
    {
        _checkpointer.Start();
        await Durable(Some.Batch(1, [Some.Change("a", 1, new string('x', 70_000))]));

        Assert.Equal(TimeSpan.Zero, _time.NextIn);
        _time.Advance(TimeSpan.Zero);
        Assert.Equal((1L, 0L), (_checkpointer.Checkpoints, _checkpointer.UnfoldedBytes));
    }

    [Fact]
    public async Task Without_a_start_it_folds_when_it_is_told_to()
    {
        await Durable(Some.Batch(1, "a", 1));
        Assert.Equal(0, _time.Armed);

        await _checkpointer.CheckpointNow();

        Assert.True(_checkpointer.IsCheckpointed(Some.Actor("a")));
        Assert.Equal(2, _checkpointer.TrimmedBelow);
    }

    [Fact]
    public async Task Changes_of_fields_are_merged_and_name_the_version_that_they_build_on()
    {
        await Durable(Batch(Fields("a", 1, ("k:x", "1"), ("k:y", "1"))));
        await _checkpointer.CheckpointNow();
        await Durable(Batch(Fields("a", 2, ("k:x", "2"))));
        await Durable(Batch(Fields("a", 3, ("k:x", "3"), ("k:y", null))));

        await _checkpointer.CheckpointNow();

        Assert.Equal([(0L, 1L), (1L, 3L)], _store.Checkpoints.Select(f => (f.From, f.To)));
        Assert.Equal(["k:x=3", "k:y=deleted"], _store.Checkpoints[1].Fields.Select(f => $"{f.Name}={(f.Value is null ? "deleted" : Some.Text(f.Value))}"));
        Assert.Equal("k:x", (await _store.Load(Some.Actor("a"), None))!.Fields.Single().Name);
    }

    [Fact]
    public async Task What_comes_during_a_fold_waits_for_the_next()
    {
        _store.Hold = new TaskCompletionSource();
        _checkpointer.Start();
        await Durable(Some.Batch(1, [Some.Change("a", 1, "1"), Some.Change("b", 1, "1")]));
        var checkpoint = _checkpointer.CheckpointNow();
        await Durable(Some.Batch(2, "a", 2));
        Assert.Equal(2, _checkpointer.PendingActors);
        Assert.False(_checkpointer.IsCheckpointed(Some.Actor("b")));
        _store.Hold.SetResult();
        await checkpoint;

        Assert.Equal((false, true, 1), (_checkpointer.IsCheckpointed(Some.Actor("a")), _checkpointer.IsCheckpointed(Some.Actor("b")), _checkpointer.PendingActors));
        Assert.Equal((2L, 2L), (_checkpointer.TrimmedBelow, _storage.Groups.Single().FirstSequence));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(0, _checkpointer.PendingActors);
    }

    [Fact]
    public async Task Some_actors_are_folded_alone_with_all_outcomes_and_the_others_wait_for_the_next_fold()
    {
        _checkpointer.Start();
        await Durable(Some.Batch(1, [Some.Change("a", 1, "1"), Some.Change("b", 1, "1")], Some.Outcome("key", Now)));

        Assert.True(await _checkpointer.CheckpointOf(actor => actor.Id == "a", isUrgent: true));

        Assert.Equal([("a", 0L, 1L)], _store.Checkpoints.Select(f => (f.Actor.Id, f.From, f.To)));
        Assert.Equal((true, false), (_checkpointer.IsCheckpointed(Some.Actor("a")), _checkpointer.IsCheckpointed(Some.Actor("b"))));
        Assert.NotNull(await _store.FindOutcome("key", None));
        Assert.Single(_storage.Groups);
        await Durable(Some.Batch(2, "a", 2));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal([("a", 0L, 1L), ("a", 0L, 2L), ("b", 0L, 1L)], _store.Checkpoints.Select(f => (f.Actor.Id, f.From, f.To)).Order());
        Assert.Equal((0, 0, 1L), (_checkpointer.PendingActors, _storage.Groups.Count, _checkpointer.SavedOutcomes));
    }

    [Fact]
    public async Task Some_actors_whose_fold_fails_lie_under_what_has_come_since()
    {
        await Durable(Batch(Fields("a", 1, ("k:x", "1"))), Some.Outcome("key", Now));
        _store.Failures.Enqueue(new IOException("away"));
        Assert.False(await _checkpointer.CheckpointOf(actor => actor.Id == "a", isUrgent: true));
        Assert.Contains("away", _checkpointer.LastError, StringComparison.Ordinal);
        await Durable(Batch(Fields("a", 2, ("k:y", "2"))));
        await Durable(Some.Batch(3, "b", 1));

        Assert.True(await _checkpointer.CheckpointOf(actor => actor.Id == "a", isUrgent: true));

        Assert.Equal([("a", 0L, 2L)], _store.Checkpoints.Select(f => (f.Actor.Id, f.From, f.To)));
        Assert.NotNull(await _store.FindOutcome("key", None));
        await _checkpointer.CheckpointNow();
        Assert.Equal((0, 0), (_checkpointer.PendingActors, _storage.Groups.Count));
        Assert.True(await _checkpointer.CheckpointOf(static _ => true, isUrgent: true));
    }

    [Fact]
    public async Task A_store_that_fails_is_tried_again_and_nothing_is_lost()
    {
        _checkpointer.Start();
        await Durable(Batch(Fields("a", 1, ("k:x", "1"))), Some.Outcome("key", Now));
        _store.Failures.Enqueue(new IOException("away"));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Contains("away", _checkpointer.LastError, StringComparison.Ordinal);
        Assert.False(_checkpointer.IsCheckpointed(Some.Actor("a")));
        await Durable(Batch(Fields("a", 2, ("k:y", "2"))));
        await Durable(Some.Batch(3, "b", 1));
        _store.Refusals = 1;
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Contains("Refused", _checkpointer.LastError, StringComparison.Ordinal);
        Assert.Equal((2, 3), (_checkpointer.PendingActors, _storage.Groups.Count));

        _time.Advance(TimeSpan.FromSeconds(5));

        Assert.Null(_checkpointer.LastError);
        Assert.Equal((0, 0, 1L), (_checkpointer.PendingActors, _storage.Groups.Count, _checkpointer.SavedOutcomes));
        Assert.Equal(["k:x", "k:y"], (await _store.Load(Some.Actor("a"), None))!.Fields.Select(f => f.Name).Order(StringComparer.Ordinal));
        Assert.NotNull(await _store.FindOutcome("key", None));
    }

    /// <summary>
    /// Nothing is trimmed until it is put right, and the log grows: operators must know, and not each time.
    /// </summary>
    [Fact]
    public async Task Damage_that_keeps_all_states_from_being_checkpointed_is_said_once_with_its_key()
    {
        _checkpointer.Start();
        await Durable(Some.Batch(1, "a", 1));
        for (var i = 0; i < 3; i++)
        {
            _store.Failures.Enqueue(new CorruptLogException("key Account/a has another type"));
            _time.Advance(TimeSpan.FromSeconds(5));
            Assert.Equal(["key Account/a has another type"], _damaged);
            Assert.Single(_storage.Groups);
        }

        _store.Failures.Enqueue(new CorruptLogException("key Account/b has another type"));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal("key Account/b has another type", _damaged[^1]);
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Empty(_storage.Groups);
        Assert.Equal(2, _damaged.Count);
    }

    /// <summary>
    /// One bad place kept every actor in memory and every start reading the whole log. The log still waits for it.
    /// </summary>
    [Theory]
    [InlineData("b")]
    [InlineData("a", "c")]
    [InlineData("a", "b", "c", "d")]
    public async Task An_actor_whose_place_is_damaged_is_set_aside(params string[] damaged)
    {
        _checkpointer.Start();
        _store.Damaged.UnionWith(damaged);
        string[] all = ["a", "b", "c", "d"];
        await Durable(Some.Batch(1, [.. all.Select(id => Some.Change(id, 1, "1"))]), Some.Outcome("key", Now));

        for (var i = 0; i < 2; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(5));
            Assert.Equal(damaged, all.Where(id => !_checkpointer.IsCheckpointed(Some.Actor(id))));
            Assert.Equal(4 - damaged.Length, _store.Checkpoints.Count);
            Assert.Equal((1, 1), (_checkpointer.SavedOutcomes, _damaged.Count));
            Assert.NotEmpty(_storage.Groups);
            Assert.Contains("has another type", _checkpointer.LastError, StringComparison.Ordinal);
        }

        // What changes meanwhile goes as it comes, and all of it counts when the place is repaired.
        await Durable(Some.Batch(2, [.. all.Select(id => Some.Change(id, 2, "2"))]));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(damaged.Length, _checkpointer.PendingActors);
        _store.Damaged.Clear();
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal((0, 0, null), (_checkpointer.PendingActors, _storage.Groups.Count, _checkpointer.LastError));
        foreach (var id in all)
        {
            Assert.Equal(2, (await _store.Load(Some.Actor(id), None))!.Version);
        }
    }

    /// <summary>
    /// Of a worker whose actors are moved now and then, operators must hear that nothing is trimmed any more.
    /// </summary>
    [Fact]
    public async Task Some_actors_that_are_folded_do_not_end_the_failures_of_the_others()
    {
        _checkpointer.Start();
        _store.Damaged.Add("a");
        await Durable(Some.Batch(1, "a", 1));
        for (var seconds = 5; seconds <= 125; seconds += 5)
        {
            _time.Advance(TimeSpan.FromSeconds(5));
            await Durable(Some.Batch(1 + seconds, "b", seconds / 5));
            Assert.True(await _checkpointer.CheckpointOf(actor => actor.Id == "b", isUrgent: true));
            Assert.Equal(seconds < 65, _checkpointer.IsHealthy);
        }

        Assert.Equal([0, 60, 120], _failing.Select(said => said.Since.TotalSeconds));
        _store.Damaged.Clear();
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.True(_checkpointer.IsHealthy);
        Assert.Equal((0, null), (_checkpointer.PendingActors, _checkpointer.LastError));
    }

    [Fact]
    public async Task Failures_that_last_make_it_unhealthy_and_are_heard_of_once_a_minute()
    {
        _checkpointer.Start();
        await Durable(Some.Batch(1, "a", 1));
        for (var seconds = 5; seconds <= 125; seconds += 5)
        {
            _store.Failures.Enqueue(new IOException("away"));
            _time.Advance(TimeSpan.FromSeconds(5));
            Assert.Equal(seconds < 65, _checkpointer.IsHealthy);
            Assert.Equal(seconds / 5, _checkpointer.Failures);
        }

        Assert.Equal([0, 60, 120], _failing.Select(said => said.Since.TotalSeconds));
        Assert.All(_failing, said => Assert.Contains("away", said.Why, StringComparison.Ordinal));

        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.True(_checkpointer.IsHealthy);
        Assert.Equal(25, _checkpointer.Failures);
    }

    [Fact]
    public async Task A_log_that_cannot_trim_keeps_the_outcomes_for_the_next_try()
    {
        _store.FailingSaves = 1;
        await Durable(Some.Batch(1, "a", 1), Some.Outcome("key", Now));

        await _checkpointer.CheckpointNow();
        Assert.NotNull(_checkpointer.LastError);
        Assert.Single(_storage.Groups);
        await _checkpointer.CheckpointNow();

        Assert.Empty(_storage.Groups);
        Assert.NotNull(await _store.FindOutcome("key", None));
    }

    [Fact]
    public async Task A_version_or_a_record_out_of_order_is_a_broken_invariant()
    {
        await Durable(Some.Batch(1, "a", 1));
        Assert.Throws<ProtocolViolationException>(() => _checkpointer.OnDurable(Some.Batch(2, "a", 2), 5));
        Assert.Contains("version 3; the change before it made version 1", Assert.Throws<ProtocolViolationException>(() => _checkpointer.OnDurable(Some.Batch(2, "a", 3), 2)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Records_are_not_kept_once_they_are_folded()
    {
        var (record, outcome) = DurableWeakly();
        await _checkpointer.CheckpointNow();
        _storage.Outcomes.Clear();

        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();

        Assert.False(record.IsAlive);
        Assert.False(outcome.IsAlive);
    }

    [Fact]
    public async Task Disposing_waits_for_a_fold_that_runs_and_stops_the_clock()
    {
        _store.Hold = new TaskCompletionSource();
        _checkpointer.Start();
        await Durable(Some.Batch(1, "a", 1));
        _time.Advance(TimeSpan.FromSeconds(5));
        var disposing = _checkpointer.DisposeAsync().AsTask();
        Assert.False(disposing.IsCompleted);
        _store.Hold.SetResult();
        await disposing.WaitAsync(TimeSpan.FromSeconds(10));

        _checkpointer.OnDurable(Some.Batch(2, "a", 2), 2);
        Assert.Equal(0, _time.Armed);
    }

    private long Now => _time.GetUtcNow().ToUnixTimeMilliseconds();

    private static LocalBatchCommitted Batch(ActorChange change) => Some.Batch(1, [change]);

    private static ActorChange Fields(string actor, long version, params (string Name, string? Value)[] fields) =>
        new(Some.Actor(actor), version, [.. fields.Select(f => new StateField(f.Name, f.Value is null ? (ReadOnlyMemory<byte>?)null : Some.Bytes(f.Value)))]);

    private Task Durable(LocalBatchCommitted batch, OutcomeRecord outcome) =>
        Durable(new LocalBatchCommitted { Batch = batch.Batch, LastTransaction = batch.LastTransaction, Changes = batch.Changes, Outcomes = [outcome] });

    private async Task Durable(LogRecord record)
    {
        await _log.Append(_opening.Epoch, ++_sequence, 1, Some.Encode(record), None);
        _checkpointer.OnDurable(record, _sequence);
    }

    /// <summary>On a thread of its own, whose stack is gone afterwards and keeps nothing alive.</summary>
    private (WeakReference Record, WeakReference Outcome) DurableWeakly()
    {
        (WeakReference, WeakReference) weak = default;
        var thread = new Thread(() =>
        {
            var outcome = Some.Outcome("key", Now);
            var record = Some.Batch(1, [Some.Change("a", 1, "1")], outcome);
            Durable(record).GetAwaiter().GetResult();
            weak = (new WeakReference(record), new WeakReference(outcome));
        });
        thread.Start();
        thread.Join();
        return weak;
    }
}
