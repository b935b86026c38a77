using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using Snapper.Apps.SmallBank.Contract;

namespace Snapper.Client.Tests;

/// <summary>The spans of the typed client, and the trace context that goes with each transaction.</summary>
public sealed class TracingTests : IAsyncLifetime
{
    private readonly ConcurrentQueue<Activity> _ended = new();
    private readonly ActivitySource _callers = new("callers of " + nameof(TracingTests));
    private readonly HashSet<ActivityTraceId> _mine = [];
    private FakeWorker _worker = null!;

    public async Task InitializeAsync()
    {
        _worker = await FakeWorker.Start();
        _worker.Execute = static t => FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"result\":1");
    }

    public async Task DisposeAsync()
    {
        _callers.Dispose();
        await _worker.DisposeAsync();
    }

    [Fact]
    public async Task Transactions_of_one_request_each_carry_the_span_of_their_own_caller()
    {
        using var listener = Listen(SnapperClient.ActivitySourceName);
        var held = new TaskCompletionSource();
        _worker.Then(async e =>
        {
            await held.Task; // what is called meanwhile leaves together
            await e.Answer();
        });
        await using var snapper = _worker.Client(maxRequests: 1);
        var first = Call(snapper, "first", "a=1");
        await Until(() => _worker.Requests.Count == 1);
        var others = new[] { Call(snapper, "second", "b=2,c=3"), Call(snapper, "third", null) };
        held.SetResult();
        await Task.WhenAll([first, .. others]);

        Assert.Equal([1, 2], _worker.Requests.Select(static request => request.Length));
        foreach (
            var (caller, state) in new[] { (await first, "a=1"), (await others[0], "b=2,c=3"),
            (await others[1], null) })
        {
            var span = Assert.Single(_ended, span => span.TraceId == caller.TraceId);
            Assert.Equal("transaction Account.DepositChecking", span.DisplayName);
            Assert.Equal((ActivityKind.Client, caller.SpanId), (span.Kind, span.ParentSpanId));
            Assert.Equal("committed", span.GetTagItem("snapper.transaction.outcome"));
            var sent = Assert.Single(
                _worker.Requests.SelectMany(static request => request),
                sent => sent.GetProperty("id").GetString() == (string?)span.GetTagItem("snapper.request.id"));
            Assert.Equal(span.Id, sent.GetProperty("traceparent").GetString());
            Assert.Equal(state, sent.TryGetProperty("tracestate", out var text) ? text.GetString() : null);
        }
    }

    [Fact]
    public async Task A_transaction_that_is_sent_again_is_one_span_and_the_same_bytes()
    {
        using var listener = Listen(SnapperClient.ActivitySourceName);
        _worker.Then(static e => e.Text(503, "{}", "0"));
        await using var snapper = _worker.Client();

        var caller = await Call(snapper, "again", null);

        var span = Assert.Single(_ended, span => span.TraceId == caller.TraceId);
        Assert.Equal(2, _worker.Requests.Count);
        Assert.All(_worker.Requests, request =>
            Assert.Equal(span.Id, Assert.Single(request).GetProperty("traceparent").GetString()));
    }

    [Fact]
    public async Task An_abort_and_a_call_that_fails_are_errors_of_the_span()
    {
        using var listener = Listen(SnapperClient.ActivitySourceName);
        await using var snapper = _worker.Client();
        _worker.Execute = static t => FakeWorker.Aborted(t, "application", "no money", retryable: false);

        var aborted = await Call<TransactionAbortedException>(snapper);
        using var gaveUp = new CancellationTokenSource();
        _worker.Then(e =>
        {
            gaveUp.Cancel();
            return e.Hang();
        });
        var cancelled = await Call<OperationCanceledException>(snapper, gaveUp.Token);

        Assert.Equal(("application", ActivityStatusCode.Error), Of(aborted));
        Assert.Equal(ActivityStatusCode.Error, Of(cancelled).Status);

        (string? Type, ActivityStatusCode Status) Of(Activity caller)
        {
            var span = Assert.Single(_ended, span => span.TraceId == caller.TraceId);
            return ((string?)span.GetTagItem("error.type"), span.Status);
        }
    }

    [Fact]
    public async Task Without_a_listener_the_caller_s_own_span_goes_along_and_without_one_nothing()
    {
        await using var snapper = _worker.Client();
        using var listener = Listen(_callers.Name);
        var caller = await Call(snapper, "no listener of the client", null);
        await snapper.Actor<IAccount>("a").Act(static a => a.DepositChecking(new(1)));

        var sent = _worker.Requests.SelectMany(static request => request).ToArray();
        Assert.Equal(caller.Id, sent[0].GetProperty("traceparent").GetString());
        Assert.False(sent[1].TryGetProperty("traceparent", out _));
        Assert.DoesNotContain(_ended, span => span.Source.Name == SnapperClient.ActivitySourceName);
    }

    [Fact]
    public async Task The_caller_s_current_activity_stays_what_it_is()
    {
        using var listener = Listen(SnapperClient.ActivitySourceName);
        await using var snapper = _worker.Client();
        using var caller = _callers.StartActivity("caller")!;

        var untyped = snapper.Submit(new()
        {
            Actor = new("Account", "a"), Method = "DepositChecking", Mode = Snapper.Client.Messages.TransactionMode.Act,
            Input = JsonSerializer.SerializeToUtf8Bytes(new { amount = 1 }),
        });
        Assert.Same(caller, Activity.Current);
        await untyped;
        Assert.Same(caller, Activity.Current);
        await snapper.Actor<IAccount>("a").Act(static a => a.DepositChecking(new(1)));
        Assert.Same(caller, Activity.Current);
    }

    private async Task<Activity> Call(SnapperClient snapper, string name, string? state)
    {
        using var caller = Begin(name);
        caller.TraceStateString = state;
        await snapper.Actor<IAccount>("a").Act(static a => a.DepositChecking(new(1)));
        return caller;
    }

    private async Task<Activity> Call<TException>(SnapperClient snapper, CancellationToken cancellation = default)
        where TException : Exception
    {
        using var caller = Begin(typeof(TException).Name);
        await Assert.ThrowsAnyAsync<TException>(
            () => snapper.Actor<IAccount>("a").Act(static a => a.DepositChecking(new(1)), cancellation: cancellation));
        return caller;
    }

    private Activity Begin(string name)
    {
        var caller = _callers.StartActivity(name)!;
        lock (_mine) _mine.Add(caller.TraceId);
        return caller;
    }

    // Other tests of the process have clients, too.
    private ActivityListener Listen(string source)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = it => it.Name == source || it.Name == _callers.Name,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) =>
                ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = activity =>
            {
                lock (_mine)
                {
                    if (activity.Source != _callers && _mine.Contains(activity.TraceId)) _ended.Enqueue(activity);
                }
            },
        };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }

    private static async Task Until(Func<bool> condition)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        while (!condition()) await Task.Delay(5, limit.Token);
    }
}
