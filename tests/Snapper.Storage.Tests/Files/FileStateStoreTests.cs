using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Files;

public sealed class FileStateStoreTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-state-").FullName;

    public Task InitializeAsync() => Task.CompletedTask;

    public Task DisposeAsync()
    {
        Directory.Delete(_folder, recursive: true);
        return Task.CompletedTask;
    }

    /// <summary>The probe of the log may trim while states are checkpointed.</summary>
    [Fact]
    public async Task How_much_of_which_file_is_on_disk_is_read_whole_while_that_changes()
    {
        var folder = new LogFolder(_folder, PhysicalFileSystem.Instance);
        using var over = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        var checkpoints = Task.Run(() =>
        {
            for (var i = 1; !over.IsCancellationRequested; i++)
            {
                folder.StatesOnDisk = new(i, i);
            }
        });
        while (!over.IsCancellationRequested)
        {
            if (folder.StatesOnDisk is { } states)
            {
                Assert.Equal(states.Number, states.Bytes);
            }
        }

        await checkpoints;
    }

    [Fact]
    public async Task A_crash_at_any_byte_of_a_fold_leaves_each_state_old_or_new()
    {
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        long before;
        await using (var store = NewStore(log))
        {
            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 1, "old"))], None);
            before = new FileInfo(DataFile(1)).Length;
            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 2, "new"))], None);
        }

        var bytes = await File.ReadAllBytesAsync(DataFile(1));
        for (var length = before; length <= bytes.Length; length += 7)
        {
            await File.WriteAllBytesAsync(DataFile(1), bytes[..(int)length]);
            await using var store = NewStore(log);
            for (var i = 0; i < 10; i++)
            {
                var state = await store.Load(Some.Actor($"{i}"), None);
                Assert.Equal(state!.Version == 1 ? "old" : "new", Some.Text(state.Fields.Single().Value));
            }

            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 2, "new"))], None);
            Assert.Equal(2, (await store.Load(Some.Actor("9"), None))!.Version);
        }
    }

    /// <summary>A disk writes the sectors of one append in any order.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData(9)]
    public async Task A_fold_of_which_a_crash_left_only_later_states_is_left_out_from_the_first_torn_one_on(int torn)
    {
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        long before;
        await using (var store = NewStore(log))
        {
            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 1, "old"))], None);
            before = new FileInfo(DataFile(1)).Length;
            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 2, "new"))], None);
        }

        var bytes = await File.ReadAllBytesAsync(DataFile(1));
        bytes.AsSpan((int)(before + (torn * (bytes.Length - before) / 10)), 20).Clear();
        await File.WriteAllBytesAsync(DataFile(1), bytes);

        await using var found = NewStore(log);
        for (var i = 0; i < 10; i++)
        {
            Assert.Equal(i < torn ? 2 : 1, (await found.Load(Some.Actor($"{i}"), None))!.Version);
        }

        await found.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 2, "new"))], None);
        await using var again = NewStore(log);
        Assert.Equal(2, (await again.Load(Some.Actor("9"), None))!.Version);
    }

    [Fact]
    public async Task Damage_in_the_middle_is_told_with_file_and_offset()
    {
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        await using (var store = NewStore(log))
        {
            await store.Checkpoint(epoch, [.. Enumerable.Range(0, 10).Select(i => Checkpoint(i, 1, "old"))], None);
            await store.Checkpoint(epoch, [Checkpoint(3, 2, "new")], None);
        }

        var bytes = await File.ReadAllBytesAsync(DataFile(1));
        bytes[50] ^= 1;
        await File.WriteAllBytesAsync(DataFile(1), bytes);
        await using var damaged = NewStore(log);

        var error = await Assert.ThrowsAsync<CorruptLogException>(() => damaged.Load(Some.Actor("5"), None));

        Assert.Contains($"{DataFile(1)}, offset 16", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(40)]
    public async Task A_log_whose_states_are_gone_is_not_opened_and_names_the_file(int checkpoints)
    {
        await using (var log = new FileTransactionLog(_folder))
        {
            var epoch = (await log.Open(None)).Epoch;
            await using var store = NewStore(log);
            var text = new string('x', 1_000_000);
            for (var version = 1; version <= checkpoints; version++)
            {
                // Many large ones make the file move to a new one.
                await store.Checkpoint(epoch, [Checkpoint(1, version, text + version)], None);
            }

            await log.Trim(epoch, 1, default, None);
        }

        var file = Directory.GetFiles(_folder, "state-*.dat").Single();
        Assert.Equal(checkpoints == 1, file == DataFile(1));
        await using (var log = new FileTransactionLog(_folder))
        {
            await log.Open(None); // while it is there, nothing is missed
        }

        var meta = await File.ReadAllBytesAsync(Path.Combine(_folder, "meta.json"));
        File.Move(file, file + ".away");
        await using (var log = new FileTransactionLog(_folder))
        {
            var error = await Assert.ThrowsAsync<CorruptLogException>(() => log.Open(None));
            Assert.StartsWith($"File {file} is missing", error.Message, StringComparison.Ordinal);
            Assert.Equal(meta, await File.ReadAllBytesAsync(Path.Combine(_folder, "meta.json")));
        }

        File.Move(file + ".away", file);
        await using var again = new FileTransactionLog(_folder);
        await again.Open(None);
        await using var found = NewStore(again);
        Assert.Equal(checkpoints, (await found.Load(Some.Actor("1"), None))!.Version);
    }

    [Fact]
    public async Task Out_of_date_states_are_left_behind_and_the_living_survive()
    {
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        var text = new string('x', 1_000_000);
        await using (var store = NewStore(log))
        {
            await store.Checkpoint(epoch, [Checkpoint(99, 7, "quiet")], None);
            for (var version = 1; version <= 40; version++)
            {
                await store.Checkpoint(epoch, [Checkpoint(1, version, text + version)], None);
            }

            Assert.True(Directory.GetFiles(_folder, "state-*.dat").Sum(f => new FileInfo(f).Length) < 25_000_000);
            Assert.DoesNotContain(DataFile(1), Directory.GetFiles(_folder));
            Assert.Equal(text + "40", Some.Text((await store.Load(Some.Actor("1"), None))!.Fields.Single().Value));
            Assert.Equal("quiet", Some.Text((await store.Load(Some.Actor("99"), None))!.Fields.Single().Value));
        }

        // A crash between the move and the deletion leaves the old file; it must not count.
        await File.WriteAllBytesAsync(DataFile(1), new byte[100]);
        await using var again = NewStore(log);
        Assert.Equal((40, 7), ((await again.Load(Some.Actor("1"), None))!.Version, (await again.Load(Some.Actor("99"), None))!.Version));
    }

    [Fact]
    public async Task A_store_sees_what_an_earlier_owner_wrote_after_it_had_looked()
    {
        await using var old = new FileTransactionLog(_folder);
        var oldEpoch = (await old.Open(None)).Epoch;
        await using var oldStore = NewStore(old);
        await using var log = new FileTransactionLog(_folder);
        await using var store = NewStore(log);
        Assert.Null(await store.Load(Some.Actor("1"), None));
        await oldStore.Checkpoint(oldEpoch, [Checkpoint(1, 1, "late")], None);

        var epoch = (await log.Open(None)).Epoch;

        Assert.Equal(1, (await store.Load(Some.Actor("1"), None))!.Version);
        await store.Checkpoint(epoch, [Checkpoint(2, 1, "mine")], None);
        Assert.Equal(AppendStatus.Fenced, (await oldStore.Checkpoint(oldEpoch, [Checkpoint(3, 1, "zombie")], None)).Status);
        await using var third = NewStore(log);
        Assert.Equal(["late", "mine"], new[] { await Text(third, 1), await Text(third, 2) });
        Assert.Null(await third.Load(Some.Actor("3"), None));
    }

    [Fact]
    public async Task Outcome_files_go_when_their_window_has_ended()
    {
        var time = new ManualTime();
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        await using var store = new FileStateStore(log, time, new StateStoreOptions { OutcomeWindow = TimeSpan.FromMinutes(2) });
        for (var minute = 0; minute < 20; minute++)
        {
            await store.SaveOutcomes(epoch, [Some.Outcome($"k{minute}", time.GetUtcNow().ToUnixTimeMilliseconds())], None);
            time.Advance(TimeSpan.FromMinutes(1));
        }

        Assert.InRange(Directory.GetFiles(_folder, "outcomes-*.dat").Length, 3, 8);
        await using var again = new FileStateStore(log, time, new StateStoreOptions { OutcomeWindow = TimeSpan.FromMinutes(2) });
        Assert.NotNull(await again.FindOutcome("k19", None));
        Assert.NotNull(await again.FindOutcome("k17", None));
        Assert.Null(await again.FindOutcome("k6", None));
    }

    /// <summary>Earlier versions named them by the requests' minutes of a wall clock.</summary>
    [Fact]
    public async Task Outcome_files_of_an_earlier_version_are_found_for_their_window()
    {
        var time = new ManualTime();
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        await using (var store = new FileStateStore(log, time, new StateStoreOptions()))
        {
            await store.SaveOutcomes(epoch, [Some.Outcome("old", 0)], None);
        }

        var file = Directory.GetFiles(_folder, "outcomes-*.dat").Single();
        File.Move(file, Path.Combine(_folder, "outcomes-000029700000.dat"));
        epoch = (await log.Open(None)).Epoch;
        await using var next = new FileStateStore(log, time, new StateStoreOptions());
        await next.SaveOutcomes(epoch, [Some.Outcome("new", 0)], None);
        time.Advance(TimeSpan.FromMinutes(10));
        await next.DropOutcomes(epoch, None);
        Assert.NotNull(await next.FindOutcome("old", None));
        Assert.NotNull(await next.FindOutcome("new", None));
        time.Advance(TimeSpan.FromMinutes(10));
        await next.DropOutcomes(epoch, None);
        Assert.Null(await next.FindOutcome("old", None));
        Assert.Empty(Directory.GetFiles(_folder, "outcomes-*.dat"));
    }

    /// <summary>A restart takes the newest data file: one that a failed move left must not be newer than the one that is written.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task A_move_whose_name_was_not_flushed_loses_nothing_that_is_folded_afterwards(int failingFlushes)
    {
        var files = new FaultyFiles();
        await using var log = new FileTransactionLog(_folder, new FileLogOptions(), files);
        var epoch = (await log.Open(None)).Epoch;
        await using var store = NewStore(log);
        var text = new string('x', 1_000_000);
        await store.Checkpoint(epoch, [Checkpoint(99, 7, "quiet")], None);
        var version = 0;
        for (; version < 17; version++)
        {
            await store.Checkpoint(epoch, [Checkpoint(1, version + 1, text)], None);
        }

        files.FailingFolderFlushes = failingFlushes;
        var failures = 0;
        while (files.FailingFolderFlushes > 0)
        {
            // As the checkpointer does it: the same checkpoint again until it is done.
            try
            {
                await store.Checkpoint(epoch, [Checkpoint(1, version + 1, text)], None);
                version++;
                Assert.True(version < 40, "No move was tried in 40 checkpoints of a megabyte.");
            }
            catch (IOException)
            {
                failures++;
                await AssertAfterRestart(version);
            }
        }

        Assert.Equal(failingFlushes, failures);

        // Room for a checkpoint, and not for a move: the old file goes on.
        files.Room = 300_000;
        await store.Checkpoint(epoch, [Checkpoint(50, 1, "checkpointed into the old file")], None);
        await using (var restarted = NewStore(log))
        {
            Assert.Equal("checkpointed into the old file", (await restarted.Load(Some.Actor("50"), None)) is { } state ? Some.Text(state.Fields.Single().Value) : null);
        }

        files.Room = long.MaxValue;
        for (var i = 0; i < 3; i++)
        {
            await store.Checkpoint(epoch, [Checkpoint(1, version + 1, text), Checkpoint(2 + i, 1, "late")], None);
            version++;
            await AssertAfterRestart(version);
        }

        await using var again = NewStore(log);
        Assert.Equal("late", await Text(again, 2));
        Assert.Equal("quiet", await Text(again, 99));
        Assert.Single(Directory.GetFiles(_folder, "state-*"), f => f.EndsWith(".dat", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Outcomes_that_are_saved_again_and_again_take_no_more_room()
    {
        var time = new ManualTime();
        var at = time.GetUtcNow().ToUnixTimeMilliseconds();
        await using var log = new FileTransactionLog(_folder);
        var epoch = (await log.Open(None)).Epoch;
        long once = 0;
        for (var restart = 0; restart < 2; restart++)
        {
            await using var store = new FileStateStore(log, time, new StateStoreOptions());
            for (var i = 0; i < 3; i++)
            {
                Assert.Equal(AppendStatus.Appended, (await store.SaveOutcomes(epoch, [Some.Outcome("a", at), Some.Outcome("b", at)], None)).Status);
                var length = Directory.GetFiles(_folder, "outcomes-*.dat").Sum(f => new FileInfo(f).Length);
                once = once == 0 ? length : once;
                Assert.Equal(once, length);
            }

            Assert.NotNull(await store.FindOutcome("b", None));
        }

        await using var last = new FileStateStore(log, time, new StateStoreOptions());
        await last.SaveOutcomes(epoch, [Some.Outcome("a", at), Some.Outcome("c", at)], None);
        Assert.True(Directory.GetFiles(_folder, "outcomes-*.dat").Sum(f => new FileInfo(f).Length) > once);
        Assert.NotNull(await last.FindOutcome("c", None));
    }

    private async Task AssertAfterRestart(long atLeast)
    {
        // Another store reads the files as they are now, as a restart would.
        await using var log = new FileTransactionLog(_folder);
        await using var store = NewStore(log);
        Assert.True((await store.Load(Some.Actor("1"), None))!.Version >= atLeast, $"State 1 is older than version {atLeast}.");
    }

    private static FileStateStore NewStore(FileTransactionLog log) => new(log, new ManualTime(), new StateStoreOptions());

    private static StateCheckpoint Checkpoint(int actor, long version, string state) => new(Some.Actor($"{actor}"), 0, version, [new("state", Some.Bytes(state))]);

    private static async Task<string> Text(FileStateStore store, int actor) => Some.Text((await store.Load(Some.Actor($"{actor}"), None))!.Fields.Single().Value);

    private string DataFile(long number) => Path.Combine(_folder, $"state-{number:D12}.dat");
}
