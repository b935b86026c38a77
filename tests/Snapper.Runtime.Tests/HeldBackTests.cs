using Snapper.Contracts;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// What a batch waited for longest is known after its commit: which actor, the batches before it, or the log. Five
/// seconds pass on the worker's clock while one thing alone is waited for.
/// </summary>
public sealed class HeldBackTests
{
    private static readonly TimeSpan s_while = TimeSpan.FromSeconds(5);
    private readonly SkewedTime _time = new();

    [Theory]
    [InlineData("b", "c", "d")]
    [InlineData("c", "d", "b")]
    [InlineData("d", "b", "c")]
    public async Task The_actor_that_acknowledged_last_is_named(string slow, string other, string third)
    {
        _time.IsSilent = true; // however slow the machine is, no batch is taken for one that waits
        await using var rig = await Start(openBatches: 1);
        using var held = new Gate();
        rig.Log.Hold();
        var opening = rig.Submit("a", [Step.Add()], ["a"]);
        await Rig.Until(() => rig.Log.Held > 0, "the first batch waits for the log");

        // One batch may: these three wait, and go into one together.
        Task<TransactionEnvelope>[] together =
        [
            .. ((string[])["b", "c", "d"]).Select(box => rig.Submit(box, box == slow ? [Step.Wait(held)] : [Step.Add()], [box])),
        ];
        await Rig.Until(() => rig.Host.Worker.Coordinators[0].Waiting == 3, "three wait for a number");
        rig.Log.Release();
        Rig.Seen(await Rig.Within(opening, "the first"));
        await held.Reached();
        await Rig.Until(() => Newest(rig).WaitingFor is [var only] && only == $"Box/{slow}", "the others have acknowledged");
        Assert.Equal((null, null, null), (Newest(rig).LastActor, Newest(rig).HeldBackBy, Newest(rig).HeldBackMs));
        await AWhile(rig);
        held.Open();
        foreach (var one in together)
        {
            Rig.Seen(await Rig.Within(one, "one of three"));
        }

        var batch = await Committed(rig);
        Assert.Equal((3, $"Box/{slow}", HeldBackBy.Actor), (batch.Actors, batch.LastActor, batch.HeldBackBy));
        Assert.Contains(batch.BeforeLastActor, (string[])[$"Box/{other}", $"Box/{third}"]);
        Assert.True(batch.LastActorAfterMs >= 5000 && batch.HeldBackMs >= 5000, batch.ToString());
    }

    [Fact]
    public async Task The_components_of_a_batch_tell_what_each_waits_for()
    {
        await using var rig = await Start();
        using var held = new Gate();
        var slow = rig.Submit("b", [Step.Wait(held)], ["b", "c"]);
        await held.Reached();
        var first = Newest(rig);
        var waits = Assert.Single(first.OpenComponents);
        Assert.Equal((1, 1, 2), (first.Components, waits.Transactions, waits.Actors));
        Assert.Equal(first.Batch, waits.FirstTransaction);
        Assert.Empty(waits.Behind);
        Assert.Equal(["Box/b", "Box/c"], waits.WaitingFor);

        var behind = rig.Submit("c", [Step.Add()], ["c"]);
        await Rig.Until(() => Newest(rig).Batch > first.Batch, "the next batch is formed");
        await Rig.Until(() => Newest(rig).Components == 1, "it is divided");
        var next = Assert.Single(Newest(rig).OpenComponents);
        Assert.Equal([first.Batch], next.Behind);
        held.Open();
        Rig.Seen(await Rig.Within(slow, "the one that waits"));
        Rig.Seen(await Rig.Within(behind, "the one behind it"));
        var over = await Committed(rig);
        Assert.Equal(1, over.Components);
        Assert.Empty(over.OpenComponents);
    }

