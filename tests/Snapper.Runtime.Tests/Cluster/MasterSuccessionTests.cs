using Snapper.Cluster.Migrating;
using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.MigrationPlans;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>R3: a worker's side of a change of the master.</summary>
public sealed class MasterSuccessionTests : IDisposable
{
    private readonly ClusterBench _bench = new();
    private readonly BenchPeer _old;
    private readonly BenchPeer _next;

    public MasterSuccessionTests()
    {
        _old = _bench.Peer(2);
        _next = _bench.Peer(3);
        _bench.Follow(_old, 1);
    }

    [Fact]
    public void Who_has_nothing_open_follows_at_once_and_says_so()
    {
        _old.Single<SettledMessage>();
        _bench.Follow(_next, 2);
        Assert.Equal(new SettledMessage(2), _next.Single<SettledMessage>());
        Assert.Equal((2, _next.Life), (_bench.Node.Requests.MasterEpoch, _bench.Node.Requests.Master));
    }

    [Fact]
    public void A_part_for_an_actor_that_has_just_come_here_waits_for_the_directory_and_what_the_master_says_after_it_too()
    {
        Move(_bench.Self, _next.Life, isHeard: true);
        Move(_next.Life, _bench.Self, isHeard: false); // the master has heard of it, this worker has not
        var read = new TaskCompletionSource();
        FrozenMessage? answer = null;
        _bench.Node.ReadDirectory = async cancellation =>
        {
            await read.Task;
            await _bench.Directory.Read(cancellation);
        };
        _bench.Node.MasterFroze = frozen => answer = frozen;
        Part(_old, 1, 1);
        _old.Send(new FrozenMessage(1, "p"));
        Assert.Equal((0, null), (_bench.Node.Pacts.Count, answer));
        _bench.On(read.SetResult);
        Assert.Equal((1, new FrozenMessage(1, "p")), (_bench.Node.Pacts.Count, answer));
        Assert.Null(_bench.Host.Failure);
    }

    [Fact]
    public void A_part_for_an_actor_that_the_directory_gives_to_another_stops_the_worker()
    {
        Move(_bench.Self, _next.Life, isHeard: true);
        Part(_old, 1, 1);
        Assert.Contains("(M7)", Assert.IsType<ProtocolViolationException>(_bench.Host.Failure).Message, StringComparison.Ordinal);
        Assert.Equal(0, _bench.Node.Pacts.Count);
    }

