using System.Diagnostics;
using System.Text;
using System.Text.Json;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>States in memory and out of it, facts that methods are given, declarations that are reported.</summary>
public sealed class StateTests
{
    [Theory]
    [InlineData("Push", true)]
    [InlineData("PushMarked", true)]
    [InlineData("Push", false)]
    public async Task An_abort_leaves_nothing_in_a_state_that_is_changed_in_place(string method, bool pact)
    {
        await using var rig = await Rig.Start();
        (string, int)[]? access = pact ? [("m", 1), ("n", 1)] : null;
        Saw(await Rig.Within(rig.Submit("Mutable", "m", method, new Push(1, Other: "n"), access), "the first"), 1, -1);
        Rig.Aborted(await Rig.Within(rig.Submit("Mutable", "m", method, new Push(2, Fail: true, Other: "n"), access), "the second"), AbortReason.Application);
        Saw(await Rig.Within(rig.Submit("Mutable", "m", method, new Push(3, Other: "n"), access), "the third"), 1, -1, 3, -3);
        await rig.Restart();
        foreach (var id in new[] { "m", "n" })
        {
            Saw(await Rig.Within(rig.Submit("Mutable", id, "Items", null, null), "a reader"), 1, -1, 3, -3);
        }
    }

    [Fact]
    public async Task An_undo_replaces_a_state_that_is_changed_in_place()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        using var gate = new Gate();
        var failing = rig.Submit("Mutable", "m", "Push", new Push(1, gate.Name, Fail: true, Other: "n"), [("m", 1), ("n", 1)]);
        await gate.Reached();
        var victim = rig.Submit("Mutable", "n", "Push", new Push(2), [("n", 1)]);
        await rig.OnExecutorOf("Mutable", "n", _ => { });
        gate.Open();
        Rig.Aborted(await Rig.Within(failing, "the one that fails"), AbortReason.Application);
        Saw(await Rig.Within(victim, "its victim"), 2, -2);
        Saw(await Rig.Within(rig.Submit("Mutable", "m", "Items", null, null), "a reader"));
        Assert.True(rig.Host.Inspection.Status().Undos > 0);
    }

    [Fact]
    public async Task Methods_are_told_who_asks_when_and_under_which_id()
    {
        await using var rig = await Rig.Start();
        var before = DateTimeOffset.UtcNow.AddMilliseconds(-1);
        var envelope = await rig.Submit("Odd", "a", "Facts", "b", [("a", 1), ("b", 1)], key: "my-id");
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        var facts = JsonSerializer.Deserialize<Facts[]>(envelope.Result.Span, JsonSerializerOptions.Web)!;
        Assert.Equal(["a", "b"], facts.Select(f => f.Actor));
        Assert.All(facts, f => Assert.Equal(("my-id", "tester", "00-trace-01"), (f.RequestId, f.Caller, f.TraceParent)));
        Assert.Equal(facts[0].UtcNow, facts[1].UtcNow);
        Assert.InRange(facts[0].UtcNow, before, DateTimeOffset.UtcNow.AddMilliseconds(1));
        Assert.Equal(4, facts.SelectMany(f => new[] { f.First, f.Second }).Distinct().Count());
        var generated = await rig.Submit("Odd", "a", "Facts", "", null);
        Assert.Equal(generated.Id, JsonSerializer.Deserialize<Facts[]>(generated.Result.Span, JsonSerializerOptions.Web)![0].RequestId);
    }

    [Fact]
    public async Task Record_runs_as_an_act_and_tells_the_declaration_that_would_have_been_right()
    {
        await using var rig = await Rig.Start();
        var recorded = await rig.Submit("a", [Step.Call("b", Step.Add()), Step.Call("b", Step.Get()), Step.Call("a", Step.Add())], ["a"], accessMode: AccessMode.Record);
        Rig.Saw(recorded, 1);
        Assert.Equal(TransactionMode.Act, recorded.Mode);
        Assert.Equal([("a", 2), ("b", 2)], Touched(recorded));

        // The declaration can be used as it is.
        Rig.Seen(await rig.Pact("a", ["a", "a", "b", "b"], Step.Call("b", Step.Add()), Step.Call("b", Step.Get()), Step.Call("a", Step.Add())));
    }

    [Fact]
    public async Task Audit_holds_the_declaration_and_tells_what_was_used_of_it()
    {
        await using var rig = await Rig.Start();
        var audited = await rig.Submit("a", [Step.Call("b", Step.Add())], ["a", "a", "b", "b", "c"], accessMode: AccessMode.Audit);
        Rig.Seen(audited);
        Assert.Equal(TransactionMode.Pact, audited.Mode);
        Assert.Equal([("a", 1), ("b", 1)], Touched(audited));
        Rig.Aborted(await rig.Submit("a", [Step.Call("x", Step.Add())], ["a"], accessMode: AccessMode.Audit), AbortReason.Undeclared);
        Assert.Null((await rig.Pact("a", ["a"], Step.Get())).Touched);
    }

    [Theory]
    [InlineData("ask", true, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("ask", false, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("set", true, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("set", false, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("catch", true, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("catch", false, "Odd/a.Peek is marked [ReadOnlyMethod] and asks to change its state.")]
    [InlineData("call", true, "Odd/a.Peek is marked [ReadOnlyMethod] and calls Odd/b.Grow, which is not.")]
    [InlineData("call", false, "Odd/a.Peek is marked [ReadOnlyMethod] and calls Odd/b.Grow, which is not.")]
    public async Task A_read_only_method_that_would_change_a_state_is_aborted_with_its_name_and_actor(string how, bool pact, string message)
    {
        await using var rig = await Rig.Start();
        var access = pact ? new[] { ("a", 1), ("b", 1) } : null;
        foreach (var id in (string[])["a", "b"]) Rig.Seen1(await rig.Submit("Odd", id, "Grow", new Growth(2, null), null));
        var broken = await Rig.Within(rig.Submit("Odd", "a", "Peek", how, access), "a method that breaks its word");
        Rig.Aborted(broken, AbortReason.Application);
        Assert.Equal(message, broken.Abort!.Message);
        Assert.Equal(4, Rig.Seen1(await Rig.Within(rig.Submit("Odd", "a", "Peek", "look", access), "one that keeps it")));
    }

    [Theory]
    [InlineData("{\"label\":")]
    [InlineData("[1,2]")]
    public async Task A_stored_state_that_was_put_right_is_used_without_a_restart(string damaged)
    {
        await using var rig = await Rig.Start();
        var actor = new ActorKey("Odd", "hurt");
        await Put(rig, actor, 7, damaged);
        for (var i = 0; i < 3; i++)
        {
            // PACTs and ACTs alike; whoever reads or writes it is told, and nothing is written over it.
            Rig.Aborted(await Rig.Within(rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), null), "an ACT"), AbortReason.Failure);
            Rig.Aborted(await Rig.Within(rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), [("hurt", 1)]), "a PACT"), AbortReason.Failure);
        }

        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(7, (await new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions()).Load(actor, default))!.Version);
        await Put(rig, actor, 8, """{"text":"abc","number":1}""");

        // Requests come all the time: those that meet the old machine end, the next ones meet the new state.
        var started = Stopwatch.GetTimestamp();
        TransactionEnvelope envelope;
        do
        {
            Assert.True(Stopwatch.GetElapsedTime(started).TotalSeconds < 10, "waited 10 s for a request that sees the state that was put right");
            envelope = (await Rig.Within(Task.WhenAll(
                rig.Submit("Odd", "hurt", "Size", null, null), rig.Submit("Odd", "hurt", "Size", null, [("hurt", 1)])), "readers"))[0];
        }
        while (envelope.Outcome != Outcome.Committed);

        Assert.Equal(3, Rig.Seen1(envelope));
        Assert.Equal(5, Rig.Seen1(await rig.Submit("Odd", "hurt", "Grow", new Growth(2, null), [("hurt", 1)])));
        await rig.Restart();
        Assert.Equal(5, Rig.Seen1(await rig.Submit("Odd", "hurt", "Size", null, null)));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_damaged_actor_is_read_again_under_load_and_nothing_stands_still()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, Coordinators = 2, DrainTimeout = TimeSpan.FromSeconds(1) });
        var actor = new ActorKey("Odd", "hurt");
        await Put(rig, actor, 7, "[1,2]");
        var committed = new int[6];
        var started = Stopwatch.GetTimestamp();
        async Task Load(int loop)
        {
            // Roots change themselves, then fail at the damaged actor: undone batches, some of which hold nothing
            // more of it.
            for (var i = 0; committed[loop] < 20; i++)
            {
                Assert.True(Stopwatch.GetElapsedTime(started).TotalSeconds < 20, "waited 20 s for requests that see the state that was put right");
                var root = $"r{(loop + i) % 4}";
                (string, int)[]? access = loop == 0 ? null : [(root, 1), ("hurt", 1)];
                var envelope = await Rig.Within(rig.Submit("Odd", root, "Grow", new Growth(1, "hurt"), access), "a request");
                Assert.True(
                    envelope.Outcome == Outcome.Committed || envelope.Abort!.Reason is AbortReason.Failure or AbortReason.Conflict or AbortReason.Deadlock or AbortReason.Serializability,
                    TestWorker.Describe(envelope));
                committed[loop] += envelope.Outcome == Outcome.Committed ? 1 : 0;
            }
        }

        var loops = Enumerable.Range(0, committed.Length).Select(loop => Task.Run(() => Load(loop))).ToArray();
        await Rig.Until(() => Stopwatch.GetElapsedTime(started) > 1.5 * Execution.Executor.ReloadEvery, "it was read again, in vain");
        await Put(rig, actor, 8, """{"text":"","number":1}""");
        await Task.WhenAll(loops);

        Assert.Empty(rig.Failures);
        var sizes = 0;
        foreach (var root in new[] { "r0", "r1", "r2", "r3" })
        {
            sizes += Rig.Seen1(await rig.Submit("Odd", root, "Size", null, null));
        }

        Assert.Equal(committed.Sum(), sizes);
        Assert.Equal(committed.Sum(), Rig.Seen1(await rig.Submit("Odd", "hurt", "Size", null, null)));
    }

    [Fact]
    public async Task Looking_at_a_damaged_state_says_what_is_wrong_with_it()
    {
        await using var rig = await Rig.Start();
        var actor = new ActorKey("Odd", "hurt");
        await Put(rig, actor, 7, "{\"label\":");

        var damage = await Assert.ThrowsAsync<DamagedStateException>(() => rig.Host.Inspection.Actor(actor, default));

        Assert.StartsWith("The stored state of Odd/hurt is damaged: it is not JSON: ", damage.Message, StringComparison.Ordinal);
        await Put(rig, new ActorKey("Odd", "null"), 7, "null"); // transactions on it abort: to look at it must not say that it was never written
        damage = await Assert.ThrowsAsync<DamagedStateException>(() => rig.Host.Inspection.Actor(new ActorKey("Odd", "null"), default));
        Assert.StartsWith("The stored state of Odd/null is damaged: it is null", damage.Message, StringComparison.Ordinal);
    }

    private static Task Put(Rig rig, ActorKey actor, long version, string json) => new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions())
        .Checkpoint(rig.Host.Opening.Epoch, [new StateCheckpoint(actor, 0, version, [new StateField(StateField.WholeState, Encoding.UTF8.GetBytes(json))])], default);

    [Fact]
    public async Task An_idle_actor_leaves_memory_once_it_is_folded_and_comes_back_with_its_state()
    {
        await using var rig = await Rig.Start(new() { Executors = 1, Coordinators = 2, IdleActorTimeout = TimeSpan.FromSeconds(1) });
        rig.Log.Hold();
        var act = rig.Act("a", Step.Add(), Step.Get());
        await Rig.Until(() => rig.Log.Held > 0 && rig.Host.Worker.Log.LastSequence == 1, "the record is at the log");
        await Sweep(rig, 3);
        Assert.True(await IsResident(rig, "a"), "its change is not durable: the store does not have it");
        rig.Log.Release();
        Rig.Saw(await Rig.Within(act, "the ACT"), 1);
        await Sweep(rig, 3);
        Assert.True(await IsResident(rig, "a"), "its change is not checkpointed");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        await Sweep(rig, 3);
        Assert.False(await IsResident(rig, "a"));
        Rig.Saw(await Rig.Within(rig.Act("a", Step.Add(), Step.Get()), "an ACT on what was away"), 2);

        // PACTs of either coordinator chain behind batches of which the actor that comes back knows nothing.
        for (var i = 0; i < 12; i++)
        {
            Rig.Seen(await Rig.Within(rig.Pact("r" + i, ["r" + i, "a"], Step.Call("a", Step.Add())), "a PACT on what was away"));
            await rig.Host.Worker.Checkpoints.CheckpointNow();
            await Sweep(rig, 3);
            Assert.False(await IsResident(rig, "a"));
        }

        Assert.Equal(14, await rig.Value("a"));
    }

    [Fact]
    public async Task An_actor_stays_in_memory_while_the_record_of_its_last_change_is_written()
    {
        var time = new CommitTime();
        await using var rig = await Rig.Start(
            new() { Executors = 2, Coordinators = 1, IdleActorTimeout = TimeSpan.FromSeconds(1) }, time: time);
        var first = rig.Host.Worker.Executors[0];
        var box = Enumerable.Range(0, 100).Select(i => "b" + i)
            .First(id => !ReferenceEquals(rig.Host.Worker.ExecutorOf(new ActorKey("Box", id)), first));
        Rig.Saw(await Rig.Within(rig.Pact(box, [box], Step.Add(5), Step.Get()), "the first change"), 5);
        await rig.Host.Worker.Checkpoints.CheckpointNow();

        // The commit machine's thread asks for the time of the record, and the other one sweeps.
        var before = rig.Host.Worker.Final;
        time.Asked = () =>
        {
            if (first.IsCurrent && rig.Host.Worker.Final > before)
            {
                time.Asked = null;
                using var swept = new ManualResetEventSlim();
                var executor = rig.Host.Worker.ExecutorOf(new ActorKey("Box", box));
                executor.PostRun(() =>
                {
                    executor.SweepIdle();
                    swept.Set();
                });
                swept.Wait(TimeSpan.FromSeconds(10));
            }
        };
        rig.Log.Hold();
        var second = rig.Pact(box, [box], Step.Add(7), Step.Get());
        await Rig.Until(() => rig.Log.Held > 0 && rig.Host.Worker.Log.LastSequence == 2, "the record is at the log");
        time.Asked = null;
        await Sweep(rig, 3, box);
        var isResident = await IsResident(rig, box); // its change is not durable: the store does not have it
        var third = rig.Act(box, Step.Add(1), Step.Get());
        await Sweep(rig, 1, box);
        rig.Log.Release();
        Rig.Saw(await Rig.Within(second, "the second change"), 12);
        Rig.Saw(await Rig.Within(third, "the third change"), 13);
        Assert.True(isResident);
    }

    [Fact]
    public async Task An_actor_stays_in_memory_while_a_removed_transaction_of_it_has_not_arrived()
    {
        await using var rig = await Rig.Start(
            new() { Executors = 1, Coordinators = 2, IdleActorTimeout = TimeSpan.FromSeconds(1) });
        Rig.Saw(await Rig.Within(rig.Act("a", Step.Add(), Step.Get()), "an ACT"), 1);
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        var batch = new BatchId(rig.Host.Worker.Final.Value + 1_000);
        await rig.OnExecutorOf("Box", "a", executor =>
        {
            // A2: an undo overtakes the sub-batch that it is about. No coordinator waits for its acknowledgement.
            var machine = executor.FindCell(new ActorKey("Box", "a"))!.Machine!;
            var order = new UndoOrder([new Victim(new TransactionId(batch.Value), batch)]);
            Message[] messages =
            [
                new() { Kind = MessageKind.Undo, Actor = machine.Key, Body = order },
                new() { Kind = MessageKind.UndoDone, Actor = machine.Key, Value = 1 },
            ];
            foreach (var message in messages)
            {
                machine.Step(message, rig.Host.Worker.Final, new OutputBuffer());
            }
        });
        await Sweep(rig, 3);
        Assert.True(await IsResident(rig, "a"), "only its machine knows that the transaction was removed");
    }

    private static Task Sweep(Rig rig, int times, string box = "a") => rig.OnExecutorOf("Box", box, executor =>
    {
        for (var i = 0; i < times; i++)
        {
            executor.SweepIdle();
        }
    });

    private static async Task<bool> IsResident(Rig rig, string box)
    {
        var resident = false;
        await rig.OnExecutorOf("Box", box, executor => resident = executor.FindCell(new ActorKey("Box", box)) is not null);
        return resident;
    }

    private static (string, int)[] Touched(TransactionEnvelope envelope) => envelope.Touched!.Select(t => (t.Actor.Id, t.Calls)).Order().ToArray();

    private static void Saw(TransactionEnvelope envelope, params int[] expected) => Rig.Saw(envelope, expected);
}
