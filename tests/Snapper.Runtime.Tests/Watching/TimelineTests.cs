using System.Runtime.CompilerServices;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Watching;

/// <summary>Who used an actor, and when, while somebody looks.</summary>
public sealed class TimelineTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task A_pact_waits_runs_and_commits_in_that_order_on_each_of_its_actors(int executors)
    {
        await using var rig = await Rig.Start(new() { Executors = executors });
        await Look(rig, "a");
        await Look(rig, "b");
        using var gate = new Gate();
        var first = rig.Submit("a", [Step.Call("b", Step.Add()), Step.Wait(gate)], ["a", "b"], id: "first");
        await gate.Reached();
        var second = rig.Submit("a", [Step.Add()], ["a"], id: "second");
        await Rig.Until(() => Look(rig, "a").Result.Entries.Count == 2, "the second is in line");

        var waiting = (await Look(rig, "a")).Entries;
        Assert.Equal(["first", "second"], waiting.Select(entry => entry.Request));
        Assert.NotNull(waiting[0].StartedAtMs);
        Assert.Null(waiting[0].ExecutedAtMs);
        Assert.Null(waiting[1].StartedAtMs);

        gate.Open();
        Rig.Seen(await Rig.Within(first, "the first"));
        Rig.Seen(await Rig.Within(second, "the second"));
        foreach (var entry in (await Look(rig, "a")).Entries)
        {
            Assert.Equal(("pact", "committed", "Box/a", "Run", 1), (entry.Mode, entry.Outcome, entry.Root, entry.Method, entry.Declared));
            Assert.True(entry.ArrivedAtMs <= entry.StartedAtMs && entry.StartedAtMs <= entry.ExecutedAtMs && entry.ExecutedAtMs <= entry.EndedAtMs, entry.ToString());
        }

        var called = Assert.Single((await Look(rig, "b")).Entries);
        Assert.Equal(("first", 1, "committed"), (called.Request, called.Calls, called.Outcome));
    }

    [Fact]
    public async Task An_act_that_waits_for_a_lock_has_not_started()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        await Look(rig, "b");
        using var gate = new Gate();

        // The younger one holds, the older one waits (W1).
        var old = rig.Submit("a", [Step.Wait(gate), Step.Call("b", Step.Add())], id: "older");
        await gate.Reached();
        using var held = new Gate();
        var young = rig.Submit("b", [Step.Add(), Step.Wait(held)], id: "younger");
        await held.Reached();
        gate.Open();
        await Rig.Until(() => Look(rig, "b").Result.Entries.Count == 2, "the older one asks for the lock");
        await Rig.Until(() => Look(rig, "b").Result.Entries is [_, { StartedAtMs: null }], "the older one waits");
        var entries = (await Look(rig, "b")).Entries;
        Assert.Equal(("younger", "exclusive"), (entries[0].Request, entries[0].Lock));
        held.Open();
        Rig.Seen(await Rig.Within(young, "the younger"));
        Rig.Seen(await Rig.Within(old, "the older"));
        entries = (await Look(rig, "b")).Entries;
        Assert.All(entries, entry => Assert.Equal(("act", "committed", "exclusive"), (entry.Mode, entry.Outcome, entry.Lock)));
        Assert.True(entries[1].StartedAtMs >= entries[0].ExecutedAtMs);
    }

    [Fact]
    public async Task What_an_undo_takes_out_is_shown_as_undone_and_comes_again()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        await Look(rig, "b");
        using var gate = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw()], ["a", "b"], id: "failing");
        await gate.Reached();
        var victim = rig.Submit("b", [Step.Add()], ["b"], id: "victim");
        await Rig.Until(() => Look(rig, "b").Result.Entries is [_, { StartedAtMs: not null }], "the victim runs");
        gate.Open();
        await Rig.Within(failing, "the failing");
        Rig.Seen(await Rig.Within(victim, "the victim"));

        var entries = (await Look(rig, "b")).Entries;
        Assert.Equal(["undone", "committed"], entries.Where(entry => entry.Request == "victim").Select(entry => entry.Outcome));
        var undone = Assert.Single(await rig.Host.Inspection.Aborts(10, null, null, default), abort => abort.Id == "victim");
        Assert.Equal(("undone", true, "failing"), (undone.Reason, undone.Repeated, undone.UndoneFor?.Request));
    }

    [Fact]
    public async Task Who_died_of_a_lock_is_told_whose()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        using var held = new Gate();
        var holder = rig.Submit("b", [Step.Add(), Step.Wait(held)], id: "holder");
        await held.Reached();
        var dies = rig.Submit("b", [Step.Add()], id: "dies");
        await Rig.Until(() => rig.Host.Inspection.Aborts(10, null, null, default).Result.Count > 0, "the younger one dies and is told"); // counted a moment before it is listed
        Assert.True(rig.Host.Inspection.Status().RepeatsByReason["conflict"] > 0);
        var abort = (await rig.Host.Inspection.Aborts(10, null, null, default))[0];
        Assert.Equal(("dies", "conflict", "holder", "Box/b"), (abort.Id, abort.Reason, abort.BlockedBy?.Request, abort.BlockedBy?.Root));
        held.Open();
        Rig.Seen(await Rig.Within(holder, "the holder"));
        Rig.Seen(await Rig.Within(dies, "the other"));
    }

    [Fact]
    public async Task An_unknown_type_has_none_and_only_so_many_actors_are_watched_at_a_time()
    {
        await using var rig = await Rig.Start();
        Assert.Null(await rig.Host.Inspection.Watch!.Timeline(new ActorKey("Nobody", "x"), default));
        for (var i = 0; i < 64; i++)
        {
            await Look(rig, $"x{i}");
        }

        await Assert.ThrowsAsync<TooManyWatchedException>(() => Look(rig, "one more"));
    }

    [Fact]
    public async Task A_timeline_that_begins_again_takes_the_place_of_the_old_one()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(new() { Executors = 1, TurnBound = TimeSpan.FromMinutes(5) }, time: time);
        await Look(rig, "rw");
        Rig.Seen(await rig.Act("rw", Step.Add()));
        Assert.Single((await Look(rig, "rw")).Entries);
        time.Advance(TimeSpan.FromSeconds(IWorkerWatch.LeaseSeconds + 1));
        await Look(rig, "other");
        await Look(rig, "rw");
        Rig.Seen(await rig.Act("rw", Step.Add()));
        Rig.Seen(await rig.Act("rw", Step.Add()));
        Assert.Equal(2, (await Look(rig, "rw")).Entries.Count);
    }

    [Fact]
    public async Task The_machine_of_an_idle_actor_is_let_go_when_the_lease_is_over()
    {
        await using var rig = await Rig.Start(new() { Executors = 1, WatchLease = TimeSpan.FromMilliseconds(100) });
        Rig.Seen(await rig.Act("rw", Step.Add()));
        var timeline = await LookOnce(rig, "rw");
        await Rig.Until(
            () =>
            {
                GC.Collect();
                return !timeline.IsAlive;
            },
            "neither the machine nor anybody else holds the timeline");
        await rig.OnExecutorOf("Box", "rw", executor => Assert.NotNull(executor.FindCell(new ActorKey("Box", "rw"))?.Machine));
    }

    /// <summary>The timeline that a look has begun; held by nobody here.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference> LookOnce(Rig rig, string box)
    {
        await Look(rig, box);
        return new WeakReference(rig.Host.Worker.Watch.Timelines.Watch(new ActorKey("Box", box)));
    }

    private static async Task<TimelineView> Look(Rig rig, string box) => (await rig.Host.Inspection.Watch!.Timeline(new ActorKey("Box", box), default))!;
}
