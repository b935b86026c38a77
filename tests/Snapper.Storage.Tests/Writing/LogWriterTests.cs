using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Memory;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Writing;

public sealed class LogWriterTests
{
    private readonly MemoryStorage _storage = new();
    private readonly FaultyLog _log;
    private readonly Observer _observer = new();
    private readonly ManualTime _time = new();

    public LogWriterTests() => _log = new FaultyLog(new MemoryTransactionLog(_storage));

    [Fact]
    public async Task What_gathers_while_a_group_is_in_flight_is_the_next_group()
    {
        await using var writer = await NewWriter();
        _log.Faults.Enqueue(AppendFault.Hold);
        for (var i = 1; i <= 6; i++)
        {
            writer.Enqueue(Some.Batch(i, "a", i));
        }

        Assert.False(writer.IsFree);
        Assert.True(writer.QueuedBytes > 0);
        Assert.Empty(_observer.Heard);
        _log.Release();

        Assert.Equal([(1, 1), (2, 5)], _log.Appends.Select(a => (a.First, a.Count)));
        Assert.Equal(["flushed 1", "flushed 6"], _observer.Heard);
        Assert.Equal((6, 6, 0L, true), (writer.DurableSequence, writer.LastSequence, writer.QueuedBytes, writer.IsFree));
    }

    [Fact]
    public async Task A_large_backlog_is_split_between_records()
    {
        await using var writer = await NewWriter(new LogWriterOptions { GroupBytesMax = 4096 });
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        for (var i = 2; i <= 21; i++)
        {
            writer.Enqueue(Some.Batch(i, [Some.Change("a", i, new string('x', 1000))]));
        }

        writer.Enqueue(Some.Batch(22, [Some.Change("a", 22, new string('y', 9000))]));
        writer.Enqueue(Some.Batch(23, "a", 23));
        _log.Release();

        Assert.Equal(23, writer.DurableSequence);
        Assert.All(_log.Appends, a => Assert.True(a.Count == 1 || a.Bytes.Length <= 4096, $"{a.Count} records in {a.Bytes.Length} bytes"));
        var records = _log.Appends.SelectMany(a => Some.Decode(new LogGroup(a.First, a.Count, a.Bytes))).ToList();
        Assert.Equal(Enumerable.Range(1, 23).Select(i => ((long)i, (long)i)), records.Select(r => (r.Sequence, ((LocalBatchCommitted)r.Record).Batch.Value)));
        Assert.Contains(_log.Appends, a => a.Count == 1 && a.Bytes.Length > 9000);
    }

    [Fact]
    public async Task A_barrier_alone_checks_the_epoch()
    {
        await using var writer = await NewWriter();

        Assert.Equal(1, writer.EnqueueBarrier());

        Assert.Equal((1, 0), (_log.EpochChecks, _log.Appends.Count));
        Assert.Equal(["flushed 1"], _observer.Heard);
        Assert.Equal(0, writer.LastSequence);
    }

    [Fact]
    public async Task A_barrier_rides_on_the_next_group_never_on_the_one_in_flight()
    {
        await using var writer = await NewWriter();
        _log.Faults.Enqueue(AppendFault.Hold);
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        Assert.Equal(2, writer.EnqueueBarrier());
        writer.Enqueue(Some.Batch(2, "a", 2));
        Assert.Equal(4, writer.EnqueueBarrier());

        _log.Release();
        Assert.Equal(["flushed 1"], _observer.Heard);
        Assert.Equal([(1, 1), (2, 1)], _log.Appends.Select(a => (a.First, a.Count)));
        _log.Release();

        Assert.Equal(["flushed 1", "flushed 4"], _observer.Heard);
        Assert.Equal(0, _log.EpochChecks);
    }

    [Fact]
    public async Task A_barrier_behind_a_full_group_waits_for_it()
    {
        await using var writer = await NewWriter(new LogWriterOptions { GroupBytesMax = 4096 });
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.Enqueue(Some.Batch(2, [Some.Change("a", 2, new string('x', 4000))]));
        writer.Enqueue(Some.Batch(3, [Some.Change("a", 3, new string('x', 4000))]));
        var barrier = writer.EnqueueBarrier();
        _log.Release();

        Assert.Equal(["flushed 1", "flushed 2", $"flushed {barrier}"], _observer.Heard);
    }

