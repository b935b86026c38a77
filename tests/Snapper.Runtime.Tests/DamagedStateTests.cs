using System.Diagnostics;
using System.Text;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// An operator replaces a state that cannot be read, by saying so; nobody else does, and nothing else is replaced so.
/// </summary>
public sealed class DamagedStateTests
{
    private static readonly ActorKey Hurt = new("Odd", "hurt");

    [Theory]
    [InlineData("{\"label\":")]
    [InlineData("[1,2]")]
    public async Task A_damaged_state_is_replaced_only_with_the_word_and_its_version_goes_on(string damaged)
    {
        await using var rig = await Rig.Start();
        await Put(rig, 7, damaged);
        Rig.Aborted(await Submit(rig, StateMethods.Import, """{"text":"abc","number":1}"""), AbortReason.Failure);
        Rig.Aborted(await Submit(rig, StateMethods.Delete, ""), AbortReason.Failure);
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal((7, damaged), await Stored(rig));

        Assert.Equal(Outcome.Committed, (await Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}""", "repair")).Outcome);
        Assert.Equal(3, Rig.Seen1(await Size(rig, pact: false)));
        Assert.Equal(5, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), [("hurt", 1)]), "a PACT behind it")));

        // A repetition of the request is answered from its outcome, another one finds nothing that is damaged.
        Assert.Equal(Outcome.Committed, (await Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}""", "repair")).Outcome);
        var second = await Submit(rig, StateMethods.ImportOverDamage, """{"text":"","number":1}""");
        Rig.Aborted(second, AbortReason.Application);
        Assert.Contains("is not damaged", second.Abort!.Message, StringComparison.Ordinal);
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(9, (await Stored(rig)).Version);
        await rig.Restart();
        Assert.Equal(5, Rig.Seen1(await Size(rig, pact: true)));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_damaged_state_is_deleted_and_a_log_that_was_not_folded_says_so_after_a_restart()
    {
        await using var rig = await Rig.Start();
        await Put(rig, 7, "[1,2]");
        Assert.Equal(Outcome.Committed, (await Submit(rig, StateMethods.DeleteDamaged, "")).Outcome);
        Rig.Aborted(await Submit(rig, StateMethods.DeleteDamaged, ""), AbortReason.Application);
        await rig.Restart();
        Assert.Equal(0, Rig.Seen1(await Size(rig, pact: true)));
        Assert.Equal(2, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), null), "an ACT")));
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(9, (await Stored(rig)).Version);
    }

    [Fact]
    public async Task What_took_its_place_is_not_read_again_from_where_the_damage_still_lies()
    {
        await using var rig = await Rig.Start();
        await Put(rig, 7, "[1,2]");
        Rig.Aborted(await Size(rig, pact: false), AbortReason.Failure);
        var started = Stopwatch.GetTimestamp();
        Assert.Equal(Outcome.Committed, (await Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}""")).Outcome);
        Assert.Equal((7, "[1,2]"), await Stored(rig)); // not checkpointed yet
        await Rig.Until(() => Stopwatch.GetElapsedTime(started) > 1.1 * Execution.Executor.ReloadEvery, "it might be read again");
        Assert.Equal((7, "[1,2]"), await Stored(rig));
        for (var i = 0; i < 3; i++) Assert.Equal(3, Rig.Seen1(await Size(rig, pact: i == 1)));
    }

    [Fact]
    public async Task A_healthy_state_and_none_are_not_replaced_by_it()
    {
        await using var rig = await Rig.Start();
        Rig.Aborted(await Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}"""), AbortReason.Application);
        Rig.Aborted(await Submit(rig, StateMethods.DeleteDamaged, ""), AbortReason.Application);
        Assert.Equal(2, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), null), "an ACT")));
        Rig.Aborted(await Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}"""), AbortReason.Application);
        Assert.Equal(2, Rig.Seen1(await Size(rig, pact: false)));
    }

    [Fact]
    public async Task What_is_undone_is_damaged_again_and_the_replacement_runs_once_more()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        await Put(rig, 7, "[1,2]");
        using var gate = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw()], ["a", "b"]);
        await gate.Reached();
        var repair = Submit(rig, StateMethods.ImportOverDamage, """{"text":"abc","number":1}""");
        var behind = rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), [("hurt", 1)]);
        await rig.OnExecutorOf("Odd", "hurt", _ => { });
        gate.Open();
        await Rig.Within(failing, "the one that fails");
        Assert.Equal(Outcome.Committed, (await repair).Outcome);
        Assert.Equal(5, Rig.Seen1(await Rig.Within(behind, "the PACT behind it")));
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(9, (await Stored(rig)).Version);
    }

    [Fact]
    public async Task Under_load_nobody_sees_anything_but_the_damage_and_what_took_its_place()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, Coordinators = 2, DrainTimeout = TimeSpan.FromSeconds(1) });
        await Put(rig, 7, "[1,2]");
        var repaired = false;
        var seen = 0;
        async Task Load(int loop)
        {
            while (!Volatile.Read(ref repaired) || Volatile.Read(ref seen) < 200)
            {
                var pact = loop % 2 == 0;
                var envelope = loop < 4
                    ? await Size(rig, pact)
                    : await Rig.Within(rig.Submit("Odd", $"r{loop}", "Grow", new Growth(1, "hurt"), pact ? [($"r{loop}", 1), ("hurt", 1)] : null), "a request");
                if (envelope.Outcome == Outcome.Committed)
                {
                    // The initial state has no text: whoever saw it took the damage for an actor that was never
                    // written.
                    if (loop < 4) Assert.True(Rig.Seen1(envelope) >= 1000, $"{Rig.Seen1(envelope)}");
                    Interlocked.Increment(ref seen);
                }
                else
                {
                    Assert.True(
                        envelope.Abort!.Reason is AbortReason.Failure or AbortReason.Conflict or AbortReason.Deadlock or AbortReason.Serializability, TestWorker.Describe(envelope));
                }
            }
        }

        var loops = Enumerable.Range(0, 8).Select(loop => Task.Run(() => Load(loop))).ToArray();
        var state = $$"""{"text":"{{new string('x', 1000)}}","number":1}""";
        Assert.Equal(Outcome.Committed, (await Submit(rig, StateMethods.ImportOverDamage, state)).Outcome);
        Volatile.Write(ref repaired, true);
        await Task.WhenAll(loops).WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Empty(rig.Failures);
        var grown = Rig.Seen1(await Size(rig, pact: true));
        await rig.Restart();
        Assert.Equal(grown, Rig.Seen1(await Size(rig, pact: true)));
    }

    private static Task<TransactionEnvelope> Size(Rig rig, bool pact) => Rig.Within(rig.Submit("Odd", "hurt", "Size", null, pact ? [("hurt", 1)] : null), "a reader");

    private static Task<TransactionEnvelope> Submit(Rig rig, string method, string input, string? key = null) =>
        Rig.Within(rig.Submit("Odd", "hurt", method, Encoding.UTF8.GetBytes(input), [("hurt", 1)], key), method);

    private static MemoryStateStore Store(Rig rig) => new(rig.Storage, TimeProvider.System, new StateStoreOptions());

    private static Task Put(Rig rig, long version, string json) =>
        Store(rig).Checkpoint(rig.Host.Opening.Epoch, [new StateCheckpoint(Hurt, 0, version, [new StateField(StateField.WholeState, Encoding.UTF8.GetBytes(json))])], default);

    private static async Task<(long Version, string State)> Stored(Rig rig)
    {
        var stored = (await Store(rig).Load(Hurt, default))!;
        return (stored.Version, Encoding.UTF8.GetString(stored.Fields.Single(field => field.Name == StateField.WholeState).Value!.Value.Span));
    }
}
