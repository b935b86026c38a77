using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Cluster;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// A request that leaves open how it runs is a PACT with what its root's method declares; a method that cannot declare
/// harms itself at most.
/// </summary>
[Collection(Timing.Name)]
public sealed class DeclarationTests
{
    private static readonly WorkerOptions s_quick =
        new() { Executors = 2, TurnBound = TimeSpan.FromMilliseconds(200), TurnTick = TimeSpan.FromMilliseconds(10) };

    [Fact]
    public async Task A_request_without_mode_and_access_is_a_pact_over_what_its_method_declares()
    {
        await using var worker = await Start();
        var open = await Submit(worker, Open("Pass", new { To = "b", Amount = 5 }));
        Committed(open, 5, TransactionMode.Pact);
        // its own call and the one back
        Committed(await Submit(worker, Open("Pass", new { To = "a", Amount = 5 })), -5, TransactionMode.Pact);
        Committed(await Submit(worker, Open("PassAll", new { To = new[] { "b", "c", "b" }, Amount = 2 })), 2,
            TransactionMode.Pact);
        Committed(await Submit(worker, Open("Owed", null)), -5, TransactionMode.Act); // declares nothing
        Committed(await Submit(worker, Open("Owed", null, "b")), 9, TransactionMode.Act);
    }

    [Fact]
    public async Task What_a_request_says_itself_holds()
    {
        await using var worker = await Start();
        var asked = Open("Pass", new { To = "b", Amount = 5 }) with { AccessSource = AccessSource.Request };
        Committed(await Submit(worker, asked), 5, TransactionMode.Act);
        var narrow = await Submit(worker, asked
            with { Mode = TransactionMode.Pact, Access = [new DeclaredAccess(asked.Actor, 1)] });
        Assert.Equal(AbortReason.Undeclared, narrow.Abort?.Reason);
    }

    [Fact]
    public async Task A_call_that_the_method_has_not_declared_ends_the_transaction()
    {
        await using var worker = await Start();
        var ended = await Submit(worker, Open("Misdeclared", new { To = "b", Amount = 5 }));
        Assert.Equal(AbortReason.Undeclared, ended.Abort?.Reason);
    }

    [Theory]
    [InlineData("throw", RejectionKind.Invalid, "The declaration of Debt.PassAll failed: planned, in a declaration")]
    [InlineData("", RejectionKind.Invalid, "The declaration of Debt.PassAll failed: ")]
    [InlineData("many:10000", RejectionKind.TooMany, "The declaration of Debt.PassAll names more than 256 actors.")]
    [InlineData("tab\t", RejectionKind.Invalid, "The declaration of Debt.PassAll names an actor that cannot be")]
    public async Task One_that_throws_or_names_what_it_may_not_is_refused_with_the_reason(string to, RejectionKind kind,
        string words)
    {
        await using var worker = await Start();
        foreach (var id in new[] { null, "k1", "k1" })
        {
            var refused = await Submit(worker, Open("PassAll", new { To = new[] { to }, Amount = 5 }) with { Id = id });
            Assert.Equal((Outcome.Rejected, kind), (refused.Outcome, refused.Rejection?.Kind));
            Assert.StartsWith(words, refused.Rejection!.Detail, StringComparison.Ordinal);
        }

        Committed(await Submit(worker, Open("PassAll", new { To = new[] { "b" }, Amount = 5 }) with { Id = "k1" }), 5,
            TransactionMode.Pact);
    }