    [Fact]
    public async Task A_log_that_completes_at_once_does_not_make_it_recurse()
    {
        await using var writer = await NewWriter();
        var left = 200_000;
        _observer.OnFlushed = _ =>
        {
            Assert.True(writer.IsFree);
            if (--left > 0)
            {
                writer.Enqueue(Some.Batch(1, []));
            }
        };

        writer.Enqueue(Some.Batch(1, []));

        Assert.Equal((0, 200_000), (left, writer.DurableSequence));
    }

    [Fact]
    public async Task The_same_bytes_are_sent_again_with_growing_pauses_and_one_notice_per_outage()
    {
        await using var writer = await NewWriter();
        foreach (var fault in new[] { AppendFault.AfterWrite, AppendFault.BeforeWrite, AppendFault.Refuse, AppendFault.BeforeWrite, AppendFault.Refuse, AppendFault.Refuse, AppendFault.Refuse, AppendFault.Refuse, AppendFault.Refuse })
        {
            _log.Faults.Enqueue(fault);
        }

        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.Enqueue(Some.Batch(2, "a", 2));
        List<double> pauses = [];
        while (_time.NextIn is { } pause)
        {
            pauses.Add(pause.TotalMilliseconds);
            _time.Advance(pause);
        }

        Assert.Equal([10, 20, 40, 80, 160, 320, 640, 1000, 1000], pauses);
        Assert.Equal(["unavailable", "available", "flushed 1", "flushed 2"], _observer.Heard);
        Assert.Equal(11, _log.Appends.Count);
        Assert.All(_log.Appends.Take(10), a => Assert.Equal(_log.Appends[0].Bytes, a.Bytes));
        Assert.Equal(2, writer.DurableSequence);

        // The next outage begins with a short pause and a notice of its own.
        _log.Faults.Enqueue(AppendFault.Refuse);
        writer.Enqueue(Some.Batch(3, "a", 3));
        Assert.Equal(10, _time.NextIn!.Value.TotalMilliseconds);
        _time.Advance(TimeSpan.FromMilliseconds(10));
        Assert.Equal(["unavailable", "available", "flushed 3"], _observer.Heard.Skip(4));
    }

    [Fact]
    public async Task Nothing_behind_a_refused_group_is_dropped_or_overtakes_it()
    {
        await using var writer = await NewWriter();
        _log.Faults.Enqueue(AppendFault.Refuse);
        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.EnqueueBarrier();
        writer.Enqueue(Some.Batch(2, "a", 2));
        var drain = writer.Drain(CancellationToken.None);
        Assert.False(drain.IsCompleted);
        Assert.Contains("refused: planned", _observer.UnavailableDetail, StringComparison.Ordinal);

        _time.Advance(TimeSpan.FromMilliseconds(10));

        Assert.True(drain.IsCompletedSuccessfully);
        Assert.Equal(2, _storage.Groups.Count);
        Assert.Equal(["unavailable", "available", "flushed 1", "flushed 3"], _observer.Heard);
    }

    [Fact]
    public async Task A_fenced_writer_says_so_once_and_stops()
    {
        await using var writer = await NewWriter();
        await _log.Open(CancellationToken.None);
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.Enqueue(Some.Batch(2, "a", 2));
        var drain = writer.Drain(CancellationToken.None);
        _log.Release();

        Assert.Equal(AppendStatus.Fenced, (await Assert.ThrowsAsync<LogLostException>(() => drain)).Status);
        writer.Enqueue(Some.Batch(3, "a", 3));
        writer.EnqueueBarrier();
        await Assert.ThrowsAsync<LogLostException>(() => writer.Drain(CancellationToken.None));
        Assert.Equal(["lost Fenced"], _observer.Heard);
        Assert.Single(_log.Appends);
        Assert.Equal(0, writer.QueuedBytes);
        Assert.Equal(0, writer.DurableSequence);
    }

