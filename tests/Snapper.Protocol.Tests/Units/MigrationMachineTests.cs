using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Migration;

namespace Snapper.Protocol.Tests.Units;

/// <summary>M3 to M7 at the source of a plan, step by step and under random schedules.</summary>
public sealed class MigrationMachineTests
{
    [Fact]
    public void A_quiet_actor_moves_in_the_order_of_the_steps()
    {
        var world = new MigrationWorld(seed: 0, isQuiet: true);
        world.Run();
        Assert.Equal(MigrationStep.Done, world.Machine.Step);
        Assert.Equal(
            [
                MigrationAction.Checkpoint, MigrationAction.CheckpointUrgently,
                MigrationAction.PassQueues, MigrationAction.PassQueues, MigrationAction.AskMaster,
                MigrationAction.PassQueues, MigrationAction.PassQueues,
                MigrationAction.PassQueues, MigrationAction.PassQueues, MigrationAction.LeaveMemory,
                MigrationAction.Flush, MigrationAction.CheckpointUrgently, MigrationAction.LeaveMemory,
                MigrationAction.Commit, MigrationAction.Unfreeze, MigrationAction.RequireNothingLeft,
                MigrationAction.End,
            ],
            world.Actions);
    }

    [Fact]
    public void What_is_not_owned_is_cancelled_and_keeps_no_freeze()
    {
        var world = new MigrationWorld(seed: 0, isQuiet: true);
        world.Ownership.Apply(new DirectoryEntry(MigrationWorld.Second, MigrationWorld.Target, 9));
        world.Run();
        Assert.Equal(MigrationStep.Cancelled, world.Machine.Step);
        Assert.Contains("is not owned by this worker", world.Machine.Reason, StringComparison.Ordinal);
        Assert.DoesNotContain(MigrationAction.AskMaster, world.Actions);
        Assert.Equal(OwnershipState.Open, world.Ownership.Look(MigrationWorld.First.Partition).State);
    }

    [Fact]
    public void The_bound_cancels_the_plan_before_anything_is_unfrozen()
    {
        var world = new MigrationWorld(seed: 0, isQuiet: true) { MasterIsSilent = true };
        world.Run();
        Assert.Equal(MigrationStep.FreezingAtMaster, world.Machine.Step);
        Assert.Equal(MigrationAction.Cancel, world.Machine.OnBound("too long"));
        Assert.Equal(OwnershipState.Frozen, world.Ownership.Look(MigrationWorld.First.Partition).State);
        Assert.Equal(MigrationAction.Unfreeze, world.Machine.OnCancelled([]));
        Assert.Equal(MigrationAction.None, world.Machine.OnMasterFroze());
        Assert.Equal(MigrationAction.None, world.Machine.OnBound("again"));
        Assert.Equal(MigrationAction.End, world.Machine.OnUnfrozen());
        Assert.Equal("too long", world.Machine.Reason);
    }

    [Fact]
    public void An_answer_that_no_action_has_asked_for_is_refused()
    {
        var world = new MigrationWorld(seed: 0, isQuiet: true);
        Assert.Throws<ProtocolViolationException>(() => world.Machine.OnFlushed());
        Assert.Throws<ProtocolViolationException>(() => world.Machine.OnCommitted([]));
        Assert.Throws<ProtocolViolationException>(() => world.Machine.OnLeft(true));
    }

    [Fact]
    public void Under_random_schedules_nothing_is_under_way_when_the_plan_is_committed_and_every_run_ends()
    {
        var (done, cancelled) = (0, 0);
        for (var seed = 1; seed <= 5_000; seed++)
        {
            var world = new MigrationWorld(seed, isQuiet: false);
            world.Run();
            Assert.True(
                world.Machine.Step is MigrationStep.Done or MigrationStep.Cancelled,
                $"Seed {seed} ends at {world.Machine.Step}.");
            Assert.False(world.IsAnythingFrozen, $"Seed {seed} keeps a freeze.");
            done += world.Machine.Step == MigrationStep.Done ? 1 : 0;
            cancelled += world.Machine.Step == MigrationStep.Cancelled ? 1 : 0;
        }

        Assert.True(done > 2_000 && cancelled > 500, $"{done} done, {cancelled} cancelled: they prove little.");
    }
}