    [Fact]
    public void What_the_old_master_has_decided_is_final_when_the_new_one_says_so()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        Assert.Equal(new OutcomeQueryMessage(bid.Value, default), _next.Single<OutcomeQueryMessage>());
        Assert.Equal(0, _bench.Node.Requests.MasterEpoch); // it listens to nobody
        Assert.Empty(_next.All<SettledMessage>());
        _next.Send(new VerdictMessage(bid.Value, true));
        Settles(_next);
        Assert.Equal(2, _bench.Node.Requests.MasterEpoch);
        Assert.Equal(1, _bench.Value("near"));
    }

    [Fact]
    public void What_the_old_master_has_not_decided_is_undone_before_the_new_one_hears_that_it_is_settled()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        _next.Send(new VerdictMessage(bid.Value, false));
        Settles(_next);
        Assert.Equal(0, _bench.Node.Pacts.Count);
        Assert.Equal(0, _bench.Value("near"));
    }

    [Fact]
    public void Of_two_that_are_prepared_the_one_that_was_decided_stays()
    {
        var (first, second) = (Prepare(1), Prepare(2));
        _bench.Follow(_next, 2);
        _next.Send(new VerdictMessage(first.Value, true));
        _bench.Until(() => _next.All<OutcomeQueryMessage>().Count == 2, "the second is asked for");
        Assert.Empty(_next.All<SettledMessage>());
        _next.Send(new VerdictMessage(second.Value, false));
        Settles(_next);
        Assert.Equal(1, _bench.Value("near"));
    }

    [Fact]
    public void What_is_not_prepared_is_undone_and_nobody_is_asked()
    {
        Part(_old, 1, 1);
        Assert.Equal(1, _bench.Node.Pacts.Count);
        _bench.Follow(_next, 2);
        Settles(_next, within: 100);
        Assert.Empty(_next.All<OutcomeQueryMessage>());
        Assert.Equal(0, _bench.Node.Pacts.Count);
        Assert.Equal(0, _bench.Value("near"));
    }

    [Fact]
    public void The_old_master_is_heard_no_more()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        Decided(_old, 1, bid);
        Part(_old, 1, 2);
        Assert.Equal(1, _bench.Node.Pacts.Count);
        _next.Send(new VerdictMessage(bid.Value, false));
        Settles(_next);
        Part(_old, 1, 3);
        Assert.Equal(0, _bench.Node.Pacts.Count);
        Assert.Equal(0, _bench.Value("near"));
    }

    [Fact]
    public void What_the_new_master_says_before_this_worker_has_settled_waits()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        Part(_next, 2, 1);
        Assert.Equal(1, _bench.Node.Pacts.Count); // the old one's
        _next.Send(new VerdictMessage(bid.Value, false));
        Settles(_next);
        var given = Global(2, 1);
        _next.Call(given, "near", Step.Add());
        _bench.Until(() => _next.All<ToMasterMessage>().Any(told => told.Message.Kind == GlobalMessageKind.PartPrepared), "the new one's part is prepared");
        Decided(_next, 2, new BatchId(given.Value));
        Assert.Equal(1, _bench.Value("near"));
    }

    [Fact]
    public void A_master_of_which_this_worker_has_not_heard_waits_too()
    {
        Part(_next, 2, 1);
        Assert.Equal(0, _bench.Node.Pacts.Count);
        _bench.Follow(_next, 2);
        Assert.Equal(1, _bench.Node.Pacts.Count);
    }

    [Fact]
    public void A_master_that_comes_while_another_is_asked_is_asked_instead()
    {
        var last = _bench.Peer(4);
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        _bench.Follow(last, 3);
        _bench.Follow(_next, 2); // heard of late
        _bench.Until(() => last.All<OutcomeQueryMessage>().Count > 0, "the last one is asked");
        last.Send(new VerdictMessage(bid.Value, true));
        Settles(last);
        Assert.Equal(new SettledMessage(3), last.Single<SettledMessage>());
        Assert.Empty(_next.All<SettledMessage>());
        Assert.Equal(3, _bench.Node.Requests.MasterEpoch);
        Assert.Equal(1, _bench.Value("near"));
    }

    [Fact]
    public void It_asks_for_as_long_as_it_takes()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        _bench.Advance(5000);
        Assert.True(_next.All<OutcomeQueryMessage>().Count > 2);
        Assert.Empty(_next.All<SettledMessage>());
        _next.Send(new VerdictMessage(bid.Value, true));
        Settles(_next);
    }

    [Fact]
    public void The_new_master_hears_of_what_is_frozen_before_it_may_number()
    {
        var frozen = DirectoryKey.Of(new Partition(7));
        _bench.On(() => _bench.Node.OpenFreezes.Add("p1", [frozen]));
        _bench.Follow(_next, 2);
        var freeze = Assert.IsType<FreezeMessage>(_next.Heard[0]);
        Assert.Equal((2, "p1"), (freeze.MasterEpoch, freeze.Plan));
        Assert.Equal([frozen], freeze.Keys);
        Assert.IsType<SettledMessage>(_next.Heard[1]);
    }

    /// <summary>
    /// It may have read the directory before, and its lease seem to have run out. It would number for this worker.
    /// </summary>
    [Fact]
    public void The_new_master_hears_of_what_moves_before_this_worker_has_settled()
    {
        var bid = Prepare(1);
        _bench.Follow(_next, 2);
        var (key, moved) = (DirectoryKey.Of(ClusterBench.Box("gone"), new Partition(7)), new List<DirectoryEntry>());
        moved.Add(new DirectoryEntry(key, _old.Life, 1_000_000));
        _bench.On(() =>
        {
            _bench.Node.OpenFreezes.Add("p1", [key]);
            _bench.Node.Ownership.Freeze(key, "p1");
            MigrationRun.Unfreeze(_bench.Node, "p1", [key], moved);
        });
        _next.Send(new VerdictMessage(bid.Value, true));
        Settles(_next);
        WireMessage[] heard = [.. _next.Heard.SkipWhile(message => message is OutcomeQueryMessage)];
        Assert.Equal(moved, Assert.IsType<MovedMessage>(heard[0]).Changed);
        Assert.Empty(Assert.IsType<FreezeMessage>(heard[1]).Keys);
        Assert.IsType<SettledMessage>(heard[2]);
    }

    /// <summary>The next master may be one whose lease seemed to have run out.</summary>
    [Fact]
    public void A_worker_that_does_not_seem_to_live_hears_of_what_moves_too()
    {
        DirectoryEntry[] moved =
            [new(DirectoryKey.Of(ClusterBench.Box("gone"), new Partition(7)), _old.Life, 1_000_000)];
        Assert.Empty(_bench.Node.Members());

        _bench.On(() => MigrationRun.Unfreeze(_bench.Node, "p1", [moved[0].Key], moved));

        Assert.Equal(moved, _next.Single<MovedMessage>().Changed);
        Assert.Equal(moved, _old.Single<MovedMessage>().Changed);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(50)]
    public void An_undo_that_the_old_master_has_not_ended_is_ended_without_it(long from)
    {
        var bid = Prepare(1);
        _old.Send(new FromMasterMessage(1, new GlobalOutput(GlobalOutputKind.SendUndo, default, new BatchId(Global(1, from).Value), Value: 1, Count: 1)));
        Assert.Contains(_old.All<ToMasterMessage>(), told => told.Message.Kind == GlobalMessageKind.UndoReport);
        _bench.Follow(_next, 2);
        _next.Send(new VerdictMessage(bid.Value, from > 1));
        Settles(_next);
        Assert.DoesNotContain(_next.All<ToMasterMessage>(), told => told.Message.Kind is GlobalMessageKind.UndoReport or GlobalMessageKind.Undone); // its own undo is nobody else's

        // Nothing waits for the old one's word: not what commits, and not what is undone on this worker alone.
        var failing = _bench.Finish(_bench.Submit("near", [Step.Add(), Step.Call("other", Step.Add()), Step.Throw()], "near", "other"), "a PACT of this worker that fails");
        Assert.Equal((Outcome.Aborted, AbortReason.Application), (failing.Outcome, failing.Abort?.Reason));
        Assert.Equal(Outcome.Committed, _bench.Finish(_bench.Submit("near", [Step.Add()], "near"), "a PACT of this worker").Outcome);
        Assert.Equal(from > 1 ? 2 : 1, _bench.Value("near"));
    }

    [Fact]
    public void Calls_of_what_the_old_master_will_never_send_are_forgotten_and_later_ones_are_late()
    {
        _old.Call(Global(1, 5), "near", Step.Add()); // ahead of its part
        Assert.Equal(1, _bench.Node.Pacts.Count);
        _bench.Follow(_next, 2);
        Assert.Equal(0, _bench.Node.Pacts.Count);
        _old.Call(Global(1, 6), "near", Step.Add());
        Assert.Equal(0, _bench.Node.Pacts.Count);
        Assert.Equal(0, _bench.Value("near"));
    }

    [Fact]
    public void What_this_worker_does_for_the_new_master_is_told_to_it()
    {
        _bench.Follow(_next, 2);
        Part(_next, 2, 1);
        _next.Send(new FromMasterMessage(2, new GlobalOutput(GlobalOutputKind.SendUndo, default, new BatchId(Global(2, 1).Value), Value: 1, Count: 1)));
        _next.Send(new FromMasterMessage(2, new GlobalOutput(GlobalOutputKind.SendUndoGo, default, new BatchId(Global(2, 1).Value), Value: 1)));
        _bench.Until(() => _next.All<ToMasterMessage>().Any(told => told.Message.Kind == GlobalMessageKind.Undone), "the undo has ended");
        Assert.Equal(0, _bench.Value("near"));
    }

    public void Dispose() => _bench.Dispose();

    private void Settles(BenchPeer master, int within = 10_000) => _bench.Until(() => master.All<SettledMessage>().Count == 1, "it has settled", within);

    private static TransactionId Global(long epoch, long counter) => TransactionId.Global(epoch, counter);

    private static void Decided(BenchPeer master, long epoch, BatchId bid) =>
        master.Send(new FromMasterMessage(epoch, new GlobalOutput(GlobalOutputKind.SendDecided, default, bid)));

    /// <summary>A batch of one PACT, from a box of the master to one of w1.</summary>
    /// <summary>The store moves the box that parts name; w1 hears of it, or does not.</summary>
    private void Move(Incarnation from, Incarnation to, bool isHeard)
    {
        var box = ClusterBench.Box("near");
        var key = DirectoryKey.Of(box, Partition.Of(box));
        var (store, plan) = (_bench.Shared.Open(from, new()), $"p{to}");
        Assert.True(_bench.Finish(store.Plans.Create(new MigrationPlan(plan, [key], from, to, ""), CancellationToken.None), "making a plan").IsDone);
        var moved = _bench.Finish(store.Plans.Commit(plan, CancellationToken.None), "committing it");
        if (isHeard)
        {
            _bench.On(() =>
            {
                _bench.Node.Ownership.Freeze(key, plan);
                _bench.Node.Apply(moved.Value!);
            });
        }
    }

    private BatchId Part(BenchPeer master, long epoch, long counter)
    {
        var (tid, root) = (Global(epoch, counter), ClusterBench.Box("far"));
        var pact = new GlobalPact(master.Life, counter, root, [new ActorAccess(root, Access.Whole, 1), new ActorAccess(ClusterBench.Box("near"), Access.Whole, 1)], false);
        var previous = counter > 1 ? new BatchId(Global(epoch, counter - 1).Value) : BatchId.None;
        master.Send(new PartMessage(epoch, new GlobalPart(new BatchId(tid.Value), previous, [new GlobalMember(tid, pact, [master.Life, _bench.Self])])));
        return new BatchId(tid.Value);
    }

    /// <summary>The same, prepared by w1.</summary>
    private BatchId Prepare(long counter)
    {
        var bid = Part(_old, 1, counter);
        _old.Call(Global(1, counter), "near", Step.Add());
        _bench.Until(
            () => _old.All<ToMasterMessage>().Any(told => told.Message.Kind == GlobalMessageKind.PartPrepared && told.Message.Bid == bid), "the part is prepared");
        return bid;
    }
}
