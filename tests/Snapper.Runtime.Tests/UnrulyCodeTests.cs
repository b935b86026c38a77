using System.Text;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>Code of values, and unjoined code: it harms its own transaction at most.</summary>
public sealed class UnrulyCodeTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Code_that_fails_when_its_transaction_has_ended_stops_nobody(bool pact)
    {
        await using var rig = await Rig.Start();
        using var gate = new Gate(inline: true);
        (string, int)[]? access = pact ? [("a", 1), ("later", 1)] : null;
        var done = await Rig.Within(rig.Submit("Unruly", "a", "Call", gate.Name, access), "the end");
        Assert.Equal(1, Rig.Seen1(done));

        await gate.Reached();
        gate.Open();
        for (var turn = 0; turn < 3; turn++)
        {
            // Behind what was in its executor's queue, each time.
            Assert.Equal(0, Rig.Seen1(await Rig.Within(rig.Submit("Unruly", "later", "Value", null, null), "a look")));
            Assert.Equal(0, Rig.Seen1(await Rig.Within(rig.Submit("Unruly", "a", "Value", null, null), "a look")));
        }

        Assert.Empty(rig.Failures);
    }

    /// <summary>
    /// What <c>async void</c> code throws goes where the code was begun from, and ends the process where that is
    /// no place.
    /// </summary>
    [Fact]
    public async Task Async_void_code_of_values_that_throws_ends_no_process()
    {
        await using var rig = await Rig.Start();
        await Task.Run(async () => // as in a server, which has no context of its own
        {
            var value = """{"Value":3}"""u8.ToArray();
            var wrong = """{"Value":"three"}"""u8.ToArray();
            (string, int)[] one = [("a", 1)], two = [("a", 1), ("other", 1)];
            foreach (var (method, access) in new[]
            {
                ("Set", null), ("Set", one), ("SetAtOther", null), ("SetAtOther", two),
            })
            {
                await Rig.Within(rig.Submit("Careless", "a", method, value, access), method);
                await Rig.Within(rig.Submit("Careless", "a", method, wrong, access), "a wrong input");
            }

            await rig.Restart();
            await Rig.Within(rig.Submit("Careless", "a", "Value", null, null), "what was loaded");
            await Rig.Within(rig.Submit("Careless", "a", StateMethods.Import, value, null), "an import");
        });
        Assert.Equal(0, Careless.Uncaught);
        Assert.Empty(rig.Failures);
    }

    /// <summary>A thread goes on with another transaction, and has to forget the one before.</summary>
    [Theory]
    [InlineData("local", true)]
    [InlineData("local", false)]
    [InlineData("culture", false)]
    [InlineData("flow", false)]
    public async Task What_a_method_changes_around_itself_is_not_seen_by_others(string what, bool pact)
    {
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 1 });
        (string, int)[]? access = pact ? [("a", 1)] : null;
        var before = await Rig.Within(rig.Submit("Unruly", "a", "Ambient", null, access), "the first");
        await Rig.Within(rig.Submit("Unruly", "a", "Leak", what, access), "the second");
        var after = await Rig.Within(rig.Submit("Unruly", "a", "Ambient", null, access), "the third");
        Assert.Equal(Outcome.Committed, after.Outcome);
        Assert.Equal(Encoding.UTF8.GetString(before.Result.Span), Encoding.UTF8.GetString(after.Result.Span));
    }

    [Fact]
    public async Task Unjoined_code_is_not_let_in_for_ever()
    {
        await using var rig = await Rig.Start();
        var done = await Rig.Within(rig.Submit("Unruly", "a", "Spin", null, null), "the end");
        Assert.True(done.Outcome == Outcome.Committed, TestWorker.Describe(done));
        await Task.Delay(2000); // time for some hundred thousand turns
        Assert.InRange(UnrulyActor.Spins, 1, 1001);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_value_that_uses_the_context_costs_its_transaction_and_no_thread(bool pact)
    {
        // Nothing frees a thread that is lost within this time.
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 1, TurnBound = TimeSpan.FromMinutes(2) });
        (string, int)[]? access = pact ? [("a", 1), ("b", 1)] : null;
        var ended = await Rig.Within(rig.Submit("Unruly", "a", "Use", "b", access), "the end", 20);
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Contains("has used the context of an actor", ended.Abort!.Message, StringComparison.Ordinal);
        Assert.Empty(rig.Failures);
    }

    /// <summary>
    /// Weighed when it ran again, it could be written, and behind that it could not: it ran again until its deadline,
    /// and whatever had touched its actors with it.
    /// </summary>
    [Fact]
    public async Task A_state_that_cannot_be_written_each_second_time_keeps_nobody_waiting()
    {
        await using var rig = await Rig.Start();
        var done = await Rig.Within(rig.Submit("Unruly", "a", "AddUnruly", null, [("a", 1)]), "the end", 20);
        Assert.Equal((1, 2), (Rig.Seen1(done), done.Attempts));
        await rig.Restart();
        Assert.Equal(1, Rig.Seen1(await rig.Submit("Unruly", "a", "Value", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task An_enum_that_cannot_be_written_is_no_reason_why_an_input_is_not_refused()
    {
        await using var rig = await Rig.Start();
        var wrong = """{"Kind":"three"}"""u8.ToArray();
        var refused = await Rig.Within(rig.Submit("Unruly", "a", "TakeLopsided", wrong, null), "the refusal");
        Rig.Rejected(refused, RejectionKind.Invalid);
        Assert.Contains("input.Kind: planned, in", refused.Rejection!.Detail, StringComparison.Ordinal);

        var called = await Rig.Within(rig.Submit("Unruly", "a", "GiveLopsided", "b", null), "the abort");
        Rig.Aborted(called, AbortReason.Application);
        Assert.Contains("input.kind: planned, in", called.Abort!.Message, StringComparison.Ordinal);
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_type_of_states_that_cannot_be_read_is_not_committed(bool pact)
    {
        await using var rig = await Rig.Start();
        for (var times = 0; times < 2; times++)
        {
            (string, int)[]? access = pact ? [("a", 1)] : null;
            var ended = await Rig.Within(rig.Submit("OneWay", "a", "Set", 5, access), "the end");
            Rig.Aborted(ended, AbortReason.Application);
            Assert.Contains("JSON that cannot be read again", ended.Abort!.Message, StringComparison.Ordinal);
        }

        await rig.Restart();
        Assert.Equal(0, Rig.Seen1(await rig.Submit("OneWay", "a", "Value", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData("Purse", 5, -1, true)]
    [InlineData("Purse", 5, -1, false)]
    [InlineData("Badge", 3, 4, true)]
    [InlineData("Badge", 3, 4, false)]
    public async Task A_later_state_of_a_type_that_cannot_be_read_is_not_committed_either(
        string type, int read, int unread, bool pact)
    {
        await using var rig = await Rig.Start();
        (string, int)[]? access = pact ? [("a", 1)] : null;
        var first = await Rig.Within(rig.Submit(type, "a", "Set", read, access), "the first");
        Assert.True(first.Outcome == Outcome.Committed, TestWorker.Describe(first));
        var ended = await Rig.Within(rig.Submit(type, "a", "Set", unread, access), "the second");
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Contains("JSON that cannot be read again", ended.Abort!.Message, StringComparison.Ordinal);

        await rig.Restart();
        Assert.Equal(read, Rig.Seen1(await rig.Submit(type, "a", "Value", null, null)));
        Assert.Empty(rig.Failures);
    }
}
