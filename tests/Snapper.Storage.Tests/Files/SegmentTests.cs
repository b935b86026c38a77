using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Files;

/// <summary>Making a segment fails, or leaves something behind, or a segment is gone: no acknowledged record is lost without a word.</summary>
public sealed class SegmentTests : IAsyncLifetime
{
    private static readonly CancellationToken None = CancellationToken.None;
    private readonly string _folder = Directory.CreateTempSubdirectory("snapper-segment-").FullName;
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

    [Theory]
    [InlineData("room", false)]
    [InlineData("room", true)]
    [InlineData("flush", false)]
    [InlineData("flush", true)]
    [InlineData("folder", false)]
    [InlineData("folder", true)]
    public async Task A_segment_that_cannot_be_made_at_a_trim_leaves_the_old_one_in_use(string failing, bool trimsAgain)
    {
        var log = NewLog(_files);
        var epoch = (await log.Open(None)).Epoch;
        await Append(log, epoch, 1, 1_200_000);
        switch (failing)
        {
            case "room":
                _files.Room = 0;
                Assert.Equal(AppendStatus.Refused, (await log.Trim(epoch, 2, default, None)).Status);
                _files.Room = long.MaxValue;
                break;
            case "flush":
                _files.FailingFlushes = 1;
                await Assert.ThrowsAsync<IOException>(() => log.Trim(epoch, 2, default, None));
                break;
            default:
                _files.FailingFolderFlushes = 1;
                await Assert.ThrowsAsync<IOException>(() => log.Trim(epoch, 2, default, None));
                break;
        }

        Assert.Equal([Segment(1)], Segments());
        for (var i = 2; i <= 4; i++)
        {
            await Append(log, epoch, i);
        }

        var first = 1L;
        var next = 5L;
        if (trimsAgain)
        {
            Assert.Equal(AppendStatus.Appended, (await log.Trim(epoch, 3, default, None)).Status);
            Assert.Equal([3, 4], (await Firsts(log, 3)));
            await Append(log, epoch, 5);
            (first, next) = (3, 6);
        }

        await log.DisposeAsync();
        await AssertStands(first, next);
    }

    /// <summary>What a version before this one left when its disk was full, and what a crash may bring back.</summary>
    [Theory]
    [InlineData(0, 3)]
    [InlineData(7, 3)]
    [InlineData(-1, 3)]
    [InlineData(0, 5)]
    [InlineData(-1, 5)]
    public async Task An_empty_segment_behind_one_that_goes_on_was_never_part_of_the_log(int length, long at)
    {
        await Write(4);
        var header = (await File.ReadAllBytesAsync(Segment(1)))[..16];
        await File.WriteAllBytesAsync(Segment(at), length < 0 ? header : header[..length]);
        await File.WriteAllBytesAsync(Segment(2), []);

        await AssertStands(1, 5);
        Assert.False(File.Exists(Segment(2)));
        Assert.Equal(at == 5, File.Exists(Segment(at)));
    }

