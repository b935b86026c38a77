using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>A1, A4, A5: a PACT that fails after others went on takes them along, and nobody outside sees it.</summary>
public sealed class UndoTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task Victims_of_an_unmarked_abort_run_again_unseen_and_the_marked_run_reports_the_outcome(int executors)
    {
        await using var rig = await Rig.Start(new() { Executors = executors });
        using var gate = new Gate();
        var failing = rig.Pact("a", ["a", "b"], Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Abort());
        await gate.Reached();
        var victim = rig.Pact("b", ["b", "c"], Step.Get(), Step.Add(1), Step.Call("c", Step.Add(1)));
        await Rig.Until(() => rig.Host.Inspection.Batches(10, default).Result.Count == 2, "the second batch is formed");
        await rig.OnExecutorOf("Box", "c", _ => { });
        gate.Open();
        var aborted = await Rig.Within(failing, "the one that fails");
        Rig.Aborted(aborted, AbortReason.Application);
        Assert.Equal(2, aborted.Attempts);
        Rig.Saw(await Rig.Within(victim, "its victim"), 0);
        Assert.Equal(1, await rig.Value("b"));
        Assert.Equal(1, await rig.Value("c"));
        Assert.True(rig.Host.Inspection.Status().Undos > 0);
        Assert.True(rig.Host.Worker.FindType("Box")!.Find("Run")!.Marked);

        // From now on it holds its turns: no more undo.
        var undos = rig.Host.Inspection.Status().Undos;
        var again = await Rig.Within(rig.Pact("a", ["a", "b"], Step.Call("b", Step.Add(100)), Step.Abort()), "another failure");
        Assert.Equal(1, again.Attempts);
        Assert.Equal(undos, rig.Host.Inspection.Status().Undos);
    }

    [Fact]
    public async Task A_victim_that_has_run_already_counts_two_attempts_and_commits()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        using var gate = new Gate();
        using var victimRan = new Gate();
        victimRan.Open();
        var failing = rig.Pact("a", ["a", "b"], Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw());
        await gate.Reached();
        var victim = rig.Pact("b", ["b"], Step.Get(), Step.Add(1), Step.Wait(victimRan));
        await victimRan.Reached();
        gate.Open();
        Rig.Aborted(await Rig.Within(failing, "the one that fails"), AbortReason.Application);
        var envelope = await Rig.Within(victim, "its victim");
        Rig.Saw(envelope, 0);
        Assert.Equal(2, envelope.Attempts);
    }

    [Fact]
    public async Task An_act_that_read_what_is_undone_runs_again()
    {
        await using var rig = await Rig.Start(new() { Executors = 2 });
        using var gate = new Gate();
        var failing = rig.Pact("a", ["a", "b"], Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw());
        await gate.Reached();
        var act = rig.Act("b", Step.Get(), Step.Add(1));
        await rig.OnExecutorOf("Box", "b", _ => { });
        gate.Open();
        Rig.Aborted(await Rig.Within(failing, "the one that fails"), AbortReason.Application);
        Rig.Saw(await Rig.Within(act, "the ACT"), 0);
        Assert.Equal(1, await rig.Value("b"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_undeclared_actor_is_named_and_nothing_remains(bool marked)
    {
        await using var rig = await Rig.Start();
        var envelope = await Rig.Within(
            rig.Submit("a", [Step.Add(), Step.Call("b", Step.Add()), Step.Try("x", Step.Add())], ["a", "b"], marked ? "RunMarked" : "Run"), "the transaction");
        Rig.Aborted(envelope, AbortReason.Undeclared);
        Assert.Contains("Box/x", envelope.Abort!.Message, StringComparison.Ordinal);
        Assert.Equal("x", envelope.Abort.Actor!.Id);
        Assert.False(envelope.Abort.Retryable);
        Assert.Equal(marked ? 1 : 2, envelope.Attempts);
        Assert.Equal(0, await rig.Value("a") + await rig.Value("b") + await rig.Value("x"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task More_calls_than_declared_abort(bool marked)
    {
        await using var rig = await Rig.Start();
        var envelope = await Rig.Within(
            rig.Submit("a", [Step.Call("b", Step.Add()), Step.Call("b", Step.Add())], ["a", "b"], marked ? "RunMarked" : "Run"), "the transaction");
        Rig.Aborted(envelope, AbortReason.Undeclared);
        Assert.Equal(0, await rig.Value("b"));
    }

    [Fact]
    public async Task Calling_less_than_declared_is_fine()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await Rig.Within(rig.Pact("a", ["a", "a", "b", "b", "c"], Step.Call("b", Step.Add())), "the transaction"));
        Assert.Equal(1, await rig.Value("b"));
    }
}