    [Fact]
    public async Task An_input_that_does_not_fit_is_refused_as_without_a_declaration()
    {
        await using var worker = await Start();
        foreach (var method in new[] { "Pass", "PassAll" })
        {
            var refused = await Submit(worker, Open(method, "no record"));
            Assert.Equal(RejectionKind.Invalid, refused.Rejection?.Kind);
            Assert.StartsWith($"The input does not fit Debt.{method}", refused.Rejection!.Detail,
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task One_that_does_not_come_back_is_refused_after_the_bound_and_costs_others_nothing()
    {
        await using var worker = await Start(s_quick);
        DebtActor.Hangs = true;
        try
        {
            var stuck = Submit(worker, Open("Hang", new { To = "b", Amount = 5 }));
            var behind = Submit(worker, Open("Hang", new { To = "b", Amount = 5 }));
            Committed(await Rig.Within(Submit(worker, Open("Pass", new { To = "b", Amount = 5 })), "a proven one", 1),
                5, TransactionMode.Pact);
            Committed(await Rig.Within(Submit(worker, Open("PassAll", new { To = new[] { "b" }, Amount = 5 })),
                "one that waits behind it", 10), 5, TransactionMode.Pact);
            Refused(await Rig.Within(stuck, "its end", 10), RejectionKind.Invalid,
                "The declaration of Debt.Hang had not ended after 200 ms.");
            Refused(await Rig.Within(behind, "its end", 10), RejectionKind.Overloaded,
                "The declaration of Debt.Hang has not come back from an earlier request.");
            Refused(await Submit(worker, Open("Hang", new { To = "b", Amount = 5 })), RejectionKind.Overloaded,
                "The declaration of Debt.Hang has not come back");
            Committed(await Submit(worker, Open("Hang", new { To = "b", Amount = 5 })
                with { AccessSource = AccessSource.Request }), 15, TransactionMode.Act);
        }
        finally
        {
            DebtActor.Hangs = false;
        }

        await Rig.Until(() => Submit(worker, Open("Hang",
            new { To = "b", Amount = 1 })).GetAwaiter().GetResult().Outcome == Outcome.Committed, "it has come back");
        Assert.Null(worker.Host.Failure);
    }

    [Fact]
    public async Task A_worker_that_stops_waits_for_no_declaration()
    {
        await using var worker = await Start(s_quick);
        DebtActor.Hangs = true;
        try
        {
            var stuck = Submit(worker, Open("Hang", new { To = "b", Amount = 5 }));
            await worker.Restart().WaitAsync(TimeSpan.FromSeconds(10));
            Assert.NotEqual(Outcome.Committed, (await Rig.Within(stuck, "its end")).Outcome);
        }
        finally
        {
            DebtActor.Hangs = false;
        }
    }

    [Fact]
    public async Task An_id_is_of_the_request_as_it_was_sent()
    {
        await using var worker = await Start();
        var asked = Open("Pass", new { To = "b", Amount = 5 }) with { Id = "k1" };
        Committed(await Submit(worker, asked), 5, TransactionMode.Pact);
        Committed(await Submit(worker, asked), 5, TransactionMode.Pact); // again
        // as before the method declared
        Committed(await Submit(worker, asked with { AccessSource = AccessSource.Request }), 5, TransactionMode.Pact);
        await worker.Restart();
        Committed(await Submit(worker, asked), 5, TransactionMode.Pact);
        var other = await Submit(worker, Open("Pass", new { To = "c", Amount = 5 }) with { Id = "k1" });
        Assert.Equal(RejectionKind.IdConflict, other.Rejection?.Kind);
    }

    [Fact]
    public async Task Tenants_stay_apart()
    {
        await using var worker = await Start(new WorkerOptions { Executors = 1, TenantsApart = true });
        Committed(await Submit(worker, Open("Pass", new { To = "acme/b", Amount = 5 }, "acme/a")), 5,
            TransactionMode.Pact);
        var refused = await Submit(worker, Open("Pass", new { To = "umbrella/b", Amount = 5 }, "acme/a"));
        Refused(refused, RejectionKind.Forbidden,
            "The declaration of Debt.Pass names Debt/umbrella/b, an actor of another tenant than the root's.");
    }

    [Fact]
    public async Task Of_several_workers_the_one_where_the_request_comes_in_asks_the_method_once()
    {
        await using var cluster = await TestCluster.Start(2, new WorkerOptions { Executors = 1 }, types: static _ =>
            [DebtActorDescriptor.Instance]);
        string root = cluster.IdAt(2, "Debt", "r"), other = cluster.IdAt(1, "Debt", "o");
        var before = DebtActor.Evaluations;
        var asked = Open("PassAll", new { To = new[] { other }, Amount = 5 }, root);
        Committed(await cluster[1].Door.Submit(asked with { Id = "k1" }, CancellationToken.None), 5,
            TransactionMode.Pact);
        Assert.Equal(before + 1, DebtActor.Evaluations);

        // Sent again by the other way it is the same request.
        Committed(await cluster[2].Door.Submit(asked with { Id = "k1" }, CancellationToken.None), 5,
            TransactionMode.Pact);
        Committed(await cluster[1].Door.Submit(Open("Owed", null, other), CancellationToken.None), 5,
            TransactionMode.Act);
        foreach (var id in new[] { null, "k2" })
        {
            var many = Open("PassAll", new { To = new[] { "many:10000" }, Amount = 5 }, root) with { Id = id };
            Refused(await cluster[1].Door.Submit(many, CancellationToken.None), RejectionKind.TooMany,
                "The declaration of Debt.PassAll names more than 256 actors.");
        }
    }

    private static Task<TestWorker> Start(WorkerOptions? options = null) =>
        TestWorker.Start(options, DebtActorDescriptor.Instance);

    private static Task<TransactionEnvelope> Submit(TestWorker worker, TransactionRequest request) =>
        worker.Host.Door.Submit(request, CancellationToken.None);

    private static TransactionRequest Open(string method, object? input, string id = "a") => new()
    {
        Actor = new ActorKey("Debt", id),
        Method = method,
        Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
        Mode = TransactionMode.Act,
        AccessSource = AccessSource.Open,
    };

    private static void Committed(TransactionEnvelope envelope, int result, TransactionMode mode)
    {
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        Assert.Equal((result, mode), (JsonSerializer.Deserialize<int>(envelope.Result.Span), envelope.Mode));
    }

    private static void Refused(TransactionEnvelope envelope, RejectionKind kind, string words)
    {
        Assert.Equal((Outcome.Rejected, kind), (envelope.Outcome, envelope.Rejection?.Kind));
        Assert.StartsWith(words, envelope.Rejection!.Detail, StringComparison.Ordinal);
    }
}
