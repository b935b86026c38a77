using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Conformance;

/// <summary>What every log and its state store must do. One subclass per backend.</summary>
public abstract class LogConformance : IAsyncLifetime
{
    private protected static readonly CancellationToken None = CancellationToken.None;

    private protected ManualTime Time { get; } = new();

    /// <summary>An instance over the same storage at each call, as after a restart or in another process.</summary>
    private protected abstract ITransactionLog NewLog();

    private protected abstract IStateStore NewStore(ITransactionLog log);

    private protected StateStoreOptions StoreOptions { get; } = new() { OutcomeWindow = TimeSpan.FromMinutes(10) };

    public abstract Task InitializeAsync();

    public abstract Task DisposeAsync();

    [ServerFact]
    public async Task An_empty_log_opens_at_record_1()
    {
        var opening = await NewLog().Open(None);

        Assert.Equal((1, 1), (opening.NextSequence, opening.FirstSequence));
        Assert.Equal(default, opening.Watermarks);
        Assert.True(opening.Epoch >= 1);
    }

    [ServerFact]
    public async Task Groups_come_back_as_they_were_appended()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        var first = Some.Encode(Some.Batch(1, "a", 1), Some.Batch(2, "b", 1));
        var second = Some.Encode(Some.Batch(3, "a", 2));

        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 1, 2, first, None)).Status);
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 3, 1, second, None)).Status);

        var groups = await Read(log, 1);
        Assert.Equal([(1, 2), (3, 1)], groups.Select(g => (g.FirstSequence, g.Count)));
        Assert.Equal(first.ToArray(), groups[0].Records.ToArray());
        Assert.Equal(second.ToArray(), groups[1].Records.ToArray());
    }

    /// <summary>What one transaction may change by default, and small groups around it.</summary>
    [ServerFact]
    public async Task A_record_of_64_MiB_is_kept_between_small_ones()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        var states = Enumerable.Range(0, 64).Select(i => Some.Change($"large{i}", 1, new string((char)('a' + (i % 26)), 1 << 20))).ToArray();
        var large = Some.Encode(Some.Batch(2, states));

        await Append(log, opening, 1);
        Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, 2, 1, large, None)).Status);
        Assert.Equal(AppendStatus.AlreadyThere, (await log.Append(opening.Epoch, 2, 1, large, None)).Status);
        await Append(log, opening, 3);

        var groups = await Read(log, 1);
        Assert.Equal([1, 2, 3], groups.Select(g => g.FirstSequence));
        Assert.True(groups[1].Records.Span.SequenceEqual(large.Span), "byte for byte");
        var reopening = await NewLog().Open(None);
        Assert.Equal(4, reopening.NextSequence);
    }

    [ServerFact]
    public async Task Reading_starts_with_the_group_that_holds_the_record()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 3);
        await Append(log, opening, 4, count: 2);
        await Append(log, opening, 6, count: 1);

        Assert.Equal([1, 4, 6], (await Read(log, 3)).Select(g => g.FirstSequence));
        Assert.Equal([4, 6], (await Read(log, 4)).Select(g => g.FirstSequence));
        Assert.Equal([4, 6], (await Read(log, 5)).Select(g => g.FirstSequence));
        Assert.Equal([6], (await Read(log, 6)).Select(g => g.FirstSequence));
        Assert.Empty(await Read(log, 7));
    }

    [ServerFact]
    public async Task A_log_opens_again_where_it_ended_with_a_higher_epoch()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 3);
        await log.DisposeAsync();

        var again = NewLog();
        var reopening = await again.Open(None);

        Assert.Equal((4, 1), (reopening.NextSequence, reopening.FirstSequence));
        Assert.True(reopening.Epoch > opening.Epoch);
        Assert.Equal([1], (await Read(again, 1)).Select(g => g.FirstSequence));
        Assert.Equal(AppendStatus.Appended, (await Append(again, reopening, 4)).Status);
    }

    [ServerFact]
    public async Task An_append_sent_again_is_there_once()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 2);
        await Append(log, opening, 3);

        Assert.Equal(AppendStatus.AlreadyThere, (await Append(log, opening, 3)).Status);
        Assert.Equal(AppendStatus.AlreadyThere, (await Append(log, opening, 1, count: 2)).Status);
        Assert.Equal([1, 3], (await Read(log, 1)).Select(g => g.FirstSequence));
    }

    [ServerFact]
    public async Task An_append_that_leaves_a_gap_or_overlaps_is_told_so()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 2);

        Assert.Equal(AppendStatus.Gap, (await Append(log, opening, 4)).Status);
        Assert.Equal(AppendStatus.Gap, (await Append(log, opening, 2, count: 2)).Status);
        Assert.Equal([1], (await Read(log, 1)).Select(g => g.FirstSequence));
    }

    [ServerFact]
    public async Task A_writer_that_was_passed_can_change_nothing()
    {
        var old = NewLog();
        var oldStore = NewStore(old);
        var oldOpening = await old.Open(None);
        await Append(old, oldOpening, 1);
        var log = NewLog();
        var opening = await log.Open(None);

        Assert.Equal(AppendStatus.Fenced, (await Append(old, oldOpening, 2)).Status);
        Assert.Equal(AppendStatus.Fenced, (await old.CheckEpoch(oldOpening.Epoch, None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await old.Trim(oldOpening.Epoch, 2, default, None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await oldStore.Checkpoint(oldOpening.Epoch, [Whole("a", 1, "1")], None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await oldStore.Checkpoint(oldOpening.Epoch, [], None)).Status);
        Assert.Equal(AppendStatus.Fenced, (await oldStore.SaveOutcomes(oldOpening.Epoch, [Some.Outcome("k", Now)], None)).Status);

        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, 2)).Status);
        Assert.Equal([1, 2], (await Read(log, 1)).Select(g => g.FirstSequence));
        Assert.Null(await NewStore(log).Load(Some.Actor("a"), None));
        Assert.Null(await NewStore(log).FindOutcome("k", None));
    }

    [ServerFact]
    public async Task The_epoch_can_be_checked_alone()
    {
        var log = NewLog();
        var opening = await log.Open(None);

        Assert.Equal(AppendStatus.Appended, (await log.CheckEpoch(opening.Epoch, None)).Status);
    }

    [ServerFact]
    public async Task Trimming_forgets_whole_groups_below_and_nothing_else()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 3);
        await Append(log, opening, 4, count: 3);
        await Append(log, opening, 7, count: 1);

        Assert.Equal(AppendStatus.Appended, (await log.Trim(opening.Epoch, 5, new LogWatermarks(5, 9), None)).Status);

        var left = await Read(log, 5);
        Assert.Equal([4, 7], left.Select(g => g.FirstSequence));
        var reopening = await NewLog().Open(None);
        Assert.InRange(reopening.FirstSequence, 1, 5);
        Assert.Equal(8, reopening.NextSequence);
        Assert.Equal(new LogWatermarks(5, 9), reopening.Watermarks);
    }

    [ServerFact]
    public async Task A_log_trimmed_to_its_end_goes_on_with_the_next_number()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, count: 3);
        await log.Trim(opening.Epoch, 4, default, None);
        await log.DisposeAsync();

        var again = NewLog();
        var reopening = await again.Open(None);

        Assert.Equal((4, 4), (reopening.NextSequence, reopening.FirstSequence));
        Assert.Equal(AppendStatus.AlreadyThere, (await Append(again, reopening, 3)).Status);
        Assert.Equal(AppendStatus.Appended, (await Append(again, reopening, 4)).Status);
        Assert.Equal([4], (await Read(again, 4)).Select(g => g.FirstSequence));
    }

    [ServerFact]
    public async Task Watermarks_never_fall()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await log.Trim(opening.Epoch, 1, new LogWatermarks(100, 7), None);
        await log.Trim(opening.Epoch, 1, new LogWatermarks(50, 9), None);
        await log.Trim(opening.Epoch, 1, new LogWatermarks(60, 3), None); // each by itself

        Assert.Equal(new LogWatermarks(100, 9), (await NewLog().Open(None)).Watermarks);
    }

    [ServerFact]
    public async Task A_state_comes_back_as_it_was_folded()
    {
        var (log, store, epoch) = await Opened();

        Assert.Null(await store.Load(Some.Actor("a"), None));
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, [Whole("a", 3, """{"balance":10}"""), Whole("b", 1, "1")], None)).Status);

        var state = await store.Load(Some.Actor("a"), None);
        Assert.Equal(3, state!.Version);
        Assert.Equal((StateField.WholeState, """{"balance":10}"""), (state.Fields.Single().Name, Some.Text(state.Fields.Single().Value)));
        await store.DisposeAsync();
        await log.DisposeAsync();
        Assert.Equal(1, (await NewStore(NewLog()).Load(Some.Actor("b"), None))!.Version);
    }

    [ServerFact]
    public async Task A_fold_takes_effect_only_from_a_stored_version_in_its_range()
    {
        var (_, store, epoch) = await Opened();
        await store.Checkpoint(epoch, [Whole("a", 5, "five")], None);

        // Older than what is stored: skipped, not an error; a checkpoint may be repeated.
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, [Whole("a", 4, "four")], None)).Status);
        Assert.Equal("five", await State(store, "a"));
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, [Whole("a", 5, "other")], None)).Status);
        Assert.Equal("five", await State(store, "a"));
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, [Whole("a", 9, "nine")], None)).Status);
        Assert.Equal("nine", await State(store, "a"));
    }

    [ServerFact]
    public async Task A_fold_of_fields_that_skips_a_version_is_told_so_and_changes_nothing()
    {
        var (_, store, epoch) = await Opened();
        await store.Checkpoint(epoch, [Fields("a", 0, 2, ("k:x", "1"))], None);

        var result = await store.Checkpoint(epoch, [Whole("b", 1, "1"), Fields("a", 3, 4, ("k:x", "2"))], None);

        Assert.Equal(AppendStatus.Behind, result.Status);
        Assert.Contains("Account", result.Detail, StringComparison.Ordinal);
        Assert.Equal(2, (await store.Load(Some.Actor("a"), None))!.Version);
        Assert.Null(await store.Load(Some.Actor("b"), None));
    }

    [ServerFact]
    public async Task Fields_are_set_and_deleted_one_by_one()
    {
        var (_, store, epoch) = await Opened();
        await store.Checkpoint(epoch, [Fields("a", 0, 1, ("k:x", "1"), ("k:y", "2"), ("k:", "empty"))], None);
        await store.Checkpoint(epoch, [Fields("a", 1, 3, ("k:y", null), ("k:z", "3"), ("k:x", ""))], None);

        var state = await store.Load(Some.Actor("a"), None);

        Assert.Equal(3, state!.Version);
        Assert.Equal(
            [("k:", "empty"), ("k:x", ""), ("k:z", "3")],
            state.Fields.Select(f => (f.Name, Some.Text(f.Value))).OrderBy(f => f.Name, StringComparer.Ordinal));
    }

    [ServerFact]
    public async Task Folds_that_no_store_could_keep_are_refused_by_name()
    {
        var (_, store, epoch) = await Opened();

        Assert.Contains("version", (await Assert.ThrowsAsync<ArgumentException>(() => store.Checkpoint(epoch, [Fields("a", 0, 1, ("version", "1"))], None))).Message, StringComparison.Ordinal);
        Assert.Contains("twice", (await Assert.ThrowsAsync<ArgumentException>(() => store.Checkpoint(epoch, [Whole("a", 1, "1"), Whole("a", 2, "2")], None))).Message, StringComparison.Ordinal);
        Assert.Contains("(3, 3]", (await Assert.ThrowsAsync<ArgumentException>(() => store.Checkpoint(epoch, [Fields("a", 3, 3)], None))).Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task Many_actors_fold_in_one_call()
    {
        var (_, store, epoch) = await Opened();
        var checkpoints = Enumerable.Range(0, 1000).Select(i => Whole($"n{i}", 1, new string('x', i))).ToList();

        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, checkpoints, None)).Status);

        foreach (var i in new[] { 0, 199, 200, 201, 999 })
        {
            Assert.Equal(new string('x', i), await State(store, $"n{i}"));
        }
    }

    [ServerFact]
    public async Task Unusual_names_of_actors_stay_apart()
    {
        var (_, store, epoch) = await Opened();
        string[] names =
        [
            "a", "A", "a/b", "a||b", "a'b\"c", "{a}", "{state}", "}{", "a b", " ", "a\0b", "\0", "é", "e\u0301", "日本", "🦊", "a:b", "a%2Fb", "%", "\r\n", "*", new string('n', 4000),
        ];
        List<ActorKey> actors = [];
        foreach (var type in new[] { "Account", "Acc/ount", "Acc%2Fount", "a" })
        {
            actors.AddRange(names.Select(name => new ActorKey(type, name)));
        }

        actors.Add(new ActorKey("Account", "x/y"));
        actors.Add(new ActorKey("Account/x", "y"));
        var checkpoints = actors.Select((actor, i) => new StateCheckpoint(actor, 0, i + 1, [new StateField(StateField.WholeState, Some.Bytes($"s{i}"))])).ToList();
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(epoch, checkpoints, None)).Status);

        for (var i = 0; i < actors.Count; i++)
        {
            var state = await store.Load(actors[i], None);
            Assert.Equal((i + 1, $"s{i}"), (state!.Version, Some.Text(state.Fields.Single().Value)));
        }
    }

    [ServerFact]
    public async Task Copied_outcomes_are_found_for_their_window_from_the_copying_on_and_dropped_behind_it()
    {
        var (_, store, epoch) = await Opened();
        var now = Now;
        var saved = Some.Outcome("order/1 🦊", now, payload: """{"left":5}""");
        OutcomeRecord[] outcomes = [saved, Some.Outcome("queued before an outage", now - 11 * 60_000), Some.Outcome("by a clock ahead", now + 60 * 60_000)];
        Assert.Equal(AppendStatus.Appended, (await store.SaveOutcomes(epoch, outcomes, None)).Status);

        var found = await store.FindOutcome("order/1 🦊", None);
        Assert.Equal((saved.RequestHash, saved.AtUnixMs, saved.Transaction), (found!.RequestHash, found.AtUnixMs, found.Transaction));
        Assert.Equal("""{"left":5}""", Some.Text(found.Payload));
        Assert.Null(await store.FindOutcome("never", None));

        for (var minutes = 0; minutes < 12; minutes += 3)
        {
            Assert.Equal(AppendStatus.Appended, (await store.DropOutcomes(epoch, None)).Status);
            foreach (var outcome in outcomes)
            {
                Assert.NotNull(await store.FindOutcome(outcome.RequestId, None));
            }

            await store.SaveOutcomes(epoch, [Some.Outcome($"at {minutes}", now)], None);
            Time.Advance(TimeSpan.FromMinutes(3));
        }

        Time.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(AppendStatus.Appended, (await store.DropOutcomes(epoch, None)).Status);
        foreach (var outcome in outcomes)
        {
            Assert.Null(await store.FindOutcome(outcome.RequestId, None));
        }

        Assert.NotNull(await store.FindOutcome("at 9", None));
    }

    [ServerFact]
    public async Task Copies_of_an_earlier_life_stay_for_the_window_from_the_next_one_on()
    {
        var log = NewLog();
        var epoch = (await log.Open(None)).Epoch;
        await using (var store = NewStore(log))
        {
            await store.SaveOutcomes(epoch, [Some.Outcome("first", Now)], None);
            Time.Advance(TimeSpan.FromMinutes(7));
            await store.SaveOutcomes(epoch, [Some.Outcome("later", Now)], None);
        }

        Time.Advance(TimeSpan.FromHours(3)); // nobody lives
        epoch = (await log.Open(None)).Epoch;
        await using var next = NewStore(log);
        await next.DropOutcomes(epoch, None);
        Assert.NotNull(await next.FindOutcome("first", None));
        Time.Advance(TimeSpan.FromMinutes(9.5));
        await next.DropOutcomes(epoch, None);
        Assert.Null(await next.FindOutcome("first", None));
        Assert.NotNull(await next.FindOutcome("later", None));
        Time.Advance(TimeSpan.FromMinutes(7));
        await next.DropOutcomes(epoch, None);
        Assert.Null(await next.FindOutcome("later", None));
    }

    [ServerFact]
    public async Task Copies_grow_old_also_when_no_life_is_as_long_as_a_minute()
    {
        var seconds = 0;
        for (var life = 0; life < 80; life++)
        {
            var log = NewLog();
            var epoch = (await log.Open(None)).Epoch;
            await using var store = NewStore(log);
            for (var checkpoint = 0; checkpoint < 5; checkpoint++)
            {
                Assert.Equal(AppendStatus.Appended, (await store.SaveOutcomes(epoch, [Some.Outcome($"life {life}", Now), Some.Outcome($"{life}.{checkpoint}", Now)], None)).Status);
                Time.Advance(TimeSpan.FromSeconds(5));
                seconds += 5;
            }

            var isThere = await store.FindOutcome("life 0", None) is not null;
            Assert.True(isThere || seconds > 600, $"it is forgotten after {seconds} s");
            Assert.False(isThere && seconds > 1500, $"it is there after {seconds} s");
        }
    }

    [ServerFact]
    public async Task An_archive_is_cleared_unless_something_was_copied_since()
    {
        var (_, store, epoch) = await Opened();
        if (store is not IOutcomeArchive archive)
        {
            return; // files have one worker
        }

        Assert.False((await archive.Look(None)).HoldsAny);
        await store.SaveOutcomes(epoch, [Some.Outcome("a", Now)], None);
        var seen = await archive.Look(None);
        await store.SaveOutcomes(epoch, [Some.Outcome("b", Now)], None);
        await archive.Clear(seen, None);
        Assert.NotNull(await store.FindOutcome("a", None));

        seen = await archive.Look(None);
        await archive.Clear(seen, None);
        Assert.Null(await store.FindOutcome("a", None));
        Assert.Null(await store.FindOutcome("b", None));
        Assert.Equal((false, seen.Copied), ((await archive.Look(None)).HoldsAny, (await archive.Look(None)).Copied));
    }

    [ServerFact]
    public async Task A_writer_flushes_in_order_what_many_threads_enqueue()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        var observer = new Observer();
        await using (var writer = new LogWriter(log, opening, observer, new LogWriterOptions(), TimeProvider.System))
        {
            await Task.WhenAll(Enumerable.Range(0, 4).Select(t => Task.Run(() =>
            {
                for (var i = 0; i < 100; i++)
                {
                    writer.Enqueue(Some.Batch((t * 1000) + i + 1, $"t{t}", i + 1));
                }
            })));
            await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(400, writer.DurableSequence);
            Assert.True(writer.IsFree);
            Assert.Equal(0, writer.QueuedBytes);
        }

        Assert.Equal(400, observer.LastFlushed);
        var records = (await Read(log, 1)).SelectMany(Some.Decode).ToList();
        Assert.Equal(Enumerable.Range(1, 400).Select(i => (long)i), records.Select(r => r.Sequence));
        foreach (var thread in records.Select(r => ((LocalBatchCommitted)r.Record).Changes.Single()).GroupBy(c => c.Actor))
        {
            Assert.Equal(Enumerable.Range(1, 100).Select(i => (long)i), thread.Select(c => c.Version));
        }
    }

    [ServerFact]
    public async Task An_append_of_unknown_outcome_is_resolved_before_anything_after_it_is_acknowledged()
    {
        foreach (var fault in new[] { AppendFault.BeforeWrite, AppendFault.AfterWrite })
        {
            var log = new FaultyLog(NewLog());
            var opening = await log.Open(None);
            var observer = new Observer();
            await using var writer = new LogWriter(log, opening, observer, new LogWriterOptions(), TimeProvider.System);
            log.Faults.Enqueue(fault);
            log.Faults.Enqueue(fault);
            var first = writer.Enqueue(Some.Batch(1, "a", 1));
            writer.Enqueue(Some.Batch(2, "a", 2));
            await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(30));

            Assert.Equal(["unavailable", "available", $"flushed {first}", $"flushed {first + 1}"], observer.Heard);
            Assert.Equal(log.Appends[0], log.Appends[1], AppendsAreEqual);
            Assert.Equal(log.Appends[0], log.Appends[2], AppendsAreEqual);
            Assert.Equal(2, (await Read(log, opening.NextSequence)).Sum(g => g.Count));
        }
    }

    [ServerFact]
    public async Task Checkpointing_loses_nothing_that_a_restart_needs()
    {
        var log = NewLog();
        var store = NewStore(log);
        var opening = await log.Open(None);
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), Time, None);
        await using var checkpointer = new Checkpointer(log, store, opening, recovered, new CheckpointerOptions(), Time);
        var sequence = 0L;
        for (var round = 1; round <= 3; round++)
        {
            LogRecord[] records =
            [
                Some.Batch(round * 10, [Some.Change("a", round, $"{round}"), Some.Change($"r{round}", 1, "new")], Some.Outcome($"key {round}", Now)),
                new ActCommitted { Transaction = TransactionId.Act(round, 3), Changes = [Some.Change("b", round, $"{round}")], Outcome = Some.Outcome($"gen {round}", Now, isCallerKey: false) },
            ];
            Assert.Equal(AppendStatus.Appended, (await log.Append(opening.Epoch, sequence + 1, 2, Some.Encode(records), None)).Status);
            if (round < 3)
            {
                checkpointer.OnDurable(records[0], ++sequence);
                checkpointer.OnDurable(records[1], ++sequence);
                Assert.False(checkpointer.IsCheckpointed(Some.Actor("a")));
                await checkpointer.CheckpointNow();
                Assert.Null(checkpointer.LastError);
                Assert.True(checkpointer.IsCheckpointed(Some.Actor("a")));
                Assert.Equal(0, checkpointer.PendingActors);
            }
        }

        var again = NewLog();
        var reopening = await again.Open(None);
        var sink = new Sink();
        var againStore = NewStore(again);
        Assert.Equal(5, reopening.FirstSequence);
        var summary = await LogRecovery.Run(again, againStore, reopening, sink, Time, None);
        Assert.Equal((30, 3, 30, 2), (summary.HighestTransaction, summary.HighestActCounter, summary.HighestBatch, summary.Records));
        Assert.Equal([("key 3", 5), ("gen 3", 6)], sink.Outcomes.Select(o => (o.Outcome.RequestId, o.Sequence)));
        Assert.Equal("3", await State(againStore, "a"));
        Assert.Equal("3", await State(againStore, "b"));
        Assert.Equal("new", await State(againStore, "r1"));
        var reader = new OutcomeReader(again, againStore);
        Assert.Equal("key 1", (await reader.Find(1, "key 1", None))!.RequestId);
        Assert.Equal("key 3", (await reader.Find(5, "key 3", None))!.RequestId);
        Assert.Equal("gen 3", (await reader.Find(6, "gen 3", None))!.RequestId);
        Assert.Null(await reader.Find(6, "never", None));

        // Folding what recovery found trims it, outcomes first.
        await using var next = new Checkpointer(again, againStore, reopening, summary, new CheckpointerOptions(), Time);
        await next.CheckpointNow();
        Assert.Null(next.LastError);
        Assert.Equal("key 3", (await reader.Find(5, "key 3", None))!.RequestId);
        var third = await NewLog().Open(None);
        Assert.Equal((7, 7, new LogWatermarks(30, 3)), (third.FirstSequence, third.NextSequence, third.Watermarks));
    }

    [ServerFact]
    public async Task A_fenced_checkpointer_stops_and_says_so()
    {
        var log = NewLog();
        var store = NewStore(log);
        var opening = await log.Open(None);
        var recovered = await LogRecovery.Run(log, store, opening, new Sink(), Time, None);
        AppendStatus? heard = null;
        await using var checkpointer = new Checkpointer(log, store, opening, recovered, new CheckpointerOptions(), Time) { OnStopped = (status, _) => heard = status };
        var record = Some.Batch(1, "a", 1);
        await log.Append(opening.Epoch, 1, 1, Some.Encode(record), None);
        checkpointer.OnDurable(record, 1);
        await NewLog().Open(None);

        await checkpointer.CheckpointNow();

        Assert.Equal((AppendStatus.Fenced, AppendStatus.Fenced), (checkpointer.Stopped, heard));
        Assert.False(checkpointer.IsCheckpointed(Some.Actor("a")));
        Assert.Null(await store.Load(Some.Actor("a"), None));
    }

    [ServerFact]
    public async Task Recovery_stops_at_a_version_that_does_not_follow()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await log.Append(opening.Epoch, 1, 3, Some.Encode(Some.Batch(1, "a", 1), Some.Batch(2, "b", 1), Some.Batch(3, "a", 3)), None);

        var again = NewLog();
        var reopening = await again.Open(None);
        var error = await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(again, NewStore(again), reopening, new Sink(), Time, None));

        Assert.Contains("Record 3 brings actor Account/a to version 3; the change before it made version 1", error.Message, StringComparison.Ordinal);
    }

    [ServerFact]
    public async Task Recovery_says_which_record_is_damaged()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        var damaged = Some.Encode(Some.Batch(1, "a", 1), Some.Batch(2, "b", 1)).ToArray();
        damaged[^3] ^= 0x40;
        await Append(log, opening, 1);
        await log.Append(opening.Epoch, 2, 2, damaged, None);
        await Append(log, opening, 4);

        var error = await Assert.ThrowsAsync<CorruptLogException>(() => LogRecovery.Run(log, NewStore(log), opening with { NextSequence = 5 }, new Sink(), Time, None));

        Assert.Contains("Record 3 fails its checksum", error.Message, StringComparison.Ordinal);
    }

    private protected long Now => Time.GetUtcNow().ToUnixTimeMilliseconds();

    private protected static async Task<List<LogGroup>> Read(ITransactionLog log, long from)
    {
        var groups = new List<LogGroup>();
        await foreach (var group in log.Read(from, None))
        {
            groups.Add(group);
        }

        return groups;
    }

    private protected static Task<AppendResult> Append(ITransactionLog log, LogOpening opening, long first, int count = 1)
    {
        var records = Enumerable.Range(0, count).Select(i => (LogRecord)Some.Batch(first + i, [])).ToArray();
        return log.Append(opening.Epoch, first, count, Some.Encode(records), None);
    }

    [ServerFact]
    public async Task Stored_actors_are_listed_in_the_order_of_their_ids_page_by_page()
    {
        var (_, store, epoch) = await Opened();
        string[] ids = [.. Enumerable.Range(0, 2500).Select(i => $"n{i}"), "a*", "ab", "a[b]", "a?", "a\\", "é/ü", "z^-"];
        static StateCheckpoint Of(string type, string id) => new(new ActorKey(type, id), 0, 7, [new StateField(StateField.WholeState, Some.Bytes("1"))]);
        await store.Checkpoint(epoch, [.. ids.Select(id => Of("T", id)), Of("T2", "a"), Of("S", "a")], None);
        var listing = (IActorListing)store;

        var pages = new List<StoredActor>();
        for (string? after = null; ;)
        {
            var page = await listing.List(new ActorListQuery("T", after, "", 1000), None);
            pages.AddRange(page);
            if (page.Count < 1000) break;
            after = page[^1].Id;
        }

        Assert.Equal(ids.Order(StringComparer.Ordinal), pages.Select(actor => actor.Id));
        Assert.All(pages, actor => Assert.Equal(7, actor.Version));
        foreach (var prefix in (string[])["a*", "a[", "a?", "a\\", "é/", "z^-", "n249", "nothing"])
        {
            var found = await listing.List(new ActorListQuery("T", null, prefix, 1000), None);
            Assert.Equal(ids.Where(id => id.StartsWith(prefix, StringComparison.Ordinal)).Order(StringComparer.Ordinal), found.Select(actor => actor.Id));
        }

        Assert.Equal(["n0", "n10"], (await listing.List(new ActorListQuery("T", null, "n", 2, actor => actor.Id.EndsWith('0')), None)).Select(actor => actor.Id));
    }

    [ServerFact]
    public async Task A_deleted_actor_keeps_its_version_and_is_listed_as_one_without_a_state()
    {
        var (log, store, epoch) = await Opened();
        await store.Checkpoint(epoch, [Whole("a", 3, "1"), Whole("b", 1, "1")], None);
        await store.Checkpoint(epoch, [Fields("a", 0, 4, (StateField.WholeState, null)), Fields("new", 0, 1, (StateField.WholeState, null))], None);
        for (var round = 0; round < 2; round++)
        {
            var type = Some.Actor("a").Type;
            var found = await ((IActorListing)store).List(new ActorListQuery(type, null, "", 10), None);
            Assert.Equal([("a", 4L, false), ("b", 1L, true), ("new", 1L, false)], found.Select(actor => (actor.Id, actor.Version ?? 0, actor.HasState)));
            Assert.Equal((4, 0), ((await store.Load(Some.Actor("a"), None))!.Version, (await store.Load(Some.Actor("a"), None))!.Fields.Count));
            store = NewStore(log);
        }

        // What is older than the deletion changes nothing; what is newer does.
        await store.Checkpoint(epoch, [Whole("a", 4, "2")], None);
        Assert.Empty((await store.Load(Some.Actor("a"), None))!.Fields);
        await store.Checkpoint(epoch, [Whole("a", 5, "3")], None);
        Assert.Single((await store.Load(Some.Actor("a"), None))!.Fields);
    }

    private protected async Task<(ITransactionLog Log, IStateStore Store, long Epoch)> Opened()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        return (log, NewStore(log), opening.Epoch);
    }

    private protected static StateCheckpoint Whole(string actor, long to, string state) =>
        new(Some.Actor(actor), 0, to, [new StateField(StateField.WholeState, Some.Bytes(state))]);

    private protected static StateCheckpoint Fields(string actor, long from, long to, params (string Name, string? Value)[] fields) =>
        new(Some.Actor(actor), from, to, [.. fields.Select(f => new StateField(f.Name, f.Value is null ? (ReadOnlyMemory<byte>?)null : Some.Bytes(f.Value)))]);

    private protected static async Task<string> State(IStateStore store, string actor) =>
        Some.Text((await store.Load(Some.Actor(actor), None))!.Fields.Single().Value);

    private static bool AppendsAreEqual((long First, int Count, byte[] Bytes) one, (long First, int Count, byte[] Bytes) other) =>
        one.First == other.First && one.Count == other.Count && one.Bytes.AsSpan().SequenceEqual(other.Bytes);

    private protected sealed class Sink : IRecoverySink
    {
        public List<(OutcomeRecord Outcome, long Sequence)> Outcomes { get; } = [];

        public void Outcome(OutcomeRecord outcome, long sequence) => Outcomes.Add((outcome, sequence));
    }
}
