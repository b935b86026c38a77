using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>Methods that do what no sensible method does: they harm themselves at most.</summary>
[Collection(Timing.Name)]
public sealed class HostileCodeTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_computed_type_that_is_no_unicode_ends_the_transaction_and_not_the_worker(bool pact)
    {
        await using var rig = await Rig.Start();
        for (var i = 0; i < 2; i++)
        {
            var answer = await Rig.Within(rig.Submit("a", [new Step("badType")], pact ? ["a"] : null, id: "k1"), "the call", 20);
            Rig.Aborted(answer, AbortReason.Application);
            Assert.Contains("actor type", answer.Abort!.Message, StringComparison.Ordinal);
        }

        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData("doomNone", true)]
    [InlineData("doomNone", false)]
    [InlineData("doomConflict", true)]
    [InlineData("doomConflict", false)]
    public async Task A_doom_that_user_code_made_up_is_an_application_abort_the_second_time_too(string step, bool pact)
    {
        await using var rig = await Rig.Start();
        for (var i = 0; i < 2; i++)
        {
            Rig.Aborted(await Rig.Within(rig.Submit("a", [Step.Add(5), new Step(step)], pact ? ["a"] : null, id: "k2"), "the abort", 20), AbortReason.Application);
        }

        Assert.Equal(0, await rig.Value("a"));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task The_longest_id_that_is_let_in_is_found()
    {
        await using var rig = await Rig.Start();
        var id = string.Concat(Enumerable.Repeat("\U0001F600", NameRules.RequestIdLengthMax));
        Rig.Seen(await rig.Submit("a", [Step.Add(5)], ["a"], id: id));
        Assert.Equal(Outcome.Committed, (await rig.Host.Door.Find(id, CancellationToken.None))?.Outcome);
        Assert.Null(await rig.Host.Door.Find(id + "x", CancellationToken.None));
    }

    [Fact]
    public async Task Code_that_goes_on_for_ever_after_its_end_is_not_let_in_for_ever()
    {
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) });
        for (var i = 0; i < 5; i++)
        {
            Rig.Aborted(await Rig.Within(rig.Submit("a" + i, [new Step("spin")], timeoutMs: 200), "the end of its time", 20), AbortReason.Timeout);
        }

        // Nothing else runs: when the queue is empty twice in a row, nobody spins any more.
        await Rig.Until(
            () =>
            {
                var before = BoxActor.Spins;
                Thread.Sleep(50);
                return BoxActor.Spins == before;
            },
            "the spinning ends");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_state_that_is_null_is_not_committed(bool pact)
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await rig.Act("a", Step.Add(5)));
        var ended = await Rig.Within(rig.Submit("a", [new Step("setNull")], pact ? ["a"] : null), "the end");
        await rig.Restart();
        Assert.Equal(5, await rig.Value("a"));
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_state_that_cannot_be_copied_when_its_lock_is_granted_ends_the_transaction_and_not_the_worker()
    {
        await using var rig = await Rig.Start();
        Rig.Saw(await rig.Submit("Mutable", "o", "Push", new Push(3), null), 3, -3); // its type can be read
        using var waits = new Gate();
        using var holds = new Gate();
        var waiter = rig.Submit("Mutable", "m", "Push", new Push(1, GateBefore: waits.Name, Other: "n"), null);
        await waits.Reached();
        var holder = rig.Submit("Mutable", "n", "Push", new Push(2, holds.Name, Spoil: true), null);
        await holds.Reached();
        waits.Open();
        var acts = rig.Host.Worker.Acts;
        await Rig.Until(() => acts.Values.Any(attempt => attempt.WaitingBranches > 0), "the older one waits");
        holds.Open();
        Rig.Saw(await Rig.Within(holder, "the one that spoils the state"), 2, -2);
        var ended = await Rig.Within(waiter, "the one that is granted the lock");
        Assert.Empty(rig.Failures);
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Contains("planned, in a setter", ended.Abort!.Message, StringComparison.Ordinal);
        Rig.Saw(await Rig.Within(rig.Submit("Mutable", "m", "Items", null, null), "a reader"));
    }

    [Theory]
    [InlineData("throwMute", true)]
    [InlineData("throwMute", false)]
    public async Task An_exception_that_throws_when_it_is_read_ends_the_transaction_and_not_the_worker(
        string step, bool pact)
    {
        await using var rig = await Rig.Start();
        string[]? access = pact ? ["a"] : null;
        var ended = await Rig.Within(rig.Submit("a", [Step.Add(), new Step(step)], access), "the abort", 5);
        Assert.Empty(rig.Failures);
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Contains("MuteException", ended.Abort!.Message, StringComparison.Ordinal);
        Assert.Equal(0, await rig.Value("a"));
    }

    [Fact]
    public async Task So_does_one_of_a_state_of_a_result_or_of_an_input()
    {
        await using var rig = await Rig.Start();
        foreach (var (method, input) in new (string, object?)[] { ("Spoil", "mute"), ("MuteResult", null) })
        {
            var act = await Rig.Within(rig.Submit("Odd", "a", method, input, null), method, 5);
            Rig.Aborted(act, AbortReason.Application);
            var pact = await Rig.Within(rig.Submit("Odd", "a", method, input, [("a", 1)]), method, 5);
            Rig.Aborted(pact, AbortReason.Application);
        }

        var word = """{"word":"mute"}"""u8.ToArray();
        var taken = await Rig.Within(rig.Submit("Odd", "a", "TakePicky", word, null), "an input", 5);
        Rig.Rejected(taken, RejectionKind.Invalid);
        Assert.Empty(rig.Failures);
    }
}
