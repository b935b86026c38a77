using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Http;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Client.Calls;
using Snapper.Contracts;
using Snapper.Protocol.Messages;

namespace Snapper.Client.Tests;

public sealed class RepetitionTests : IAsyncLifetime
{
    private FakeWorker _worker = null!;

    public async Task InitializeAsync()
    {
        _worker = await FakeWorker.Start();
        _worker.Execute = t => FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"result\":7");
    }

    public async Task DisposeAsync() => await _worker.DisposeAsync();

    [Theory]
    [InlineData(429)]
    [InlineData(503)]
    public async Task What_was_not_executed_is_sent_again_unchanged_after_the_time_asked_for(int status)
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Text(status, """{"detail":"busy"}""", retryAfter: "1"));
        var clock = Stopwatch.StartNew();

        Assert.Equal(7, await Deposit(snapper));

        Assert.True(clock.ElapsedMilliseconds >= 950, $"Waited {clock.ElapsedMilliseconds} ms, the server asked for 1 s.");
        Assert.Equal(2, _worker.Requests.Count);
        Assert.Single(_worker.Requests.Select(r => r.Single().GetRawText()).Distinct());
    }

    [Fact]
    public async Task A_result_that_was_left_out_of_an_answer_is_asked_for_by_id()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e =>
        {
            e.ExecuteAll();
            return e.Each(t => FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"problem\":{\"status\":413,\"detail\":\"left out\"}"));
        });

        Assert.Equal(7, await Deposit(snapper));

        Assert.Single(_worker.Requests);
        Assert.Single(_worker.Asked);
    }

    [Fact]
    public async Task A_wait_beyond_the_timeout_is_not_begun()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromSeconds(2));
        _worker.Otherwise = e => e.Text(503, """{"detail":"starting"}""", retryAfter: "60");
        var clock = Stopwatch.StartNew();

        var refused = await Assert.ThrowsAsync<TransactionRejectedException>(() => Deposit(snapper));

        Assert.Equal((503, true), (refused.Status, refused.IsTransient));
        Assert.Contains("starting", refused.Message, StringComparison.Ordinal);
        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(1.5), $"Took {clock.Elapsed}.");
        Assert.Single(_worker.Requests);
    }

    [Fact]
    public async Task Of_a_batch_only_what_was_refused_for_load_is_sent_again()
    {
        await using var snapper = _worker.Client(maxRequests: 1);
        var refuse = true;
        _worker.Otherwise = e =>
        {
            if (e.Transactions.Length == 1 || !refuse)
            {
                return e.Answer();
            }

            refuse = false;
            return e.Each(t => t.GetProperty("actor").GetProperty("id").GetString() == "a3"
                ? FakeWorker.Rejected(t, 429, "queue full")
                : FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"result\":7"));
        };

        await Task.WhenAll(Enumerable.Range(0, 10).Select(i => Deposit(snapper, "a" + i)));

        var times = _worker.Requests.SelectMany(r => r).GroupBy(t => t.GetProperty("actor").GetProperty("id").GetString()!).ToDictionary(g => g.Key, g => g.Count());
        Assert.Equal(2, times["a3"]);
        Assert.Equal(11, times.Values.Sum());
    }

    [Fact]
    public async Task A_retryable_abort_is_sent_again_until_it_commits()
    {
        await using var snapper = _worker.Client();
        _worker.Then(
            e => e.Each(t => FakeWorker.Aborted(t, "overloaded", "busy", retryable: true)),
            e => e.Each(t => FakeWorker.Aborted(t, "failure", "worker lost", retryable: true)));

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(3, _worker.Requests.Count);
        Assert.Single(_worker.SentIds.Distinct());
        Assert.Empty(_worker.Asked);
    }

    [Fact]
    public async Task A_retryable_abort_surfaces_when_the_time_is_over()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromSeconds(3));
        _worker.Otherwise = e => e.Each(t => FakeWorker.Aborted(t, "conflict", "an older one holds it", retryable: true));

        var aborted = await Assert.ThrowsAsync<TransactionAbortedException>(() => Deposit(snapper));

        Assert.Equal((AbortReason.Conflict, true), (aborted.Reason, aborted.IsTransient));
        Assert.True(_worker.Requests.Count > 2);
    }

    [Fact]
    public async Task A_retryable_abort_is_the_answer_at_once_for_callers_that_count_them()
    {
        await using var snapper = _worker.Client(repeatsAborted: false);
        _worker.Then(e => e.Each(t => FakeWorker.Aborted(t, "failure", "worker lost", retryable: true)));

        var aborted = await Assert.ThrowsAsync<TransactionAbortedException>(() => Deposit(snapper));

        Assert.True(aborted.IsTransient);
        Assert.Single(_worker.Requests);
    }

    [Fact]
    public async Task A_retryable_abort_of_what_was_lost_sight_of_decides_nothing_also_for_them()
    {
        // The first sending may still be on its way, and may run: only the end of all sendings is an answer.
        await using var snapper = _worker.Client(repeatsAborted: false);
        _worker.Then(e => e.Drop());
        _worker.OnAsk = (context, id) => context.Response.WriteAsync(
            $$"""{"id":"{{id}}","outcome":"aborted","abort":{"reason":"failure","message":"worker lost","retryable":true} }""");

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(2, _worker.Requests.Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Aborts_of_what_was_lost_sight_of_decide_nothing_when_the_time_is_over(bool refusedAtLast)
    {
        // The first sending is held on its way (a proxy, daprd while placement is away), and arrives when the client has given up: what aborted meanwhile may run again under its id.
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(300));
        FakeWorker.Exchange? first = null;
        _worker.Then(e => (first = e).Drop());
        var aborts = 0;
        _worker.Otherwise = e => refusedAtLast && aborts++ > 0
            ? e.Text(503, """{"detail":"stopping"}""")
            : e.Each(t => FakeWorker.Aborted(t, "timeout", "The request's timeout has passed.", retryable: true));

        var told = await snapper.Submit(new Messages.TransactionRequestMessage { Actor = new("Account", "bob"), Method = "Deposit", Input = "1"u8.ToArray(), Mode = Messages.TransactionMode.Act });

        first!.ExecuteAll();
        Assert.Equal(told.Id, Assert.Single(_worker.Executed).Key);
        Assert.True(told.Outcome == Messages.TransactionOutcome.InDoubt, $"told {told.Outcome}, and it has committed");
    }

    [Fact]
    public async Task An_application_abort_is_not_repeated()
    {
        await using var snapper = _worker.Client();
        _worker.Otherwise = e => e.Each(t => FakeWorker.Aborted(t, "application", "insufficient funds", retryable: false));

        var aborted = await Assert.ThrowsAsync<TransactionAbortedException>(() => Deposit(snapper));

        Assert.Equal((AbortReason.Application, false, "insufficient funds"), (aborted.Reason, aborted.IsTransient, aborted.Detail));
        Assert.Equal("Account/bob", aborted.Actor!.ToString());
        Assert.Equal(_worker.SentIds.Single(), aborted.TransactionId);
    }

    [Theory]
    [InlineData(400)]
    [InlineData(401)]
    [InlineData(403)]
    [InlineData(404)]
    [InlineData(409)]
    [InlineData(413)]
    [InlineData(422)]
    public async Task A_refusal_is_not_repeated_whether_of_one_or_of_the_request(int status)
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Each(t => FakeWorker.Rejected(t, status, "no such thing")), e => e.Text(status, """{"detail":"not this"}"""));

        var one = await Assert.ThrowsAsync<TransactionRejectedException>(() => Deposit(snapper));
        Assert.Equal((status, "no such thing", false), (one.Status, one.Detail, one.IsTransient));
        var whole = await Assert.ThrowsAsync<TransactionRejectedException>(() => Deposit(snapper));
        Assert.Equal((status, $"HTTP {status}: not this", false), (whole.Status, whole.Detail, whole.IsTransient));

        Assert.Equal(2, _worker.Requests.Count);
        Assert.Empty(_worker.Asked);
    }

    [Fact]
    public async Task A_refusal_of_a_request_that_the_worker_could_not_read_is_taken_by_its_place()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Text(200, """{"results":[{"id":null,"outcome":"rejected","problem":{"status":400,"detail":"unreadable"}}]}"""));

        var refused = await Assert.ThrowsAsync<TransactionRejectedException>(() => Deposit(snapper));

        Assert.Equal((400, "unreadable", _worker.SentIds.Single()), (refused.Status, refused.Detail, refused.TransactionId));
    }

    [Fact]
    public async Task The_time_asked_for_in_a_single_refusal_is_waited()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Each(t => FakeWorker.Envelope(t, """ "outcome":"rejected","problem":{"status":429,"detail":"full","retryAfterMs":400} """)));
        var clock = Stopwatch.StartNew();

        Assert.Equal(7, await Deposit(snapper));

        Assert.True(clock.ElapsedMilliseconds >= 380, $"Waited {clock.ElapsedMilliseconds} ms, the worker asked for 400.");
    }

    [Fact]
    public async Task An_answer_lost_after_execution_is_asked_for_and_nothing_is_sent_again()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.ExecuteThenDrop());

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(_worker.SentIds.Single(), Assert.Single(_worker.Asked));
    }

    [Fact]
    public async Task A_request_lost_before_execution_is_asked_for_and_sent_again_with_its_id()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Drop());

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(2, _worker.Requests.Count);
        Assert.Single(_worker.SentIds.Distinct());
        Assert.Single(_worker.Asked);
        Assert.Single(_worker.Executed);
    }

    [Fact]
    public async Task Malformed_answers_are_asked_for_by_id()
    {
        await using var snapper = _worker.Client();
        Func<FakeWorker.Exchange, Task>[] answers =
        [
            e => e.Truncate(),
            e => Broken(e, "this is not JSON"),
            e => Broken(e, "[]"),
            e => Broken(e, "{}"),
            e => Broken(e, """{"results":[]}"""),
            e => Broken(e, """{"results":[{"id":"other","outcome":"committed","result":1}]}"""),
            e => Broken(e, """{"results":[{"outcome":"committed"}]}"""),
            e => Broken(e, $$"""{"results":[{"id":"{{e.Transactions[0].GetProperty("id")}}","outcome":"perhaps"}]}"""),
            e => Broken(e, """{"results":[{"id":"a","outcome":"committed"},{"id":"b","outcome":"committed"}]}"""),
            e => Broken(e, "{\"results\":[{\"id\":\"\\uD800\",\"outcome\":\"committed\"}]}"),
            e => Broken(e, "proxy error", status: 502),
            e => Broken(e, """{"errorCode":"ERR_DIRECT_INVOKE","message":"failed to invoke"}""", status: 500),
        ];

        foreach (var answer in answers)
        {
            _worker.Then(answer);
            Assert.Equal(7, await Deposit(snapper));
        }

        Assert.Equal(answers.Length, _worker.Asked.Count);
        Assert.Equal(answers.Length, _worker.Requests.Count);

        static Task Broken(FakeWorker.Exchange e, string text, int status = 200)
        {
            e.ExecuteAll();
            return e.Text(status, text);
        }
    }

    [Fact]
    public async Task An_outcome_in_doubt_is_asked_for_until_it_is_known()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Each(FakeWorker.InDoubt));
        var answers = new Queue<(int Status, string Outcome)>([(200, "running"), (503, ""), (200, "inDoubt"), (200, "committed\",\"result\":8,\"x\":\"")]);
        _worker.OnAsk = (context, id) =>
        {
            var (status, outcome) = answers.Dequeue();
            context.Response.StatusCode = status;
            return context.Response.WriteAsync($$"""{"id":"{{id}}","outcome":"{{outcome}}"}""");
        };

        Assert.Equal(8, await Deposit(snapper));

        Assert.Single(_worker.Requests);
        Assert.Equal(4, _worker.Asked.Count);
    }

    [Fact]
    public async Task Questions_that_are_lost_or_answered_badly_are_asked_again()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.ExecuteThenDrop());
        var times = 0;
        _worker.OnAsk = async (context, id) =>
        {
            switch (++times)
            {
                case 1:
                    context.Abort();
                    break;
                case 2:
                    context.Response.ContentLength = 1000;
                    await context.Response.WriteAsync("{\"id\":");
                    await context.Response.Body.FlushAsync();
                    context.Abort();
                    break;
                case 3:
                    await context.Response.WriteAsync("nonsense");
                    break;
                case 4:
                    await context.Response.WriteAsync("""{"id":"another","outcome":"committed","result":1}""");
                    break;
                default:
                    await context.Response.WriteAsync(_worker.Executed[id]);
                    break;
            }
        };

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(5, times);
        Assert.Single(_worker.Requests);
    }

    [Fact]
    public async Task A_retryable_abort_found_by_id_is_sent_again()
    {
        await using var snapper = _worker.Client();
        _worker.Then(e => e.Drop());
        _worker.OnAsk = (context, id) => context.Response.WriteAsync(
            $$"""{"id":"{{id}}","outcome":"aborted","abort":{"reason":"failure","message":"worker lost","retryable":true} }""");

        Assert.Equal(7, await Deposit(snapper));

        Assert.Equal(2, _worker.Requests.Count);
    }

    [Fact]
    public async Task An_outcome_that_stays_in_doubt_is_reported_as_such()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(300));
        _worker.Otherwise = e => e.Each(FakeWorker.InDoubt);
        _worker.OnAsk = (context, id) => context.Response.WriteAsync($$"""{"id":"{{id}}","outcome":"inDoubt"}""");

        var doubt = await Assert.ThrowsAsync<TransactionInDoubtException>(() => Deposit(snapper));

        Assert.Equal(_worker.SentIds.Single(), doubt.TransactionId);
        Assert.True(_worker.Asked.Count > 2);
    }

    [Fact]
    public async Task A_refusal_after_a_lost_answer_does_not_pretend_that_nothing_happened()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(500));
        _worker.Then(e => e.Drop());
        _worker.Otherwise = e => e.Text(503, """{"detail":"stopping"}""");

        await Assert.ThrowsAsync<TransactionInDoubtException>(() => Deposit(snapper));
    }

    /// <summary>A proxy says 503, too, when the connection to the worker ends while the request is there.</summary>
    [Fact]
    public async Task A_503_that_is_not_the_workers_says_nothing_of_what_it_did()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(300));
        _worker.Then(e =>
        {
            e.ExecuteAll();
            return e.Text(503, "upstream connect error or disconnect/reset before headers");
        });
        _worker.Otherwise = e => e.Text(503, "no healthy upstream");
        _worker.OnAsk = static (context, _) =>
        {
            context.Response.StatusCode = 503;
            return Task.CompletedTask;
        };

        await Assert.ThrowsAsync<TransactionInDoubtException>(() => Deposit(snapper));

        Assert.Single(_worker.Executed);
    }

    /// <summary>A proxy may have sent it once already, and found no worker the second time.</summary>
    [Theory]
    [InlineData(401)]
    [InlineData(403)]
    [InlineData(404)]
    [InlineData(409)]
    [InlineData(413)]
    [InlineData(429)]
    public async Task A_refusal_that_is_not_the_workers_says_nothing_of_what_it_did(int status)
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(300));
        _worker.Then(e =>
        {
            e.ExecuteAll();
            return e.Text(status, "default backend");
        });
        _worker.Otherwise = e => e.Text(status, "default backend");
        _worker.OnAsk = (context, _) =>
        {
            context.Response.StatusCode = status;
            return Task.CompletedTask;
        };

        var doubt = await Assert.ThrowsAsync<TransactionInDoubtException>(() => Deposit(snapper));

        Assert.Contains($"HTTP {status}", doubt.Message, StringComparison.Ordinal);
        Assert.Single(_worker.Executed);
    }

    /// <summary>So may it have sent one of several; that is divided, for one of them may be too large for it.</summary>
    [Theory]
    [InlineData(400)]
    [InlineData(413)]
    [InlineData(422)]
    public async Task A_refusal_of_several_that_is_not_the_workers_says_nothing_of_what_it_did(int status)
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(800), maxRequests: 1);
        var others = new TaskCompletionSource();
        _worker.Then(
            async e =>
            {
                await others.Task;
                await e.Answer();
            },
            e =>
            {
                e.ExecuteAll();
                return e.Text(status, "default backend");
            });
        _worker.Otherwise = e => e.Text(503, """{"detail":"stopping"}""");
        _worker.OnAsk = static (context, _) =>
        {
            context.Response.StatusCode = 503;
            return Task.CompletedTask;
        };

        var first = Deposit(snapper, "first");
        await Until(() => _worker.Requests.Count == 1, "the first request");
        Task<decimal>[] both = [Deposit(snapper, "second"), Deposit(snapper, "third")];
        others.SetResult();
        await first;

        foreach (var call in both)
        {
            await Assert.ThrowsAsync<TransactionInDoubtException>(() => call);
        }

        Assert.Equal(3, _worker.Executed.Count);
    }

    [Fact]
    public async Task A_404_that_is_not_a_workers_is_no_answer_to_an_operator()
    {
        await using var snapper = _worker.Client(); // which has no such address, as a default backend

        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.FindMigration("m1.1"));
        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Workers());
    }

    [Theory]
    [InlineData(401)]
    [InlineData(405)]
    [InlineData(409)]
    public async Task A_refusal_that_is_not_a_workers_is_none_of_an_operators_request(int status)
    {
        await using var snapper = _worker.Client();
        _worker.OnMigration = context =>
        {
            context.Response.StatusCode = status;
            return context.Response.WriteAsync("default backend");
        };

        var request = new MigrationRequest { Rebalance = true };
        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Migrate(request));
    }

    [Theory]
    [InlineData("half", 0xd83d, "")]
    [InlineData("", 0xde00, "half")]
    public async Task Half_a_character_is_refused_and_not_sent_as_another(string before, int half, string behind)
    {
        var text = before + (char)half + behind;
        await using var snapper = _worker.Client();

        Assert.Throws<ArgumentException>(() => snapper.Actor<IAccount>(text));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Find(text));
        await Assert.ThrowsAsync<ArgumentException>(
            () => snapper.Actor<IAccount>("alice").Act(a => a.DepositChecking(new(1)), new CallOptions { Id = text }));
        Assert.Empty(_worker.Calls);
    }

    [Fact]
    public async Task A_404_that_is_not_a_workers_does_not_say_that_an_id_is_unknown()
    {
        await using var snapper = _worker.Client();
        _worker.OnAsk = static (context, _) =>
        {
            context.Response.StatusCode = 404;
            return context.Response.WriteAsync("default backend");
        };

        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Find("order-1"));
    }

    [Fact]
    public async Task A_late_answer_leaves_the_outcome_in_doubt()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromMilliseconds(200), grace: TimeSpan.FromMilliseconds(100));
        _worker.Otherwise = e => e.Hang();
        var clock = Stopwatch.StartNew();

        var doubt = await Assert.ThrowsAsync<TransactionInDoubtException>(() => Deposit(snapper));

        Assert.Equal("no answer in time", doubt.Detail);
        Assert.InRange(clock.ElapsedMilliseconds, 250, 5000);
    }

    [Fact]
    public async Task A_call_that_was_never_sent_is_aborted_not_in_doubt()
    {
        await using var snapper = _worker.Client(timeout: TimeSpan.FromSeconds(20), maxRequests: 1);
        _worker.Otherwise = e => e.Hang();
        var hung = Deposit(snapper, "first");
        await Until(() => _worker.Requests.Count == 1, "the first request");

        var options = new CallOptions { Timeout = TimeSpan.FromMilliseconds(1) };
        var aborted = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => snapper.Actor<IAccount>("second").Act(a => a.DepositChecking(new(1)), options));

        Assert.Equal((AbortReason.Timeout, true), (aborted.Reason, aborted.IsTransient));
        Assert.Single(_worker.Requests);
        await snapper.DisposeAsync();
        await Assert.ThrowsAsync<TransactionInDoubtException>(() => hung);
    }

    [Fact]
    public async Task Nobody_there_is_a_refusal_and_a_late_start_is_waited_for()
    {
        var port = FreePort();
        await using var snapper = new SnapperClient(new SnapperClientOptions
        {
            Worker = new Uri($"http://127.0.0.1:{port}"), MinBackoff = TimeSpan.FromMilliseconds(5), MaxBackoff = TimeSpan.FromMilliseconds(50),
        });

        var refused = await Assert.ThrowsAsync<TransactionRejectedException>(() => snapper.Actor<IAccount>("alice").Act(
            a => a.DepositChecking(new(1)), new CallOptions { Timeout = TimeSpan.FromMilliseconds(200) }));
        Assert.Equal((503, true), (refused.Status, refused.IsTransient));

        var early = Deposit(snapper);
        await using var late = await FakeWorker.Start(port);
        late.Execute = t => FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"result\":9");
        Assert.Equal(9, await early);
        Assert.Empty(late.Asked);
    }

    [Fact]
    public async Task A_caller_may_give_up()
    {
        await using var snapper = _worker.Client(maxRequests: 1);
        _worker.Then(e => e.Hang());
        using var sent = new CancellationTokenSource();
        using var queued = new CancellationTokenSource();
        var first = snapper.Actor<IAccount>("first").Act(a => a.DepositChecking(new(1)), cancellation: sent.Token);
        await Until(() => _worker.Requests.Count == 1, "the first request");
        var second = snapper.Actor<IAccount>("second").Act(a => a.DepositChecking(new(1)), cancellation: queued.Token);

        await queued.CancelAsync();
        await sent.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
        Assert.Single(_worker.Requests);
    }

    [Fact]
    public async Task A_call_cancelled_beforehand_is_not_sent()
    {
        await using var snapper = _worker.Client();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => snapper.Actor<IAccount>("alice").Act(
            a => a.DepositChecking(new(1)), cancellation: new CancellationToken(canceled: true)));

        Assert.Equal(7, await Deposit(snapper));
        Assert.Single(_worker.SentIds);
    }

    private static async Task<decimal> Deposit(SnapperClient snapper, string account = "alice") =>
        await snapper.Actor<IAccount>(account).Act(a => a.DepositChecking(new(1)));

    private static async Task Until(Func<bool> condition, string what)
    {
        var clock = Stopwatch.StartNew();
        while (!condition())
        {
            Assert.True(clock.Elapsed < TimeSpan.FromSeconds(20), $"Waited 20 s for {what}.");
            await Task.Delay(5);
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
