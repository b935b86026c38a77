using System.Text;
using System.Text.Json;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Client.Calls;
using Snapper.Client.Messages;
using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Tests;

/// <summary>Code that uses an <see cref="ISnapperClient"/>, tested with one that has no worker.</summary>
public sealed class FakeClientTests
{
    private readonly Fake _fake = new();

    [Fact]
    public async Task A_typed_call_is_the_request_that_it_comes_down_to()
    {
        _fake.Answer = static request => new TransactionReply
        {
            Id = request.Id ?? "made up", Outcome = TransactionOutcome.Committed, Result = "7.5"u8.ToArray(),
        };

        var result = await _fake.Actor<IAccount>("a").Pact(
            static a => a.DepositChecking(new(7)), static it => it.Actor<IAccount>("b", 2),
            new CallOptions { Id = "x", Timeout = TimeSpan.FromSeconds(3), AccessMode = AccessMode.Audit });

        Assert.Equal(7.5m, result);
        var request = Assert.Single(_fake.Requests);
        Assert.Equal(
            ("Account/a", "DepositChecking", TransactionMode.Pact, AccessMode.Audit, "x", TimeSpan.FromSeconds(3)),
            (request.Actor.ToString(), request.Method, request.Mode, request.AccessMode, request.Id, request.Timeout));
        Assert.Equal("{\"amount\":7}", Encoding.UTF8.GetString(request.Input.Span));
        Assert.Equal([new("Account", "a", 1), new("Account", "b", 2)], request.Access!);
    }

    [Fact]
    public async Task Its_outcomes_are_thrown_as_those_of_a_worker()
    {
        _fake.Answer = static request => new TransactionReply
        {
            Id = "x", Outcome = TransactionOutcome.Aborted,
            Abort = new AbortDetails(default, "application", "no", false, null) { Code = "insufficient_funds" },
        };

        var aborted = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => _fake.Actor<IAccount>("a").Run(static a => a.DepositChecking(new(1))));

        Assert.Equal("insufficient_funds", aborted.Code);
        Assert.Equal(TransactionMode.AsDeclared, Assert.Single(_fake.Requests).Mode);
        Assert.Null(_fake.Requests[0].Access);
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => _fake.Actor<IAccount>("a").Act(static _ => Task.CompletedTask));
    }

    private sealed class Fake : ISnapperClient
    {
        public List<TransactionRequestMessage> Requests { get; } = [];

        public Func<TransactionRequestMessage, TransactionReply> Answer { get; set; } = null!;

        public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation)
        {
            Requests.Add(request);
            return Task.FromResult(Answer(request));
        }

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) =>
            Task.FromResult<TransactionReply?>(null);

        public Task<StatesRead> Read(
            IReadOnlyList<ActorKey> actors, TimeSpan? timeout, CancellationToken cancellation) =>
            throw new NotSupportedException();
    }
}