    [Fact]
    public async Task Actors_that_come_together_are_not_blamed_one_by_one()
    {
        // The root waits for a call: its acknowledgement follows that of the called actor at once.
        await using var rig = await Start();
        using var held = new Gate();
        var pact = rig.Submit("a", [Step.Call("b", Step.Wait(held))], ["a", "b"]);
        await held.Reached();
        await AWhile(rig);
        held.Open();
        Rig.Seen(await Rig.Within(pact, "the transaction"));

        var batch = await Committed(rig);
        Assert.Equal(HeldBackBy.Actors, batch.HeldBackBy);
        Assert.Equal(["Box/a", "Box/b"], ((string[])[batch.LastActor!, batch.BeforeLastActor!]).Order());
        Assert.True(batch.HeldBackMs >= 5000 && batch.LastActorAfterMs < 2500, batch.ToString());
    }

    [Fact]
    public async Task An_only_actor_is_the_one()
    {
        await using var rig = await Start();
        using var held = new Gate();
        var pact = rig.Submit("a", [Step.Wait(held)], ["a"]);
        await held.Reached();
        await AWhile(rig);
        held.Open();
        Rig.Seen(await Rig.Within(pact, "the transaction"));

        var batch = await Committed(rig);
        Assert.Equal((HeldBackBy.Actor, "Box/a", null, null), (batch.HeldBackBy, batch.LastActor, batch.BeforeLastActor, batch.LastActorAfterMs));
    }

    [Fact]
    public async Task A_batch_that_was_complete_in_time_waits_for_what_is_before_it_on_its_actors()
    {
        await using var rig = await Start(openBatches: 2);
        using var held = new Gate();
        var first = rig.Submit("a", [Step.Call("b", Step.Add()), Step.Wait(held)], ["a", "b"]);
        await held.Reached();
        var second = rig.Submit("b", [Step.Add()], ["b"]);
        await Rig.Until(() => Newest(rig) is { State: "complete", LastActor: "Box/b" }, "the second is complete");
        await AWhile(rig);
        held.Open();
        Rig.Seen(await Rig.Within(first, "the first"));
        Rig.Seen(await Rig.Within(second, "the second"));

        var batch = await Committed(rig);
        Assert.Equal((HeldBackBy.Batches, "Box/b"), (batch.HeldBackBy, batch.LastActor));
        Assert.True(batch.HeldBackMs >= 5000, batch.ToString());
        Assert.Equal((HeldBackBy.Actor, "Box/a"), (Of(rig, batch.PreviousBatch).HeldBackBy, Of(rig, batch.PreviousBatch).LastActor));
    }

    [Fact]
    public async Task The_log_is_named_where_it_was_slow()
    {
        await using var rig = await Start();
        rig.Log.Hold();
        var pact = rig.Submit("a", [Step.Add()], ["a"]);
        await Rig.Until(() => Newest(rig) is { State: "queued" } && rig.Log.Held > 0, "its record waits for the log");
        await AWhile(rig);
        rig.Log.Release();
        Rig.Seen(await Rig.Within(pact, "the transaction"));

        var batch = await Committed(rig);
        Assert.Equal((HeldBackBy.Log, "Box/a"), (batch.HeldBackBy, batch.LastActor));
        Assert.True(batch.HeldBackMs >= 5000, batch.ToString());
    }

