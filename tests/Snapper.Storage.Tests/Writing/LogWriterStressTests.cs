using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Memory;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Writing;

public sealed class LogWriterStressTests
{
    [Fact]
    public async Task Many_threads_over_a_log_that_fails_at_random_lose_and_double_nothing()
    {
        for (var seed = 0; seed < 10; seed++)
        {
            var storage = new MemoryStorage();
            var log = new RandomLog(new MemoryTransactionLog(storage), seed);
            var observer = new Observer();
            var opening = await log.Open(CancellationToken.None);
            var options = new LogWriterOptions { GroupBytesMax = 4096, RetryDelayMin = TimeSpan.FromMicroseconds(100), RetryDelayMax = TimeSpan.FromMilliseconds(1) };
            var early = 0;
            await using var writer = new LogWriter(log, opening, observer, options, TimeProvider.System);
            observer.OnFlushed = _ =>
            {
                // Durable means: in the log, at the moment the observer hears of it.
                if (storage.NextSequence <= writer.DurableSequence)
                {
                    Interlocked.Increment(ref early);
                }
            };
            await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => Task.Run(() =>
            {
                for (var i = 1; i <= 2000; i++)
                {
                    writer.Enqueue(Some.Batch(i, $"t{thread}", i));
                    if (i % 7 == 0)
                    {
                        writer.EnqueueBarrier();
                    }
                }
            })));
            await writer.Drain(CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(60));

            var records = storage.Groups.SelectMany(Some.Decode).ToList();
            Assert.Equal(Enumerable.Range(1, 8000).Select(i => (long)i), records.Select(r => r.Sequence));
            foreach (var thread in records.Select(r => ((LocalBatchCommitted)r.Record).Changes.Single()).GroupBy(c => c.Actor))
            {
                Assert.Equal(Enumerable.Range(1, 2000).Select(i => (long)i), thread.Select(c => c.Version));
            }

            var tickets = observer.Heard.Where(h => h.StartsWith("flushed ", StringComparison.Ordinal)).Select(h => long.Parse(h.AsSpan(8), System.Globalization.CultureInfo.InvariantCulture)).ToList();
            Assert.Equal(tickets.Order(), tickets);
            Assert.Equal(8000 + (4 * (2000 / 7)), tickets[^1]);
            var outages = observer.Heard.Where(h => h is "unavailable" or "available").ToList();
            Assert.All(outages.Chunk(2), pair => Assert.Equal(["unavailable", "available"], pair));
            Assert.NotEmpty(outages);
            Assert.Equal((0, 0L, true), (early, writer.QueuedBytes, writer.IsFree));
        }
    }

    /// <summary>Completes now or later, before or after the write or in between, well or not.</summary>
    private sealed class RandomLog(ITransactionLog inner, int seed) : ITransactionLog
    {
        private readonly Random _random = new(seed);

        public string Kind => inner.Kind;

        public Task<LogOpening> Open(CancellationToken cancellation) => inner.Open(cancellation);

        public Task<AppendResult> Append(long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
            Randomly(() => inner.Append(epoch, firstSequence, count, group, cancellation));

        public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) => Randomly(() => inner.CheckEpoch(epoch, cancellation));

        public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) => inner.Read(fromSequence, cancellation);

        public Task<AppendResult> Trim(long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
            inner.Trim(epoch, keepFrom, watermarks, cancellation);

        public ValueTask DisposeAsync() => inner.DisposeAsync();

        private Task<AppendResult> Randomly(Func<Task<AppendResult>> append)
        {
            // One append is in flight at a time, so the chance needs no lock.
            var fate = _random.Next(20);
            return _random.Next(2) == 0 ? Do(append, fate) : Task.Run(() => Do(append, fate));
        }

        private static async Task<AppendResult> Do(Func<Task<AppendResult>> append, int fate)
        {
            switch (fate)
            {
                case 0:
                    throw new IOException("planned, before the write");
                case 1:
                    await append();
                    throw new IOException("planned, after the write");
                case 2:
                    return new AppendResult(AppendStatus.Refused, "planned");
                default:
                    await Task.Yield();
                    return await append();
            }
        }
    }
}