    [Fact]
    public async Task An_empty_segment_beyond_the_end_of_the_one_before_it_is_a_loss_and_nothing_is_cut_off()
    {
        await Write(4);
        var bytes = await File.ReadAllBytesAsync(Segment(1));
        await File.WriteAllBytesAsync(Segment(1), bytes[..^1]);
        await File.WriteAllBytesAsync(Segment(5), bytes[..16]);

        var loss = await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None));

        Assert.Contains("Records 4 to 4 are missing", loss.Message, StringComparison.Ordinal);
        Assert.Equal(bytes.Length - 1, new FileInfo(Segment(1)).Length);
    }

    [Fact]
    public async Task What_a_crash_left_of_a_segment_in_the_making_is_removed_at_the_next_opening()
    {
        await Write(4);
        await File.WriteAllBytesAsync(Segment(5) + ".new", new byte[7]);
        await AssertStands(1, 5);
        Assert.False(File.Exists(Segment(5) + ".new"));
    }

    [Fact]
    public async Task A_missing_first_segment_is_a_loss_that_names_the_records()
    {
        await Write(3, 70_000);
        Assert.Equal([Segment(1), Segment(2), Segment(3)], Segments());
        File.Delete(Segment(1));
        var before = await File.ReadAllTextAsync(Path.Combine(_folder, "meta.json"));

        var loss = await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None));

        Assert.Contains("Records 1 to 1 are missing at the beginning", loss.Message, StringComparison.Ordinal);
        Assert.Equal(before, await File.ReadAllTextAsync(Path.Combine(_folder, "meta.json")));
    }

    /// <summary>Deleting is not flushed: a crash may take back any of it.</summary>
    [Fact]
    public async Task A_trimmed_segment_that_a_crash_brings_back_alone_is_not_missed_records()
    {
        var log = NewLog();
        var epoch = (await log.Open(None)).Epoch;
        await Append(log, epoch, 1, 70_000);
        var first = await File.ReadAllBytesAsync(Segment(1));
        await Append(log, epoch, 2, 70_000);
        Assert.Equal(AppendStatus.Appended, (await log.Trim(epoch, 3, default, None)).Status);
        Assert.Equal([Segment(3)], Segments());
        await log.DisposeAsync();
        await File.WriteAllBytesAsync(Segment(1), first);

        await AssertStands(3, 3);
    }

    [Fact]
    public async Task Without_any_segment_a_log_that_was_trimmed_is_refused()
    {
        var log = NewLog();
        var epoch = (await log.Open(None)).Epoch;
        await Append(log, epoch, 1);
        Assert.Equal(AppendStatus.Appended, (await log.Trim(epoch, 2, default, None)).Status);
        await log.DisposeAsync();
        foreach (var segment in Segments())
        {
            File.Delete(segment);
        }

        var loss = await Assert.ThrowsAsync<CorruptLogException>(() => NewLog().Open(None));
        Assert.Contains("every segment is missing", loss.Message, StringComparison.Ordinal);
    }

    /// <summary>Two restarts, with an append after each: the numbers go on and everything is read.</summary>
    private async Task AssertStands(long first, long next)
    {
        for (var restart = 0; restart < 2; restart++)
        {
            var log = NewLog();
            var opening = await log.Open(None);
            Assert.Equal((first, next), (opening.FirstSequence, opening.NextSequence));
            await Append(log, opening.Epoch, next++);
            Assert.Equal(Enumerable.Range((int)first, (int)(next - first)).Select(i => (long)i), await Firsts(log, first));
            await log.DisposeAsync();
        }
    }

    private async Task Write(int groups, int bytes = 100)
    {
        var log = NewLog();
        var epoch = (await log.Open(None)).Epoch;
        for (var i = 1; i <= groups; i++)
        {
            await Append(log, epoch, i, bytes);
        }

        await log.DisposeAsync();
    }

    private static async Task Append(FileTransactionLog log, long epoch, long sequence, int bytes = 100) =>
        Assert.Equal(AppendStatus.Appended, (await log.Append(epoch, sequence, 1, new byte[bytes], None)).Status);

    private static async Task<List<long>> Firsts(FileTransactionLog log, long from)
    {
        List<long> firsts = [];
        await foreach (var group in log.Read(from, None))
        {
            firsts.Add(group.FirstSequence);
        }

        return firsts;
    }

    private FileTransactionLog NewLog(FaultyFiles? files = null)
    {
        var options = files is null ? new FileLogOptions { SegmentBytes = 65536 } : new FileLogOptions();
        var log = new FileTransactionLog(_folder, options, files ?? (ILogFileSystem)PhysicalFileSystem.Instance);
        _logs.Add(log);
        return log;
    }

    private string Segment(long first) => Path.Combine(_folder, $"log-{first:D19}.seg");

    private string[] Segments() => [.. Directory.GetFiles(_folder, "log-*").Order(StringComparer.Ordinal)];
}
