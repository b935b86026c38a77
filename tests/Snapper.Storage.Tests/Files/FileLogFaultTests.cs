using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Files;

public sealed class FileLogFaultTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-log-").FullName;
    private readonly FaultyFiles _files = new();
    private readonly List<FileTransactionLog> _logs = [];

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        foreach (var log in _logs)
        {
            await log.DisposeAsync();
        }

        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task A_torn_tail_is_dropped_wherever_it_was_torn()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, 2);
        var whole = Length(Segment(1));
        await Append(log, opening, 3, 2);
        var length = Length(Segment(1));
        await log.DisposeAsync();
        var bytes = await File.ReadAllBytesAsync(Segment(1));

        for (var cut = whole; cut < length; cut += 3)
        {
            await File.WriteAllBytesAsync(Segment(1), bytes[..(int)cut]);
            var again = NewLog();
            var reopening = await again.Open(None);

            Assert.Equal(3, reopening.NextSequence);
            Assert.Equal([1], await Firsts(again));
            Assert.Equal(AppendStatus.Appended, (await Append(again, reopening, 3)).Status);
            Assert.Equal([1, 3], await Firsts(again));
            await again.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_tail_of_which_some_pages_never_reached_the_disk_is_dropped()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, 2);
        var whole = (int)Length(Segment(1));
        await Append(log, opening, 3, 20);
        await log.DisposeAsync();
        var bytes = await File.ReadAllBytesAsync(Segment(1));

        foreach (var (from, to) in new[] { (whole, whole + 28), (whole + 30, whole + 100), (bytes.Length - 5, bytes.Length), (whole, bytes.Length) })
        {
            var torn = (byte[])bytes.Clone();
            torn.AsSpan(from, to - from).Clear();
            await File.WriteAllBytesAsync(Segment(1), torn);
            var again = NewLog();

            Assert.Equal(3, (await again.Open(None)).NextSequence);
            await again.DisposeAsync();
        }
    }

    [Fact]
    public async Task Damage_in_the_middle_is_told_with_file_and_offset()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1, 2);
        var second = Length(Segment(1));
        await Append(log, opening, 3, 2);
        await Append(log, opening, 5, 2);
        await log.DisposeAsync();
        var bytes = await File.ReadAllBytesAsync(Segment(1));

        // The length, the header's checksum, the payload of the second frame.
        foreach (var at in new[] { second + 4, second + 25, second + 40 })
        {
            var damaged = (byte[])bytes.Clone();
            damaged[at] ^= 0x10;
            await File.WriteAllBytesAsync(Segment(1), damaged);

            var error = await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None));
            Assert.Contains($"{Segment(1)}, offset {second}", error.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Damage_in_an_earlier_segment_is_told_when_it_is_read()
    {
        var opening = await Segmented();
        var bytes = await File.ReadAllBytesAsync(Segment(1));
        bytes[^1] ^= 1;
        await File.WriteAllBytesAsync(Segment(1), bytes);

        var again = NewLog();
        await again.Open(None);
        var error = await Assert.ThrowsAsync<CorruptLogException>(() => Firsts(again));

        Assert.Contains(Segment(1), error.Message, StringComparison.Ordinal);
        Assert.True(opening.Epoch > 0);
    }

    [Fact]
    public async Task A_missing_segment_is_told()
    {
        await Segmented();
        var segments = Directory.GetFiles(_folder, "*.seg").Order(StringComparer.Ordinal).ToList();
        Assert.True(segments.Count >= 3, $"{segments.Count} segments");
        File.Delete(segments[1]);

        var again = NewLog();
        await again.Open(None);
        var error = await Assert.ThrowsAsync<CorruptLogException>(() => Firsts(again));

        Assert.Contains("are missing", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_folder_without_its_epoch_is_refused()
    {
        await Segmented();
        File.Delete(Path.Combine(_folder, "meta.json"));

        Assert.Contains("no meta.json", (await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None))).Message, StringComparison.Ordinal);

        await File.WriteAllTextAsync(Path.Combine(_folder, "meta.json"), """{"format":9}""");
        Assert.Contains("format 9", (await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None))).Message, StringComparison.Ordinal);
        await File.WriteAllTextAsync(Path.Combine(_folder, "meta.json"), "{");
        Assert.Contains("cannot be understood", (await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_emptied_folder_is_lost_data_for_the_writer()
    {
        var log = NewLog();
        var opening = await log.Open(None);
        await Append(log, opening, 1);
        foreach (var file in Directory.GetFiles(_folder))
        {
            File.Delete(file);
        }

        var result = await Append(log, opening, 2);

        Assert.Equal(AppendStatus.Gap, result.Status);
        Assert.Contains("the log lost acknowledged records", result.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_segment_that_was_being_made_when_the_process_died_is_made_again()
    {
        await Segmented();
        var log = NewLog();
        var opening = await log.Open(None);
        await log.DisposeAsync();
        foreach (var length in new[] { 0, 7, 16 })
        {
            await File.WriteAllBytesAsync(Segment(opening.NextSequence), new byte[length]);
            var again = NewLog();

            Assert.Equal(opening.NextSequence, (await again.Open(None)).NextSequence);
            Assert.NotEmpty(await Firsts(again));
            await again.DisposeAsync();
        }
    }

    [Fact]
    public async Task Trimming_deletes_segments_and_rolls_a_large_last_one()
    {
        await Segmented();
        var log = NewLog(64 * 1024);
        var opening = await log.Open(None);

        Assert.Equal(AppendStatus.Appended, (await log.Trim(opening.Epoch, opening.NextSequence, default, None)).Status);

        Assert.True(Directory.GetFiles(_folder, "*.seg").Sum(f => new FileInfo(f).Length) < 70_000);
        Assert.Empty(await Firsts(log, opening.NextSequence));
        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, opening.NextSequence)).Status);
        var again = NewLog();
        Assert.Equal((opening.NextSequence, opening.NextSequence + 1), ((await again.Open(None)).FirstSequence, (await NewLog().Open(None)).NextSequence));
    }

    [Fact]
    public async Task A_full_disk_refuses_without_a_trace_and_the_writer_goes_on_when_there_is_room()
    {
        var log = NewLog(files: _files);
        var opening = await log.Open(None);
        await Append(log, opening, 1);
        var before = Length(Segment(1));
        foreach (var room in new[] { 0, 1, 27, 28, 60 })
        {
            _files.Room = room;
            var refused = await Append(log, opening, 2, 5);
            Assert.Equal(AppendStatus.Refused, refused.Status);
            Assert.Contains("no room", refused.Detail, StringComparison.Ordinal);
            Assert.Equal(before, Length(Segment(1)));
        }

        _files.Room = 10;
        var observer = new Observer();
        await using var writer = new LogWriter(log, opening with { NextSequence = 2 }, observer, new LogWriterOptions(), TimeProvider.System);
        for (var i = 2; i <= 50; i++)
        {
            writer.Enqueue(Some.Batch(i, "a", i));
        }

        await Some.Until(() => observer.Heard.Contains("unavailable"), "the writer to hear of the full disk");
        _files.Room = long.MaxValue / 2;
        await writer.Drain(None).WaitAsync(TimeSpan.FromSeconds(20));

        Assert.Equal(["unavailable", "available"], observer.Heard.Where(h => !h.StartsWith("flushed", StringComparison.Ordinal)));
        var again = NewLog();
        Assert.Equal(51, (await again.Open(None)).NextSequence);
        Assert.Equal(1, (await Firsts(again))[0]);
    }

    [Fact]
    public async Task A_full_disk_refuses_a_new_segment_a_fold_and_a_trim()
    {
        var log = NewLog(64 * 1024, _files);
        var opening = await log.Open(None);
        var store = new FileStateStore(log, new ManualTime(), new StateStoreOptions());
        var next = 1L;
        while (Length(Segment(1)) < 64 * 1024)
        {
            await Append(log, opening, next, 100);
            next += 100;
        }

        _files.Room = 8;
        Assert.Equal(AppendStatus.Refused, (await Append(log, opening, next)).Status);
        var checkpoint = new StateCheckpoint(Some.Actor("a"), 0, 1, [new("state", Some.Bytes("1"))]);
        Assert.Equal(AppendStatus.Refused, (await store.Checkpoint(opening.Epoch, [checkpoint], None)).Status);
        Assert.Equal(AppendStatus.Refused, (await log.Trim(opening.Epoch, 1, default, None)).Status);
        Assert.Null(await store.Load(Some.Actor("a"), None));

        _files.Room = long.MaxValue / 2;
        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, next)).Status);
        Assert.Equal(AppendStatus.Appended, (await store.Checkpoint(opening.Epoch, [checkpoint], None)).Status);
        Assert.Equal(AppendStatus.Appended, (await log.Trim(opening.Epoch, next, default, None)).Status);
        Assert.Equal(1, (await store.Load(Some.Actor("a"), None))!.Version);
        await store.DisposeAsync();
    }

    [Fact]
    public async Task After_a_failed_flush_everything_is_written_again()
    {
        var log = NewLog(files: _files);
        var opening = await log.Open(None);
        await Append(log, opening, 1);
        _files.FailingFlushes = 1;
        await Assert.ThrowsAsync<IOException>(() => Append(log, opening, 2, 3));

        Assert.Equal(AppendStatus.Appended, (await Append(log, opening, 2, 3)).Status);

        var again = NewLog();
        Assert.Equal(5, (await again.Open(None)).NextSequence);
        Assert.Equal([1, 2], await Firsts(again));
    }

    private string Segment(long first) => Path.Combine(_folder, $"log-{first:D19}.seg");

    private static long Length(string path) => new FileInfo(path).Length;

    private static async Task<List<long>> Firsts(FileTransactionLog log, long from = 1)
    {
        List<long> firsts = [];
        await foreach (var group in log.Read(from, None))
        {
            Assert.Equal(group.Count, Some.Decode(group).Count);
            firsts.Add(group.FirstSequence);
        }

        return firsts;
    }

    private static Task<AppendResult> Append(FileTransactionLog log, LogOpening opening, long first, int count = 1)
    {
        var records = Enumerable.Range(0, count).Select(i => (Snapper.Storage.Log.Records.LogRecord)Some.Batch(first + i, "actor", first + i)).ToArray();
        return log.Append(opening.Epoch, first, count, Some.Encode(records), None);
    }

    private FileTransactionLog NewLog(long segmentBytes = 16 * 1024 * 1024, ILogFileSystem? files = null)
    {
        var log = new FileTransactionLog(_folder, new FileLogOptions { SegmentBytes = segmentBytes }, files ?? PhysicalFileSystem.Instance);
        _logs.Add(log);
        return log;
    }

    /// <summary>Leaves at least three segments behind.</summary>
    private async Task<LogOpening> Segmented()
    {
        var log = NewLog(64 * 1024);
        var opening = await log.Open(None);
        var next = 1L;
        while (Directory.GetFiles(_folder, "*.seg").Length < 4)
        {
            await Append(log, opening, next, 200);
            next += 200;
        }

        await log.DisposeAsync();
        return opening;
    }
}
