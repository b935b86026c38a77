using System.Diagnostics;
using Snapper.Apps.SmallBank.Contract;

namespace Snapper.Client.Tests;

public sealed class BatchingTests : IAsyncLifetime
{
    private FakeWorker _worker = null!;

    public async Task InitializeAsync()
    {
        _worker = await FakeWorker.Start();
        _worker.Execute = t => FakeWorker.Envelope(
            t, $"\"outcome\":\"committed\",\"result\":{t.GetProperty("input").GetProperty("amount").GetRawText()}");
    }

    public async Task DisposeAsync() => await _worker.DisposeAsync();

    [Fact]
    public async Task Concurrent_calls_share_requests_and_each_gets_its_own_answer()
    {
        await using var snapper = _worker.Client();
        _worker.Otherwise = async e =>
        {
            await Task.Delay(10);
            await e.Answer();
        };

        var calls = Enumerable.Range(0, 1000).Select(async i =>
            Assert.Equal(i, await snapper.Actor<IAccount>("a" + i).Act(a => a.DepositChecking(new(i)))));
        await Task.WhenAll(calls);

        Assert.Equal(1000, _worker.SentIds.Distinct().Count());
        Assert.True(_worker.Requests.Count <= 50, $"1,000 concurrent calls took {_worker.Requests.Count} requests.");
    }

    [Fact]
    public async Task Callers_that_wait_for_each_answer_share_requests_too()
    {
        // A request is answered when each caller that is not done waits for an answer: however slow the machine is,
        // the next request finds all callers in the queue but those of the requests under way.
        await using var snapper = _worker.Client(maxRequests: 2);
        var running = 64;
        var waiting = 0;
        _worker.Otherwise = async e =>
        {
            while (Volatile.Read(ref waiting) < Volatile.Read(ref running))
            {
                await Task.Delay(1);
            }

            Interlocked.Add(
                ref running, -e.Transactions.Count(t => t.GetProperty("input").GetProperty("amount").GetInt32() == 19));
            Interlocked.Add(ref waiting, -e.Transactions.Length);
            await e.Answer();
        };

        var callers = Enumerable.Range(0, 64).Select(async caller =>
        {
            for (var i = 0; i < 20; i++)
            {
                var call = snapper.Actor<IAccount>("a" + caller).Act(a => a.DepositChecking(new(i)));
                Interlocked.Increment(ref waiting);
                await call;
            }
        });
        await Task.WhenAll(callers);

        Assert.True(_worker.Requests.Count <= 1280 / 4, $"1,280 calls of 64 callers took {_worker.Requests.Count} requests.");
    }

    [Fact]
    public async Task A_lone_call_is_sent_at_once()
    {
        await using var snapper = _worker.Client();
        await snapper.Actor<IAccount>("warm").Act(a => a.DepositChecking(new(1)));

        var clock = Stopwatch.StartNew();
        for (var i = 0; i < 20; i++)
        {
            await snapper.Actor<IAccount>("a").Act(a => a.DepositChecking(new(1)));
        }

        Assert.Equal(21, _worker.Requests.Count);
        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(2), $"20 lone calls took {clock.Elapsed}.");
    }

    [Fact]
    public async Task Neither_the_size_of_a_batch_nor_the_requests_under_way_exceed_their_limits()
    {
        await using var snapper = _worker.Client(maxBatch: 7, maxRequests: 3);
        _worker.Otherwise = async e =>
        {
            await Task.Delay(2);
            await e.Answer();
        };

        await Task.WhenAll(Enumerable.Range(0, 200).Select(i => snapper.Actor<IAccount>("a" + i).Act(a => a.DepositChecking(new(i)))));

        Assert.Equal(7, _worker.Requests.Max(r => r.Length));
        Assert.InRange(_worker.MaxUnderWay, 2, 3);
    }

    [Fact]
    public async Task Large_requests_do_not_grow_a_batch_beyond_what_a_sidecar_takes()
    {
        await using var snapper = _worker.Client(maxRequests: 1);
        var large = new string('x', 600_000);

        await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => snapper.Actor<IAccount>("a").Act(a => a.Transfer(new(large, 1)))));

        Assert.Equal(3, _worker.Requests.Max(r => r.Length));
    }

    [Fact]
    public async Task A_batch_that_is_refused_as_a_whole_is_halved_until_the_culprit_is_alone()
    {
        await using var snapper = _worker.Client(maxRequests: 1);
        var hung = new TaskCompletionSource();
        _worker.Then(async e =>
        {
            await hung.Task;
            await e.Answer();
        });
        _worker.Otherwise = e => e.Transactions.Any(t => t.GetProperty("input").GetProperty("amount").GetInt32() == 666)
            ? e.Text(400, """{"detail":"unreadable","title":"bad request","status":400}""")
            : e.Answer();

        var first = snapper.Actor<IAccount>("first").Act(a => a.DepositChecking(new(1)));
        var good = Enumerable.Range(0, 15).Select(i => snapper.Actor<IAccount>("a" + i).Act(a => a.DepositChecking(new(i)))).ToList();
        var bad = snapper.Actor<IAccount>("bad").Act(a => a.DepositChecking(new(666)));
        hung.SetResult();

        await first;
        await Task.WhenAll(good);
        var refused = await Assert.ThrowsAsync<TransactionRejectedException>(() => bad);
        Assert.Equal((400, "HTTP 400: unreadable"), (refused.Status, refused.Detail));
        Assert.Equal(1, _worker.Requests.Count(r => r.Length == 1 && r[0].GetProperty("input").GetProperty("amount").GetInt32() == 666));
    }

    [Fact]
    public async Task A_call_made_while_the_execution_context_does_not_flow_works()
    {
        await using var snapper = _worker.Client();
        Task<decimal> call;
        using (ExecutionContext.SuppressFlow())
        {
            call = snapper.Actor<IAccount>("a").Act(a => a.DepositChecking(new(3)));
        }

        Assert.Equal(3, await call);
    }

    [Fact]
    public async Task Generated_ids_are_unique_across_clients()
    {
        await using var one = _worker.Client();
        await using var other = _worker.Client();

        await Task.WhenAll(Enumerable.Range(0, 100).Select(i => (i % 2 == 0 ? one : other).Actor<IAccount>("a").Act(a => a.DepositChecking(new(1)))));

        Assert.Equal(100, _worker.SentIds.Distinct().Count());
        Assert.All(_worker.SentIds, id => Assert.InRange(id.Length, 34, 128));
    }
}
