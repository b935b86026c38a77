using System.Diagnostics;
using Snapper.Actors.Generated;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// A batch over several workers: each tells of its part, under one number, and which part came last can be seen from
/// how long each waited for the decision.
/// </summary>
public sealed class HeldBackPartTests
{
    [Fact]
    public async Task A_part_that_was_prepared_early_waits_for_the_decision_and_the_late_one_names_its_actor()
    {
        await using var cluster = await TestCluster.Start(2, types: static _ => [BoxActorDescriptor.Instance]);
        var (early, late) = (cluster.IdAt(1, "Box"), cluster.IdAt(2, "Box"));
        using var held = new Gate();
        var started = Stopwatch.GetTimestamp();
        var pact = TestCluster.SubmitTo(
            cluster[2], "Box", late, "Run", new Script([Step.Call(early, Step.Add()), Step.Wait(held)]), [Access(late), Access(early)]);
        await held.Reached();
        await Rig.Until(() => Newest(cluster, 1)?.PreparedMs is not null, "the part of w1 is prepared");

        // As long as all that until now, and half of it again: then nothing took longer than this wait.
        var until = (Stopwatch.GetElapsedTime(started) * 2.5) + TimeSpan.FromSeconds(1);
        await Rig.Until(() => Stopwatch.GetElapsedTime(started) > until, "that has passed");
        held.Open();
        Rig.Seen(await Rig.Within(pact, "the transaction"));
        await Rig.Until(() => Newest(cluster, 1)!.State == "committed" && Newest(cluster, 2)!.State == "committed", "both parts are committed");

        var (here, there) = (Newest(cluster, 1)!, Newest(cluster, 2)!);
        Assert.NotNull(here.GlobalBatch);
        Assert.Equal(here.GlobalBatch, there.GlobalBatch);
        Assert.Equal((HeldBackBy.Decision, $"Box/{early}"), (here.HeldBackBy, here.LastActor));
        Assert.Equal((HeldBackBy.Actors, $"Box/{late}"), (there.HeldBackBy, there.LastActor)); // the part cannot tell that its only actor did not wait for a call
        Assert.True(there.QueuedMs - there.PreparedMs < here.QueuedMs - here.PreparedMs, $"{here} {there}");
    }

    [Fact]
    public async Task An_only_actor_that_waited_for_a_call_from_another_worker_is_not_blamed()
    {
        await using var cluster = await TestCluster.Start(2, types: static _ => [BoxActorDescriptor.Instance]);
        var (called, root) = (cluster.IdAt(1, "Box"), cluster.IdAt(2, "Box"));
        using var held = new Gate();
        var started = Stopwatch.GetTimestamp();
        var pact = TestCluster.SubmitTo(
            cluster[2], "Box", root, "Run", new Script([Step.Wait(held), Step.Call(called, Step.Add())]), [Access(root), Access(called)]);
        await held.Reached();
        await Rig.Until(() => Newest(cluster, 1) is { WaitingFor: [var only] } && only == $"Box/{called}", "the part of w1 waits for the call");
        var until = (Stopwatch.GetElapsedTime(started) * 2.5) + TimeSpan.FromSeconds(1);
        await Rig.Until(() => Stopwatch.GetElapsedTime(started) > until, "that has passed");
        held.Open();
        Rig.Seen(await Rig.Within(pact, "the transaction"));
        await Rig.Until(() => Newest(cluster, 1)!.State == "committed" && Newest(cluster, 2)!.State == "committed", "both parts are committed");

        var here = Newest(cluster, 1)!;
        Assert.NotNull(here.GlobalBatch);
        Assert.Equal(($"Box/{called}", null), (here.LastActor, here.BeforeLastActor));
        Assert.NotEqual(HeldBackBy.Actor, here.HeldBackBy); // on a busy machine the log or the decision may have taken longer still
    }

    private static BatchView? Newest(TestCluster cluster, int worker) => cluster[worker].Inspection.Batches(1, default).Result.FirstOrDefault();

    private static DeclaredAccess Access(string box) => new(new ActorKey("Box", box), 1);
}
