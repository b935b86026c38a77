using System.Diagnostics;
using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class InvariantTests
{
    [Fact]
    public async Task A_bank_that_is_right_passes()
    {
        var report = await RunBank(new FakeBank());
        Assert.True(report.Passed, string.Join('\n', report.Problems));
    }

    [Fact]
    public async Task A_payment_that_loses_its_money_is_found()
    {
        var report = await RunBank(new FakeBank { LosesAt = 17 });
        Assert.False(report.Passed);
        Assert.Contains(report.Problems, static problem => problem.Contains("All accounts together", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_payment_without_an_answer_is_asked_for_and_explained()
    {
        var report = await RunBank(new FakeBank { SilentAt = 5 });
        Assert.True(report.Passed, string.Join('\n', report.Problems));
        Assert.DoesNotContain("unknown outcome", report.Summary, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_abort_that_left_something_is_found()
    {
        // What it answers is an abort; what it does is a payment.
        var report = await RunBank(new TakesAndAborts(new FakeBank()));
        Assert.False(report.Passed);
    }

    [Fact]
    public async Task A_system_without_the_bank_is_told_before_the_load()
    {
        var workload = Bank();
        var problem = await Assert.ThrowsAsync<TargetException>(() => workload.Prepare(new Refuses(), CancellationToken.None));
        Assert.Contains("no such actor type", problem.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Lists_that_forget_an_append_are_found(bool forgets)
    {
        var workload = new ListAppendWorkload(new WorkloadSettings { Prefix = "l", Accounts = 4, PactShare = 0.5, Seed = 3 });
        var lists = new FakeLists { ForgetsAt = forgets ? 40 : 0 };
        await workload.Prepare(lists, CancellationToken.None);
        await Run(workload, lists, 300);
        var report = await workload.Check(lists, CancellationToken.None);
        Assert.True(report.Passed != forgets, string.Join('\n', report.Problems));
    }

    [Fact]
    public void The_same_seed_sends_the_same_transactions()
    {
        var (one, same, other) = (Bank(), Bank(), Bank(seed: 2));
        var differ = 0;
        for (var i = 0; i < 100; i++)
        {
            var (a, b, c) = (one.Next().Message, same.Next().Message, other.Next().Message);
            Assert.Equal((a.Method, a.Actor.Id, Convert.ToHexString(a.Input.Span)), (b.Method, b.Actor.Id, Convert.ToHexString(b.Input.Span)));
            differ += a.Actor.Id == c.Actor.Id ? 0 : 1;
        }

        Assert.True(differ > 50);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0.9, 0.9)]
    [InlineData(1, 1)]
    public void The_share_of_pacts_is_what_was_asked_for(double share, double expected)
    {
        var workload = new SmallBankWorkload(new WorkloadSettings { Prefix = "x", Accounts = 100, PactShare = share });
        var pacts = Enumerable.Range(0, 10_000).Count(_ => workload.Next().Message is { Mode: TransactionMode.Pact, Access.Count: > 0 });
        Assert.InRange(pacts / 10_000.0, expected - 0.02, expected + 0.02);
    }

    private static SmallBankWorkload Bank(ulong seed = 1) => new(new WorkloadSettings { Prefix = "b", Accounts = 50, Seed = seed, PactShare = 0.5 });

    private static async Task<InvariantReport> RunBank(ILoadTarget bank)
    {
        var workload = Bank();
        await workload.Prepare(bank, CancellationToken.None);
        await Run(workload, bank, 400);
        return await workload.Check(bank, CancellationToken.None);
    }

    private static async Task Run(IWorkload workload, ILoadTarget target, int count)
    {
        for (var i = 0; i < count; i++)
        {
            var planned = workload.Next();
            var began = Stopwatch.GetTimestamp();
            var reply = await target.Submit(planned.Message, CancellationToken.None);
            workload.Record(planned, reply.Outcome == TransactionOutcome.InDoubt ? null : reply, new SentAt(began, Stopwatch.GetTimestamp()));
        }
    }

    private sealed class TakesAndAborts(FakeBank bank) : ILoadTarget
    {
        public async Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation)
        {
            var reply = await bank.Submit(request, cancellation);
            return request.Method == "DepositChecking" ? FakeBank.Aborted(request.Id!, "conflict", retryable: true) : reply;
        }

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => bank.Find(id, cancellation);
    }

    private sealed class Refuses : ILoadTarget
    {
        public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation) => Task.FromResult(
            new TransactionReply { Id = request.Id!, Outcome = TransactionOutcome.Rejected, Rejection = new RejectionDetails(404, "no such actor type") });

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => Task.FromResult<TransactionReply?>(null);
    }

    private sealed class FakeLists : ILoadTarget
    {
        private readonly Dictionary<string, List<long>> _lists = [];
        private int _appends;

        public int ForgetsAt { get; init; }

        public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation)
        {
            using var input = JsonDocument.Parse(request.Input);
            if (input.RootElement.TryGetProperty("abort", out _))
            {
                return Task.FromResult(FakeBank.Aborted(request.Id!, "application", retryable: false));
            }

            var answered = new List<object>();
            foreach (var operation in input.RootElement.GetProperty("ops").EnumerateArray())
            {
                var key = operation.GetProperty("key").GetString()!;
                var list = _lists.TryGetValue(key, out var known) ? known : _lists[key] = [];
                if (operation.GetProperty("f").GetString() == "append")
                {
                    var value = operation.GetProperty("value").GetInt64();
                    if (++_appends != ForgetsAt)
                    {
                        list.Add(value);
                    }

                    answered.Add(new { f = "append", key, value });
                }
                else
                {
                    answered.Add(new { f = "r", key, value = list.ToArray() });
                }
            }

            return Task.FromResult(new TransactionReply
            {
                Id = request.Id!, Outcome = TransactionOutcome.Committed, Attempts = 1, Result = JsonSerializer.SerializeToUtf8Bytes(new { ops = answered }),
            });
        }

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => Task.FromResult<TransactionReply?>(null);
    }
}
