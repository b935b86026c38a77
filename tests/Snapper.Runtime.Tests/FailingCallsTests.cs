using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// A2, A8, A10: failures that nobody looks at, calls that nobody awaits, contexts that are used where they must not
/// be.
/// </summary>
public sealed class FailingCallsTests
{
    public enum Kind
    {
        Act,
        Pact,
        Marked,
    }

    public static TheoryData<Kind> Kinds => [Kind.Act, Kind.Pact, Kind.Marked];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_exception_that_the_caller_catches_dooms_the_transaction_all_the_same(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(rig, kind, Step.Add(3), Step.Try("b", Step.Add(5), Step.Throw()), new Step("yield"));
        Rig.Aborted(envelope, AbortReason.Application);
        Assert.Contains("planned", envelope.Abort!.Message, StringComparison.Ordinal);
        await NothingRemains(rig);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Calls_that_nobody_awaits_are_joined_before_the_end(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(rig, kind, Step.Fire("b", new Step("yield"), Step.Fire("c", new Step("yield"), Step.Add(2)), Step.Add(1)));
        Rig.Seen(envelope);
        Assert.Equal(1, await rig.Value("b"));
        Assert.Equal(2, await rig.Value("c"));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_call_that_nobody_awaits_and_that_fails_dooms_the_transaction(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(rig, kind, Step.Add(1), Step.Fire("b", Step.Add(1), new Step("yield"), Step.Throw()));
        Rig.Aborted(envelope, AbortReason.Application);
        await NothingRemains(rig);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_async_void_method_that_throws_dooms_at_most_its_own_transaction(Kind kind)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        var run = Run(rig, kind, Step.Add(1), new Step("asyncVoid"), Step.Wait(gate), new Step("yield"));
        await gate.Reached();
        gate.Open();
        Rig.Aborted(await run, AbortReason.Application);
        await NothingRemains(rig);

        // Nobody joins it: thrown after the method has returned, it comes too late for its transaction.
        for (var i = 0; i < 50; i++)
        {
            var late = await Run(rig, kind, Step.Add(1), new Step("asyncVoid"));
            var value = await rig.Value("a");
            Assert.Equal(late.Outcome == Outcome.Committed ? 1 : 0, value);
            if (value != 0)
            {
                Rig.Seen(await rig.Act("a", Step.Add(-1)));
            }
        }

        Assert.Empty(rig.Failures);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_context_that_is_used_after_the_end_throws(Kind kind)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        Rig.Seen(await Run(rig, kind, Step.Add(1), new Step("afterReturn", Gate: gate.Name)));
        gate.Open();
        await Rig.Until(() => gate.Notes.Count == 2, "the late uses were made");
        Assert.All(gate.Notes, note => Assert.Equal("doomed", note));
        Assert.Equal(1, await rig.Value("a"));
    }

    [Theory]
    [InlineData("poolThread", Kind.Act)]
    [InlineData("poolThread", Kind.Pact)]
    [InlineData("noContext", Kind.Act)]
    [InlineData("noContext", Kind.Pact)]
    public async Task A_context_that_is_used_on_a_foreign_thread_throws(string how, Kind kind)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate();
        Rig.Seen(await Run(rig, kind, Step.Add(1), new Step(how, Gate: gate.Name)));
        Assert.Equal(["doomed"], gate.Notes);
        Assert.Equal(1, await rig.Value("a"));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Parallel_calls_to_one_actor_run_one_at_a_time_in_the_order_of_the_calls(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(
            rig,
            kind,
            Step.Together(
                Step.Call("b", new Step("yield"), Step.Get(), Step.Add(1), new Step("yield"), Step.Get()),
                Step.Call("b", Step.Get(), new Step("yield"), Step.Add(1), Step.Get()),
                Step.Call("b", Step.Get(), Step.Add(1), new Step("yield"), Step.Get())));
        Rig.Saw(envelope, 0, 1, 1, 2, 2, 3);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_call_back_to_an_actor_that_waits_for_it_is_let_in(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(rig, kind, Step.Add(1), Step.Call("b", new Step("yield"), Step.Call("a", Step.Get(), Step.Add(1))), Step.Get());
        Rig.Saw(envelope, 1, 2);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_actor_may_call_itself(Kind kind)
    {
        await using var rig = await Rig.Start();
        var envelope = await Run(rig, kind, Step.Add(1), Step.Call("a", Step.Add(1), new Step("yield"), Step.Call("a", Step.Get())), Step.Get());
        Rig.Saw(envelope, 2, 2);
    }

    private static Task<TransactionEnvelope> Run(Rig rig, Kind kind, params Step[] steps)
    {
        string[]? access = kind == Kind.Act ? null : ["a", "a", "a", "b", "b", "b", "c"];
        return Rig.Within(rig.Submit("a", steps, access, kind == Kind.Marked ? "RunMarked" : "Run"), "the transaction");
    }

    private static async Task NothingRemains(Rig rig)
    {
        Assert.Equal(0, await rig.Value("a"));
        Assert.Equal(0, await rig.Value("b"));
        Assert.Equal(0, await rig.Value("c"));
        Assert.Empty(rig.Failures);
    }
}