    [Fact]
    public async Task A_batch_that_an_undo_emptied_is_over_and_tells_what_it_waited_for()
    {
        await using var rig = await Start();
        using var held = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add()), Step.Wait(held), Step.Throw()], ["a", "b"]);
        await held.Reached();
        var emptied = Newest(rig).Batch;
        await AWhile(rig);
        held.Open();
        Assert.Equal(Outcome.Aborted, (await Rig.Within(failing, "the failing")).Outcome);

        var batch = Of(rig, emptied);
        Assert.Equal(("aborted", 2), (batch.State, batch.Actors));
        Assert.NotNull(batch.HeldBackBy);
        Assert.Equal(["Box/a", "Box/b"], ((string[])[batch.LastActor!, batch.BeforeLastActor!]).Order());
        Assert.Empty(batch.WaitingFor);
        Assert.True(batch.HeldBackMs >= 5000 && batch.CommittedMs is null, batch.ToString());
    }

    [Fact]
    public async Task An_undo_that_reached_a_batch_which_was_complete_is_no_fault_of_its_actors()
    {
        _time.IsSilent = true; // however slow the machine is, no batch is taken for one that waits
        await using var rig = await Start(openBatches: 2);
        using var held = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add()), Step.Wait(held), Step.Throw()], ["a", "b"]);
        await held.Reached();
        rig.Log.Hold();
        var opening = rig.Submit("z", [Step.Add()], ["z"]);
        await Rig.Until(() => rig.Log.Held > 0, "the opening batch waits for the log");
        var two = rig.Submit("b", [Step.Add()], ["b"]);
        var three = rig.Submit("c", [Step.Add()], ["c"]);
        await Rig.Until(() => rig.Host.Worker.Coordinators[0].Waiting == 2, "two wait for a number");
        rig.Log.Release();
        Rig.Seen(await Rig.Within(opening, "the opening one"));
        await Rig.Until(
            () => Newest(rig) is { State: "complete", Actors: 2, CompletedMs: not null }, "the batch of two is complete");
        var before = Newest(rig);
        await AWhile(rig);
        held.Open();
        Assert.Equal(Outcome.Aborted, (await Rig.Within(failing, "the failing")).Outcome);
        Rig.Seen(await Rig.Within(two, "the second"));
        Rig.Seen(await Rig.Within(three, "the third"));
        await Rig.Until(() => Of(rig, before.Batch).State == "committed", "the batch of two is committed");

        // Box/b acknowledged again after the undo: neither that, nor what it waited for, is its own doing.
        var after = Of(rig, before.Batch);
        Assert.Equal(HeldBackBy.Batches, after.HeldBackBy);
        Assert.Equal(
            (before.CompletedMs, before.LastActor, before.BeforeLastActor, before.LastActorAfterMs), (after.CompletedMs, after.LastActor, after.BeforeLastActor, after.LastActorAfterMs));
        Assert.Equal(["Box/b", "Box/c"], ((string[])[after.LastActor!, after.BeforeLastActor!]).Order());
        Assert.True(after.HeldBackMs >= 5000 && after.CompletedMs < 5000, after.ToString());
    }

    [Fact]
    public async Task An_only_actor_that_was_through_is_not_blamed_for_the_undo_that_emptied_its_batch()
    {
        await using var rig = await Start();
        using var held = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add()), Step.Wait(held), Step.Throw()], ["a", "b"]);
        await held.Reached();
        var two = rig.Submit("b", [Step.Add()], ["b"]);
        await Rig.Until(
            () => Newest(rig) is { State: "complete", Actors: 1, CompletedMs: not null }, "the second is complete");
        var before = Newest(rig);
        await AWhile(rig);
        held.Open();
        Assert.Equal(Outcome.Aborted, (await Rig.Within(failing, "the failing")).Outcome);
        Rig.Seen(await Rig.Within(two, "the second"));

        var after = Of(rig, before.Batch);
        Assert.Equal(("aborted", HeldBackBy.Batches, "Box/b", before.CompletedMs), (after.State, after.HeldBackBy, after.LastActor, after.CompletedMs));
        Assert.True(after.HeldBackMs >= 5000 && after.CompletedMs < 5000, after.ToString());
    }

    // What is seen of a batch may be ahead of what the commit executor has noted about it.
    private async Task AWhile(Rig rig)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        rig.Host.Worker.PostToCommits(done.SetResult);
        await done.Task.WaitAsync(TimeSpan.FromSeconds(10));
        _time.Advance(s_while);
    }

    private static BatchView Newest(Rig rig) => rig.Host.Inspection.Batches(1, default).Result.FirstOrDefault() ?? new BatchView { State = "none" };

    private static BatchView Of(Rig rig, long batch) => rig.Host.Inspection.Batch(batch, default).Result!;

    private static async Task<BatchView> Committed(Rig rig)
    {
        await Rig.Until(() => Newest(rig).State == "committed", "the newest batch is committed");
        return Newest(rig);
    }

    private Task<Rig> Start(int openBatches = 2) =>
        Rig.Start(new WorkerOptions { Executors = 2, OpenBatches = openBatches, TurnBound = TimeSpan.FromMinutes(5), DrainTimeout = TimeSpan.FromSeconds(1) }, time: _time);
}
