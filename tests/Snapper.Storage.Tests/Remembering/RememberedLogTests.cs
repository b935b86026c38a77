using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Memory;
using Snapper.Storage.Remembering;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Remembering;

/// <summary>A worker that remembers its log refuses another one, and is not misled by what a server may lose by right.</summary>
public sealed class RememberedLogTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-memory-").FullName;
    private readonly ManualTime _time = new();
    private readonly MemoryStorage _storage = new();
    private TimeSpan? _durableAfter = TimeSpan.Zero;

    private string FilePath => Path.Combine(_folder, "remembered", "w1.json");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task The_same_log_opens_again_and_again()
    {
        for (var opening = 1; opening <= 3; opening++)
        {
            var log = Remembered(_storage);
            Assert.Equal(opening, (await log.Open(default)).Epoch);
            await Append(log, opening, opening);
            log.Remember();
        }

        Assert.Equal(new LogIdentity(_storage.Id, 3, 4), Memory().Read());
    }

    [Fact]
    public async Task What_is_remembered_at_opening_is_on_disk_before_anything_is_acknowledged()
    {
        await Remembered(_storage).Open(default);
        Assert.Equal(new LogIdentity(_storage.Id, 1, 1), Memory().Read());
    }

    [Fact]
    public async Task An_empty_log_is_refused_and_left_untouched_and_named_with_what_was_remembered()
    {
        var log = Remembered(_storage);
        await log.Open(default);
        await Append(log, 1, 1);
        log.Remember();

        var empty = new MemoryStorage();
        var refused = await Assert.ThrowsAsync<LostLogException>(() => Remembered(empty).Open(default));
        Assert.Contains("there is no log", refused.Message, StringComparison.Ordinal);
        Assert.Contains(_storage.Id, refused.Message, StringComparison.Ordinal);
        Assert.Contains("below 2", refused.Message, StringComparison.Ordinal);
        Assert.Contains(FilePath, refused.Message, StringComparison.Ordinal);
        Assert.Equal(0, empty.Epoch);
    }

    [Fact]
    public async Task Another_log_is_refused()
    {
        await Remembered(_storage).Open(default);
        var other = new MemoryStorage();
        await new MemoryTransactionLog(other).Open(default);
        await Assert.ThrowsAsync<LostLogException>(() => Remembered(other).Open(default));
        Assert.Equal(1, other.Epoch);
    }

    [Fact]
    public async Task An_older_copy_is_refused_however_often_it_is_tried()
    {
        for (var i = 0; i < 3; i++)
        {
            await Remembered(_storage).Open(default);
        }

        _storage.Epoch = 2; // what a backup brings back
        for (var i = 0; i < 5; i++)
        {
            var refused = await Assert.ThrowsAsync<LostLogException>(() => Remembered(_storage).Open(default));
            Assert.Contains("2 times only", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_shorter_log_is_refused()
    {
        var log = Remembered(_storage);
        await log.Open(default);
        await Append(log, 1, 1);
        await Append(log, 1, 2);
        log.Remember();
        _storage.NextSequence = 2;
        var refused = await Assert.ThrowsAsync<LostLogException>(() => Remembered(_storage).Open(default));
        Assert.Contains("ends before record 2", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_the_file_any_log_is_taken()
    {
        await Remembered(_storage).Open(default);
        File.Delete(FilePath);
        var other = new MemoryStorage();
        await Remembered(other).Open(default);
        Assert.Equal(other.Id, Memory().Read()!.Id);
    }

    /// <summary>A server that flushes every second may lose the last second: that much was never remembered.</summary>
    [Fact]
    public async Task What_may_be_lost_by_right_is_remembered_only_when_it_no_longer_can_be()
    {
        _durableAfter = TimeSpan.FromSeconds(10);
        var log = Remembered(_storage);
        await log.Open(default);
        await Append(log, 1, 1);
        log.Remember();
        Assert.Null(Memory().Read());

        _time.Advance(TimeSpan.FromSeconds(9.9));
        log.Remember();
        Assert.Null(Memory().Read());

        _time.Advance(TimeSpan.FromSeconds(0.1));
        await Append(log, 1, 2);
        log.Remember();
        Assert.Equal(2, Memory().Read()!.NextSequence); // record 1; record 2 is too young

        _storage.NextSequence = 2;
        await Remembered(_storage).Open(default); // the last second went, by right
    }

    [Fact]
    public async Task Of_a_server_that_keeps_nothing_nothing_is_remembered()
    {
        _durableAfter = null;
        var log = Remembered(_storage);
        await log.Open(default);
        await Append(log, 1, 1);
        _time.Advance(TimeSpan.FromHours(1));
        log.Remember();
        Assert.Null(Memory().Read());
        await Remembered(new MemoryStorage()).Open(default);
    }

    [Fact]
    public async Task A_server_that_has_just_become_durable_is_not_trusted_with_what_came_before()
    {
        _durableAfter = null;
        var log = Remembered(_storage);
        await log.Open(default);
        await Append(log, 1, 1);
        _durableAfter = TimeSpan.Zero;
        log.Remember();
        Assert.Null(Memory().Read());
        log.Remember();
        Assert.Equal(2, Memory().Read()!.NextSequence);
    }

    [Fact]
    public async Task Each_place_has_a_memory_of_its_own()
    {
        await Remembered(_storage, "here").Open(default);
        var other = new MemoryStorage();
        await Remembered(other, "there").Open(default);
        await Remembered(_storage, "here").Open(default);
        await Assert.ThrowsAsync<LostLogException>(() => Remembered(other, "here").Open(default));
    }

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("[]")]
    [InlineData("""{"format":2,"logs":[]}""")]
    [InlineData("""{"format":1,"logs":[{"place":"here"}]}""")]
    public async Task A_memory_that_cannot_be_understood_is_named_and_nothing_is_opened(string content)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(FilePath)!);
        File.WriteAllText(FilePath, content);
        var refused = await Assert.ThrowsAsync<LostLogException>(() => Remembered(_storage).Open(default));
        Assert.Contains(FilePath, refused.Message, StringComparison.Ordinal);
        Assert.Equal(0, _storage.Epoch);
    }

    [Fact]
    public async Task A_file_log_whose_folder_vanished_is_refused()
    {
        var folder = Path.Combine(_folder, "workers", "w1");
        await using (var log = Remembered(new FileTransactionLog(folder)))
        {
            await log.Open(default);
            await Append(log, 1, 1);
            log.Remember();
        }

        await using (var log = Remembered(new FileTransactionLog(folder)))
        {
            Assert.Equal(2, (await log.Open(default)).NextSequence);
        }

        Directory.Delete(folder, recursive: true);
        await using var gone = Remembered(new FileTransactionLog(folder));
        await Assert.ThrowsAsync<LostLogException>(() => gone.Open(default));
        Assert.False(Directory.Exists(folder));
    }

    [Fact]
    public async Task A_file_log_whose_last_segment_vanished_is_refused()
    {
        var folder = Path.Combine(_folder, "workers", "w1");
        await using (var log = Remembered(new FileTransactionLog(folder)))
        {
            await log.Open(default);
            await Append(log, 1, 1);
            log.Remember();
        }

        foreach (var segment in Directory.GetFiles(folder, "*.seg"))
        {
            File.Delete(segment);
        }

        await using var shorter = Remembered(new FileTransactionLog(folder));
        await Assert.ThrowsAsync<LostLogException>(() => shorter.Open(default));
    }

    /// <summary>What the memory says is less than it could be, and still true: the worker starts, and writes it later.</summary>
    [Fact]
    public async Task A_full_disk_at_the_memory_does_not_keep_the_log_shut()
    {
        await Remembered(_storage).Open(default);
        var files = new FaultyFiles { Room = 0 };
        List<IOException> problems = [];
        var memory = new LogIdentityFile(FilePath, "here", files);
        var log = new DataLossGuard(new MemoryTransactionLog(_storage), memory, "log of the test", () => _durableAfter, _time, problems.Add);

        Assert.Equal(2, (await log.Open(default)).Epoch);

        Assert.True(DiskFull.Is(Assert.Single(problems)));
        Assert.Equal(new LogIdentity(_storage.Id, 1, 1), Memory().Read());
        await Append(log, 2, 1);
        Assert.Throws<IOException>(log.Remember);
        files.Room = long.MaxValue;
        log.Remember();
        Assert.Equal(new LogIdentity(_storage.Id, 2, 2), Memory().Read());
        Assert.Single(problems);
    }

    private static async Task Append(ITransactionLog log, long epoch, long sequence) =>
        Assert.Equal(AppendStatus.Appended, (await log.Append(epoch, sequence, 1, Some.Encode(Some.Batch(sequence, "a", sequence)), default)).Status);

    private LogIdentityFile Memory(string place = "here") => new(FilePath, place);

    private DataLossGuard Remembered(MemoryStorage storage, string place = "here") => Remembered(new MemoryTransactionLog(storage), place);

    private DataLossGuard Remembered(IIdentifiedLog log, string place = "here") => new(log, Memory(place), "log of the test", () => _durableAfter, _time);
}
