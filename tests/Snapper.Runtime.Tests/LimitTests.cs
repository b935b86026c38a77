using System.Text;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>What is too large, malformed or unreadable: refused by name, and nobody else suffers.</summary>
public sealed class LimitTests
{
    private static readonly WorkerOptions Small = new() { Executors = 2, MaxStateBytes = 1000, MaxResultBytes = 1000, DrainTimeout = TimeSpan.FromSeconds(1) };

    [Fact]
    public async Task A_state_too_large_aborts_its_pact_and_bystanders_of_its_batch_commit()
    {
        await using var rig = await Rig.Start(Small);
        Rig.Seen1(await rig.Submit("Odd", "a", "Grow", new Growth(100, null), [("a", 1)]));

        // All in one batch behind one that holds the turn, so that nobody can tell who went too far.
        using var gate = new Gate();
        var holder = rig.Marked("h", ["h"], Step.Wait(gate));
        await gate.Reached();
        var before = rig.Submit("Odd", "a", "Grow", new Growth(10, "b"), [("a", 1), ("b", 1)]);
        var tooMuch = rig.Submit("Odd", "a", "Grow", new Growth(2000, "b"), [("a", 1), ("b", 1)]);
        var behind = rig.Submit("Odd", "a", "Grow", new Growth(10, null), [("a", 1)]);
        gate.Open();
        Rig.Seen(await Rig.Within(holder, "the holder"));
        var refused = await Rig.Within(tooMuch, "the large one");
        Rig.Aborted(refused, AbortReason.Application);
        Assert.Contains("Odd/a", refused.Abort!.Message, StringComparison.Ordinal);
        Assert.Contains("1000", refused.Abort.Message, StringComparison.Ordinal);
        Rig.Seen1(await Rig.Within(before, "the bystander before"));
        Rig.Seen1(await Rig.Within(behind, "the bystander behind"));
        Assert.Equal(120, Rig.Seen1(await rig.Submit("Odd", "a", "Size", null, null)));
        Assert.Equal(1, Rig.Seen1(await rig.Submit("Odd", "b", "Size", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task Transactions_that_share_an_actor_and_are_too_large_for_one_record_are_divided_and_all_commit()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, OpenBatches = 1, MaxStateBytes = 1000, MaxResultBytes = 1000, MaxTransactionBytes = 5000, DrainTimeout = TimeSpan.FromSeconds(1) });
        rig.Log.Hold();
        var first = rig.Pact("h", ["h"], Step.Add());
        await Rig.Until(() => rig.Log.Held > 0, "the first batch waits for the log, and no other is formed");
        var all = Enumerable.Range(0, 40).Select(i => rig.Submit("Odd", $"n{i}", "Grow", new Growth(900, null), [($"n{i}", 1), ("shared", 1)])).ToArray();
        await Rig.Until(() => rig.Host.Worker.Coordinators.Sum(ring => ring.Waiting) == 40, "all wait for a number");
        rig.Log.Release();
        Rig.Seen(await Rig.Within(first, "the first"));
        foreach (var one in all)
        {
            Assert.Equal(900, Rig.Seen1(await Rig.Within(one, "one of the batch")));
        }

        Assert.True(rig.Host.Inspection.Status().Undos > 0, "they were divided");
        await rig.Restart();
        Assert.Equal(900, Rig.Seen1(await rig.Submit("Odd", "n39", "Size", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_transaction_that_changes_too_much_in_all_aborts_alone(bool pact)
    {
        await using var rig = await Rig.Start(new() { Executors = 2, MaxStateBytes = 1000, MaxResultBytes = 1000, MaxTransactionBytes = 2000, DrainTimeout = TimeSpan.FromSeconds(1) });
        foreach (var id in new[] { "a", "b" })
        {
            Rig.Seen1(await rig.Submit("Odd", id, "Grow", new Growth(900, null), [(id, 1)]));
        }

        using var gate = new Gate();
        var holder = rig.Marked("h", ["h"], Step.Wait(gate));
        await gate.Reached();
        var before = rig.Submit("Odd", "c", "Grow", new Growth(1, null), [("c", 1)]);
        var tooMuch = rig.Submit("Odd", "a", "Grow", new Growth(10, "b"), pact ? [("a", 1), ("b", 1)] : null);
        var behind = rig.Submit("Odd", "b", "Grow", new Growth(2, null), [("b", 1)]);
        gate.Open();
        Rig.Seen(await Rig.Within(holder, "the holder"));
        var refused = await Rig.Within(tooMuch, "the large one");
        Rig.Aborted(refused, AbortReason.Application);
        Assert.Contains("the limit is 2000", refused.Abort!.Message, StringComparison.Ordinal);
        Rig.Seen1(await Rig.Within(before, "the bystander before"));
        Assert.Equal(902, Rig.Seen1(await Rig.Within(behind, "the bystander behind")));
        Assert.Equal(900, Rig.Seen1(await rig.Submit("Odd", "a", "Size", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData(16_384, 16_384)]
    [InlineData(16_385, 16_384)]
    [InlineData(1_000_000, 16_384)]
    public void The_message_of_an_abort_is_cut_at_its_limit(int length, int kept) =>
        Assert.Equal(kept, new AbortInfo(AbortReason.Application, new string('x', length)).Message.Length);

    [Fact]
    public void A_message_is_not_cut_within_a_character()
    {
        var cut = new AbortInfo(AbortReason.Application, new string('x', 16_382) + string.Concat(Enumerable.Repeat("\U0001F600", 100))).Message;
        Assert.Equal(new string('x', 16_382) + "…", cut);
    }

    [Theory]
    [InlineData("Grow", true)]
    [InlineData("Grow", false)]
    [InlineData("nan", true)]
    [InlineData("nan", false)]
    [InlineData("broken", true)]
    [InlineData("broken", false)]
    public async Task A_state_that_cannot_be_kept_aborts_its_transaction_alone(string how, bool pact)
    {
        await using var rig = await Rig.Start(Small);
        (string, int)[]? access = pact ? [("a", 1)] : null;
        var envelope = await Rig.Within(
            how == "Grow" ? rig.Submit("Odd", "a", "Grow", new Growth(2000, null), access) : rig.Submit("Odd", "a", "Spoil", how, access), "the transaction");
        Rig.Aborted(envelope, AbortReason.Application);
        Assert.Contains("Odd/a", envelope.Abort!.Message, StringComparison.Ordinal);
        Assert.Equal(0, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "a", "Size", null, null), "a reader")));
        Assert.Equal(5, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "a", "Grow", new Growth(5, null), access), "the next writer")));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_state_too_large_is_an_outcome_that_its_id_finds_again()
    {
        await using var rig = await Rig.Start(Small);
        var first = await Rig.Within(rig.Submit("Odd", "a", "Grow", new Growth(2000, null), null, key: "k"), "the transaction");
        Rig.Aborted(first, AbortReason.Application);
        Assert.Equal(new ActorKey("Odd", "a"), first.Abort!.Actor);
        for (var restarts = 0; restarts < 2; restarts++)
        {
            var again = await Rig.Within(rig.Submit("Odd", "a", "Grow", new Growth(2000, null), null, key: "k"), "the same id");
            Assert.Equal((first.Transaction, first.Abort.Message), (again.Transaction, again.Abort?.Message));
            var found = await rig.Host.Door.Find("k", default);
            Assert.Equal((first.Transaction, first.Abort.Message), (found?.Transaction, found?.Abort?.Message));
            await rig.Restart();
        }

        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_state_that_is_too_large_on_top_of_what_is_undone_is_no_outcome()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, MaxStateBytes = 1000, DrainTimeout = TimeSpan.FromSeconds(1) });
        using var gate = new Gate();
        var fails = rig.Pact("h", ["h", "a"], Step.Call("a", Step.Pad(900)), Step.Wait(gate), Step.Throw());
        await gate.Reached();

        // H7: twice 900 bytes are too many, but the first ones are not final.
        var act = rig.Submit("a", [Step.Pad(900), Step.Add(7), Step.Get()], id: "k");
        await Rig.Until(() => rig.Host.Door.Find("k", default).Result?.Outcome is Outcome.InDoubt or Outcome.Aborted, "the ACT has ended");
        gate.Open();

        Rig.Aborted(await Rig.Within(fails, "the one that fails"), AbortReason.Application);
        Rig.Saw(await Rig.Within(act, "the ACT"), 7);
        Assert.Equal(7, await rig.Value("a"));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData("Big", true)]
    [InlineData("Big", false)]
    [InlineData("BadResult", true)]
    [InlineData("BadResult", false)]
    public async Task A_result_that_cannot_be_sent_aborts_its_transaction_alone(string method, bool pact)
    {
        await using var rig = await Rig.Start(Small);
        var envelope = await Rig.Within(rig.Submit("Odd", "a", method, method == "Big" ? 2000 : null, pact ? [("a", 1)] : null), "the transaction");
        Rig.Aborted(envelope, AbortReason.Application);
        Assert.Contains(method, envelope.Abort!.Message, StringComparison.Ordinal);
        Assert.Equal(0, Rig.Seen1(await rig.Submit("Odd", "a", "Size", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task More_requests_than_the_limit_are_refused_as_overloaded()
    {
        await using var rig = await Rig.Start(new() { MaxInFlight = 2, Executors = 1 });
        using var gate = new Gate();
        var first = rig.Act("a", Step.Wait(gate));
        var second = rig.Act("b", Step.Wait(gate));
        var third = await rig.Act("c", Step.Get());
        Rig.Rejected(third, RejectionKind.Overloaded);
        Assert.NotNull(third.Rejection!.RetryAfter);
        gate.Open();
        Rig.Seen(await Rig.Within(first, "the first"));
        Rig.Seen(await Rig.Within(second, "the second"));
        Rig.Seen(await rig.Act("c", Step.Get()));
    }

    [Theory]
    [InlineData("""{"name":"x","numbers":[],"inner":{"depth":1}}""", "input.count is missing")]
    [InlineData("""{"count":"x","name":"x","numbers":[],"inner":{"depth":1}}""", "input.count must be a whole number, -2147483648 to 2147483647")]
    [InlineData("""{"count":99999999999,"name":"x","numbers":[],"inner":{"depth":1}}""", "input.count must be a whole number, -2147483648 to 2147483647")]
    [InlineData("""{"count":null,"name":"x","numbers":[],"inner":{"depth":1}}""", "input.count must be a whole number, -2147483648 to 2147483647")]
    [InlineData("""{"count":1,"name":"x","numbers":[1,99999999999999999999],"inner":{"depth":1}}""", "input.numbers[1] must be a whole number")]
    [InlineData("""{"count":1,"name":"x","numbers":[1,null],"inner":{"depth":1}}""", "input.numbers[1] must be a whole number")]
    [InlineData("""{"count":1,"name":"x","numbers":{},"inner":{"depth":1}}""", "input.numbers must be an array")]
    [InlineData("""{"count":1,"name":"x","numbers":[],"inner":{"depth":1.5}}""", "input.inner.depth must be a whole number")]
    [InlineData("""{"count":1,"name":"x","numbers":[],"inner":[]}""", "input.inner must be an object")]
    [InlineData("""{"count":1,"name":null,"numbers":[],"inner":{"depth":1}}""", "input.name must be a string, not null")]
    [InlineData("""{"count":1,"name":5,"numbers":[],"inner":{"depth":1}}""", "input.name must be a string")]
    [InlineData("""{"count":1,"name":"x","numbers":[],"inner":{}}""", "input.inner.depth is missing")]
    [InlineData("""{"count":1,"count":2,"name":"x","numbers":[],"inner":{"depth":1}}""", "input.count appears more than once")]
    [InlineData("""{"count":1,"Count":2,"name":"x","numbers":[],"inner":{"depth":1}}""", "input.Count appears more than once")]
    [InlineData("""{"count":1,"name":"x","numbers":[],"inner":{"depth":1,"dept":2}}""", "input.inner.dept is unknown; input.inner has depth")]
    [InlineData("""{"count":1,"name":"x","numbers":[],"inner":{"depth":1},"more":{"a":[]}}""", "input.more is unknown; input has count, name, numbers, inner")]
    [InlineData("""{"count":1""", "input is not readable JSON")]
    [InlineData("""[]""", "input must be an object")]
    [InlineData("""null""", "Take needs an input")]
    [InlineData("", "Take needs an input")]
    public async Task An_input_that_does_not_fit_is_refused_and_its_path_is_named(string json, string named)
    {
        await using var rig = await Rig.Start();
        var envelope = await rig.Submit("Odd", "a", "Take", Encoding.UTF8.GetBytes(json), null);
        Rig.Rejected(envelope, RejectionKind.Invalid);
        Assert.Contains(named, envelope.Rejection!.Detail, StringComparison.Ordinal);
        Assert.StartsWith("The input does not fit Odd.Take: ", envelope.Rejection.Detail, StringComparison.Ordinal);
        Assert.DoesNotContain("System.", envelope.Rejection.Detail, StringComparison.Ordinal);
        Assert.DoesNotContain("Snapper", envelope.Rejection.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"when":5}""", "input.when must be a date and time (ISO 8601)")]
    [InlineData("""{"id":"x"}""", "input.id must be a UUID")]
    [InlineData("""{"colour":"mauve"}""", "input.colour must be one of \"Red\", \"Green\"")]
    [InlineData("""{"flags":{"a":true,"b":1}}""", "input.flags.b must be true or false")]
    [InlineData("""{"any":{"a":{"b":1,"b":2}}}""", "input.any.a.b appears more than once")]
    [InlineData("""{"even":3}""", "input.even: 3 is odd")]
    [InlineData("""{"even":{}}""", "input.even cannot be read")]
    [InlineData("""{"open":{"known":"x"}}""", "input.open.known must be a whole number")]
    public async Task Kinds_of_values_are_named_as_callers_know_them(string json, string named)
    {
        await using var rig = await Rig.Start();
        var envelope = await rig.Submit("Odd", "a", "TakeKinds", Encoding.UTF8.GetBytes(json), null);
        Rig.Rejected(envelope, RejectionKind.Invalid);
        Assert.StartsWith($"The input does not fit Odd.TakeKinds: {named}", envelope.Rejection!.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Types_may_take_fields_that_they_do_not_know()
    {
        await using var rig = await Rig.Start();
        var envelope = await rig.Submit("Odd", "a", "TakeKinds", """{"open":{"known":1,"other":2},"bag":{"other":3},"colour":"Red","even":4}"""u8.ToArray(), null);
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
    }

    [Fact]
    public async Task Requests_for_what_is_not_there_are_refused_by_name()
    {
        await using var rig = await Rig.Start();
        var picky = await rig.Submit("Odd", "a", "TakePicky", new Dictionary<string, string> { ["word"] = "bad" }, null);
        Rig.Rejected(picky, RejectionKind.Invalid);
        Assert.Contains("this word is not good", picky.Rejection!.Detail, StringComparison.Ordinal);
        var input = await rig.Submit("Odd", "a", "Size", 5, null);
        Rig.Rejected(input, RejectionKind.Invalid);
        Assert.Contains("takes no input", input.Rejection!.Detail, StringComparison.Ordinal);
        var type = await rig.Submit("Nothing", "a", "Take", null, null);
        Rig.Rejected(type, RejectionKind.NotFound);
        Assert.Contains("'Nothing'", type.Rejection!.Detail, StringComparison.Ordinal);
        var method = await rig.Submit("Odd", "a", "take", null, null);
        Rig.Rejected(method, RejectionKind.NotFound);
        Assert.Contains("'take'", method.Rejection!.Detail, StringComparison.Ordinal);
        var root = await rig.Pact("a", ["b"], Step.Get());
        Rig.Rejected(root, RejectionKind.Invalid);
        Assert.Contains("Box/a", root.Rejection!.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"value": "no number"}""")]
    [InlineData("""{"val""")]
    [InlineData("""null""")]
    public async Task A_stored_state_that_cannot_be_read_fails_by_name_and_stays_as_it_is(string stored)
    {
        await using var rig = await Rig.Start();
        var store = new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions());
        var bad = new ActorKey("Box", "bad");
        await store.Checkpoint(rig.Host.Opening.Epoch, [new StateCheckpoint(bad, 0, 1, [new StateField(StateField.WholeState, Encoding.UTF8.GetBytes(stored))])], default);
        foreach (var access in new string[]?[] { null, ["bad"] })
        {
            foreach (var step in new[] { Step.Get(), Step.Add() })
            {
                var envelope = await Rig.Within(rig.Submit("bad", [step], access), "a transaction on it");
                Rig.Aborted(envelope, AbortReason.Failure);
                Assert.Contains("Box/bad", envelope.Abort!.Message, StringComparison.Ordinal);
            }
        }

        var through = await Rig.Within(rig.Pact("a", ["a", "bad"], Step.Add(), Step.Try("bad", Step.Add())), "a transaction through it");
        Rig.Aborted(through, AbortReason.Failure);
        Rig.Seen(await Rig.Within(rig.Pact("a", ["a"], Step.Add()), "one on another actor"));
        Assert.Equal(1, await rig.Value("a"));
        await rig.Restart();
        var found = await store.Load(bad, default);
        Assert.Equal(stored, Encoding.UTF8.GetString(found!.Fields.Single(f => f.Name == StateField.WholeState).Value!.Value.Span));
        Assert.Empty(rig.Failures);
    }
}
