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

    /// <summary>
    /// M4: a part that came before the master's answer may get its place on what moves; what is open then must become
    /// final; and an ACT that is in must end.
    /// </summary>
    [Fact]
    public void It_drains_parts_without_a_place_then_batches_then_ACTs()
    {
        var source = new FakeSource { HighestKnownPart = new BatchId(3), LowestUnplacedPart = new BatchId(2) };
        var ownership = new MigrationWorld(seed: 0, isQuiet: true).Ownership;
        var machine = new MigrationMachine("p", [MigrationWorld.First], ownership, source);
        machine.Begin();
        machine.OnCheckpointed(isComplete: true);
        machine.OnCheckpointed(isComplete: true);
        machine.OnQueuesPassed();
        Assert.Equal(MigrationAction.AskMaster, machine.OnQueuesPassed());
        machine.OnMasterFroze();
        machine.OnQueuesPassed();

        Expect(MigrationStep.AwaitingPlaces, machine.OnQueuesPassed());
        source.LowestUnplacedPart = new BatchId(3);
        Expect(MigrationStep.AwaitingPlaces, machine.OnProgress());

        source.LowestUnplacedPart = new BatchId(4); // numbered after the master had frozen the plan
        (source.HighestOpen, source.Final) = (new BatchId(7), new BatchId(6));
        Expect(MigrationStep.Draining, machine.OnProgress());

        (source.HighestOpen, source.Final) = (new BatchId(8), new BatchId(7)); // 8 is of what stays
        source.Visitor = TransactionId.Act(1, 1);
        Expect(MigrationStep.Draining, machine.OnProgress());

        source.Visitor = TransactionId.None;
        Assert.Equal(MigrationAction.PassQueues, machine.OnProgress());
        Assert.Equal(MigrationStep.PassingEnds, machine.Step);

        void Expect(MigrationStep step, MigrationAction action) =>
            Assert.Equal((step, MigrationAction.None), (machine.Step, action));
    }

    private sealed class FakeSource : IMigrationSource
    {
        public TransactionId Visitor { get; set; }

        public BatchId HighestKnownPart { get; init; }

        public BatchId LowestUnplacedPart { get; set; }

        public BatchId HighestOpen { get; set; }

        public BatchId Final { get; set; }

        public bool HasOpenUpTo(BatchId last) => Final < last;

        public bool TakesActsBack => false;

        public long LastSequence => 0;

        public long CheckpointedThrough => 0;

        public TransactionId FindVisitor(string plan) => Visitor;

        public bool IsUnderWay(TransactionId tid) => tid == Visitor;
    }
}
