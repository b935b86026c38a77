using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Watching;

/// <summary>Sampled transactions, and what is summed up of them.</summary>
public sealed class TraceTests
{
    private static readonly TraceFilter s_all = new(100);

    [Fact]
    public async Task Nothing_is_kept_before_somebody_looks()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await rig.Act("a", Step.Add()));
        Assert.Empty(rig.Host.Inspection.Watch!.Traces(s_all).Traces);
    }

    [Fact]
    public async Task A_trace_tells_the_calls_and_who_made_them()
    {
        await using var rig = await Rig.Start(new() { Executors = 2 });
        var watch = rig.Host.Inspection.Watch!;
        watch.Traces(s_all);
        Rig.Seen(await rig.Submit("a", [Step.Call("b", Step.Call("c", Step.Add())), Step.Call("d", Step.Add())], ["a", "b", "c", "d", "e"], id: "one"));

        var trace = Assert.Single(watch.Traces(s_all with { Request = "one" }).Traces);
        Assert.Equal(("committed", "pact", "Box/a", "Run", 1), (trace.Outcome, trace.Mode, trace.Root, trace.Method, trace.Attempt));
        Assert.Equal(["Box/a", "Box/b", "Box/c", "Box/d"], trace.Calls.Select(call => call.Actor));
        Assert.Equal([-1, 0, 1, 0], trace.Calls.Select(call => call.Parent));
        Assert.All(trace.Calls, call => Assert.True(call.AskedAtMs <= call.StartedAtMs && call.StartedAtMs <= call.EndedAtMs, call.ToString()));
        Assert.True(trace.ReceivedAtMs <= trace.StartedAtMs && trace.StartedAtMs <= trace.EndedAtMs && trace.EndedAtMs <= trace.CommittedAtMs);
        Assert.Equal((5, 4), (trace.Declared.Count, trace.Touched.Count));

        var access = Assert.Single(watch.Access().Methods);
        Assert.Equal(("Box", "Run", 1, 5, 4, 1, 0), (access.Type, access.Method, access.Transactions, access.DeclaredActors, access.TouchedActors, access.OverDeclared, access.Violations));
    }

    [Fact]
    public async Task The_root_of_a_pact_waits_from_its_arrival_until_its_turn()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(new() { Executors = 1, TurnBound = TimeSpan.FromMinutes(5) }, time: time);
        var watch = rig.Host.Inspection.Watch!;
        watch.Traces(s_all);
        using var gate = new Gate();
        var first = rig.Submit("a", [Step.Wait(gate)], ["a"], id: "first");
        await gate.Reached();
        var second = rig.Submit("a", [Step.Add()], ["a"], id: "second");
        time.Advance(TimeSpan.FromSeconds(5));
        gate.Open();
        Rig.Seen(await Rig.Within(first, "the first"));
        Rig.Seen(await Rig.Within(second, "the second"));

        var root = Assert.Single(Assert.Single(watch.Traces(s_all with { Request = "second" }).Traces).Calls);
        Assert.True(root.WaitedMs >= 5000 && root.StartedAtMs - root.AskedAtMs >= 5000, root.ToString());
        var hot = Assert.Single(watch.Hot(10).Actors);
        Assert.True(hot.WaitingMs >= 5000 && hot.ExecutingMs >= 5000, hot.ToString());
        Assert.True(hot.WaitingMs < 10_000, $"{hot}: the first one has not waited");
    }

    [Fact]
    public async Task Who_runs_again_waits_since_it_was_taken_out()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(new() { Executors = 1, TurnBound = TimeSpan.FromMinutes(5) }, time: time);
        var watch = rig.Host.Inspection.Watch!;
        watch.Traces(s_all);
        using var gate = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw()], ["a", "b"], id: "failing");
        await gate.Reached();
        var b = new ActorKey("Box", "b");
        await watch.Timeline(b, default);
        var victim = rig.Submit("b", [Step.Add()], ["b"], id: "victim");
        await Rig.Until(() => watch.Timeline(b, default).Result!.Entries is [.., { Request: "victim", StartedAtMs: not null }], "the victim runs");
        time.Advance(TimeSpan.FromSeconds(5));
        gate.Open();
        await Rig.Within(failing, "the failing");
        Rig.Seen(await Rig.Within(victim, "the victim"));
        var attempts = watch.Traces(s_all with { Request = "victim" }).Traces;
        Assert.Equal(["committed", "repeated"], attempts.Select(trace => trace.Outcome));
        Assert.All(attempts, trace => Assert.True(trace.Calls[0].WaitedMs < 5000, trace.ToString()));
    }

    [Fact]
    public async Task Every_attempt_is_kept_with_how_it_ended()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        var watch = rig.Host.Inspection.Watch!;
        watch.Traces(s_all);
        using var held = new Gate();
        var holder = rig.Submit("b", [Step.Add(), Step.Wait(held)], id: "holder");
        await held.Reached();
        var dies = rig.Submit("b", [Step.Add()], id: "dies");
        await Rig.Until(() => rig.Host.Inspection.Status().RepeatsByReason["conflict"] > 0, "the younger one dies");
        held.Open();
        Rig.Seen(await Rig.Within(holder, "the holder"));
        Rig.Seen(await Rig.Within(dies, "the other"));
        var undeclared = await rig.Submit("a", [Step.Call("z", Step.Add())], ["a"], id: "undeclared");
        Assert.Equal(Outcome.Aborted, undeclared.Outcome);

        var attempts = watch.Traces(s_all with { Request = "dies" }).Traces;
        Assert.Equal(("committed", null), (attempts[0].Outcome, attempts[0].Reason));
        Assert.All(attempts.Skip(1), trace => Assert.Equal(("repeated", "conflict"), (trace.Outcome, trace.Reason)));
        Assert.NotEmpty(attempts.Skip(1));
        Assert.Equal("aborted", watch.Traces(s_all with { Reason = "undeclared" }).Traces[0].Outcome);
        Assert.All(watch.Traces(s_all with { Actor = "Box/b" }).Traces, trace => Assert.Contains(trace.Calls, call => call.Actor == "Box/b"));
        Assert.Equal(1, watch.Access().Methods[0].Violations);

        var hot = watch.Hot(10).Actors;
        Assert.Equal("Box/b", hot[0].Actor);
        Assert.True(hot[0].Conflicts >= 1 && hot[0].Transactions >= 3 && hot[0].PerSecond.Sum() == hot[0].Transactions, hot[0].ToString());
    }

    [Fact]
    public async Task What_is_kept_is_bounded_and_under_load_fewer_are_sampled()
    {
        await using var rig = await Rig.Start(new() { Executors = 2 });
        var watch = rig.Host.Inspection.Watch!;
        watch.Traces(s_all);
        for (var round = 0; round < 40; round++)
        {
            await Task.WhenAll(Enumerable.Range(0, 100).Select(i => rig.Pact($"x{i}", [$"x{i}"], Step.Add())));
        }

        var traces = watch.Traces(s_all);
        Assert.True(traces.Kept <= 1024, $"{traces.Kept} are kept");
        Assert.True(traces.SampledOneIn > 1, "4,000 transactions, all of them sampled");
        Assert.Equal(100, traces.Traces.Count);
        Assert.InRange(watch.Hot(1000).Actors.Sum(actor => actor.Transactions), 1, 40_000);
    }

    [Fact]
    public async Task The_status_tells_latencies_and_the_ring_its_batches()
    {
        await using var rig = await Rig.Start(new() { Executors = 2, Coordinators = 3 });
        for (var i = 0; i < 20; i++)
        {
            Rig.Seen(await rig.Pact($"x{i}", [$"x{i}"], Step.Add()));
        }

        Rig.Seen(await rig.Act("x0", Step.Add()));
        var status = rig.Host.Inspection.Status();
        Assert.Equal((20, 1), (status.Latency!.Pact!.Count, status.Latency.Act!.Count));
        Assert.True(status.Latency.Pact.P50Ms > 0 && status.Latency.Pact.P50Ms <= status.Latency.Pact.P99Ms && status.Latency.Pact.P99Ms <= status.Latency.Pact.MaxMs);
        var ring = rig.Host.Inspection.Watch!.Ring();
        Assert.Equal(3, ring.Coordinators.Count);
        Assert.Equal(20, ring.Coordinators.Sum(coordinator => coordinator.Transactions));
        Assert.Equal(ring.BatchSize!.Count, ring.Coordinators.Sum(coordinator => coordinator.Batches));
        Assert.True(ring.Rotation!.Count > 0, "the token went round: three coordinators had work");
        Assert.InRange(ring.Token!.Holder, 0, 2);
    }
}