    [Fact]
    public async Task A_gap_stops_the_writer()
    {
        var opening = await _log.Open(CancellationToken.None);
        await using var writer = new LogWriter(_log, opening with { NextSequence = 5 }, _observer, new LogWriterOptions(), _time);

        writer.Enqueue(Some.Batch(1, "a", 1));

        Assert.Equal(AppendStatus.Gap, _observer.LostStatus);
        Assert.Contains("next record is 1", _observer.LostDetail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_record_that_cannot_be_encoded_leaves_the_queue_as_it_was()
    {
        await using var writer = await NewWriter();
        Assert.ThrowsAny<ArgumentException>(() => writer.Enqueue(Some.Batch(1, "\ud800", 1)));
        Assert.True(writer.IsFree);
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.Enqueue(Some.Batch(2, "a", 2));
        Assert.ThrowsAny<ArgumentException>(() => writer.Enqueue(Some.Batch(3, "\ud800", 1)));
        writer.Enqueue(Some.Batch(3, "a", 3), out var sequence);
        _log.Release();

        Assert.Equal(3, sequence);
        Assert.Equal([1L, 2, 3], _storage.Groups.SelectMany(Some.Decode).Select(r => ((LocalBatchCommitted)r.Record).Batch.Value));
        Assert.Equal(0, writer.QueuedBytes);
    }

    [Fact]
    public async Task Disposing_ends_an_outage_and_fails_those_who_wait()
    {
        var writer = await NewWriter();
        _log.Faults.Enqueue(AppendFault.BeforeWrite);
        writer.Enqueue(Some.Batch(1, "a", 1));
        var drain = writer.Drain(CancellationToken.None);

        await writer.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(10));

        await Assert.ThrowsAsync<ObjectDisposedException>(() => drain);
        Assert.Throws<ObjectDisposedException>(() => writer.Enqueue(Some.Batch(2, "a", 2)));
        Assert.Equal(0, _time.Armed);
        await writer.DisposeAsync();
    }

    [Fact]
    public async Task Disposing_waits_for_the_append_in_flight()
    {
        var writer = await NewWriter();
        _log.Faults.Enqueue(AppendFault.Hold);
        writer.Enqueue(Some.Batch(1, "a", 1));
        writer.Enqueue(Some.Batch(2, "a", 2));

        var disposing = writer.DisposeAsync().AsTask();
        Assert.False(disposing.IsCompleted);
        _log.Release();

        await disposing.WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(["flushed 1"], _observer.Heard);
    }

    [Fact]
    public async Task Completions_run_inline_on_a_thread_with_a_context_of_its_own()
    {
        int? flushedOn = null;
        int? releasedOn = null;
        _observer.OnFlushed = _ => flushedOn = Environment.CurrentManagedThreadId;
        var direct = new DirectLog();
        await using var writer = new LogWriter(direct, new LogOpening(1, 1, 1, default), _observer, new LogWriterOptions(), _time);
        writer.Enqueue(Some.Batch(1, "a", 1));
        var completing = new Thread(() =>
        {
            SynchronizationContext.SetSynchronizationContext(new RefusingContext());
            releasedOn = Environment.CurrentManagedThreadId;
            direct.Pending.SetResult(new AppendResult(AppendStatus.Appended));
        });
        completing.Start();
        completing.Join();

        Assert.NotNull(flushedOn);
        Assert.Equal(releasedOn, flushedOn);
    }

    [Fact]
    public async Task A_callers_ambient_values_do_not_travel_with_the_queue()
    {
        var ambient = new AsyncLocal<string?>();
        var direct = new DirectLog();
        await using var writer = new LogWriter(direct, new LogOpening(1, 1, 1, default), _observer, new LogWriterOptions(), _time);
        var heard = "not called";
        _observer.OnFlushed = _ => heard = ambient.Value;
        ambient.Value = "caller";
        writer.Enqueue(Some.Batch(1, "a", 1));
        ambient.Value = null;

        direct.Pending.SetResult(new AppendResult(AppendStatus.Appended));

        Assert.Null(heard);
    }

    [Fact]
    public async Task Bounds_out_of_range_are_refused_by_name()
    {
        var opening = await _log.Open(CancellationToken.None);

        Assert.Equal("GroupBytesMax", Assert.Throws<ArgumentOutOfRangeException>(() => new LogWriter(_log, opening, _observer, new LogWriterOptions { GroupBytesMax = 1 }, _time)).ParamName);
        Assert.Equal("RetryDelayMax", Assert.Throws<ArgumentOutOfRangeException>(() => new LogWriter(_log, opening, _observer, new LogWriterOptions { RetryDelayMax = TimeSpan.Zero }, _time)).ParamName);
    }

    private async Task<LogWriter> NewWriter(LogWriterOptions? options = null) =>
        new(_log, await _log.Open(CancellationToken.None), _observer, options ?? new LogWriterOptions(), _time);

    private sealed class RefusingContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => ThreadPool.QueueUserWorkItem(_ => d(state));
    }

    private sealed class DirectLog : ITransactionLog
    {
        public TaskCompletionSource<AppendResult> Pending { get; } = new();

        public string Kind => "test";

        public Task<LogOpening> Open(CancellationToken cancellation) => throw new NotSupportedException();

        public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) => Pending.Task;

        public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => Pending.Task;

        public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) => throw new NotSupportedException();

        public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) => throw new NotSupportedException();

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
