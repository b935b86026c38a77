using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// H6: behind an ACT of several workers nobody waits for long, since it might be in a ring that no worker sees.
/// </summary>
public sealed class DistributedDeadlockTimeoutTests : IDisposable
{
    private static readonly TransactionId Act = TransactionId.Act(1000, 2);
    private readonly ClusterBench _bench = new();

    [Fact]
    public void The_root_elsewhere_is_told_of_who_waits_at_two_looks()
    {
        var root = _bench.Peer(2);
        root.Call(Act, "near", Step.Add());
        root.Single<ResultMessage>();
        _bench.Advance(45);
        var waiting = _bench.Submit("near", [Step.Add()], "near");
        _bench.Advance(50);
        Assert.Empty(root.All<ActLongWaitMessage>()); // it was seen once, and may have waited for 5 ms
        _bench.Advance(10);
        Assert.Equal(new ActLongWaitMessage(Act), root.Single<ActLongWaitMessage>());
        _bench.Advance(50);
        Assert.Equal(2, root.All<ActLongWaitMessage>().Count); // said again while they wait
        root.Send(new ActAbortMessage(Act));
        Assert.Equal(Outcome.Committed, _bench.Finish(waiting, "the one that waited").Outcome);
    }

    [Fact]
    public void One_that_has_just_begun_is_not_told_of_whoever_else_is_looked_at()
    {
        var root = _bench.Peer(2);
        root.Call(TransactionId.Act(1001, 2), "other", Step.Add()); // is looked at every 50 ms
        _bench.Advance(45);
        root.Call(Act, "near", Step.Add());
        _ = _bench.Submit("near", [Step.Add()], "near");
        _bench.Advance(100); // looked at after 5 and after 55 ms
        Assert.Empty(root.All<ActLongWaitMessage>());
        _bench.Advance(10);
        Assert.Equal(new ActLongWaitMessage(Act), root.Single<ActLongWaitMessage>());
    }

    [Fact]
    public void One_behind_whom_nobody_waits_takes_as_long_as_it_likes()
    {
        var root = _bench.Peer(2);
        root.Call(Act, "near", Step.Add());
        _bench.Advance(1000);
        Assert.Empty(root.All<ActLongWaitMessage>());
        Assert.True(_bench.Worker.Acts.ContainsKey(Act.Value));
    }

    [Fact]
    public void One_that_has_voted_is_told_of_and_ended_by_its_root_alone()
    {
        var root = _bench.Peer(2);
        root.Call(Act, "near", Step.Add());
        root.Send(new ActPrepareMessage(Act, true, false));
        Assert.True(root.Single<ActVotedMessage>().Yes);
        var waiting = _bench.Submit("near", [Step.Add()], "near");
        _bench.Advance(1000);
        Assert.NotEmpty(root.All<ActLongWaitMessage>());
        Assert.False(waiting.IsCompleted);
        Assert.True(_bench.Worker.Acts.ContainsKey(Act.Value));
        root.Send(new ActDecidedMessage(Act, true));
        Assert.Equal(Outcome.Committed, _bench.Finish(waiting, "the one that waited").Outcome);
        Assert.Equal(2, _bench.Value("near"));
    }

    [Fact]
    public void One_whose_root_is_here_ends_when_others_have_waited_here()
    {
        var two = Far();
        two.Call(Act, "other", Step.Get()); // a worker that takes part in nobody else's transactions is in no ring, and does not look
        var running = _bench.Submit("near", [Step.Add(), Step.Call("far")]);
        var waiting = _bench.Submit("near", [Step.Add()], "near");
        _bench.Advance(90);
        Assert.Empty(two.All<ActAbortMessage>());
        _bench.Advance(20);
        Assert.Equal(two.All<CallMessage>()[0].Tid, two.Single<ActAbortMessage>().Tid);
        Assert.Equal(Outcome.Committed, _bench.Finish(waiting, "the one that waited").Outcome);
        Assert.False(running.IsCompleted); // it runs again (W2)
        _bench.Until(() => two.All<CallMessage>().Count == 2, "it is called again");
        Assert.Equal(two.All<CallMessage>()[0].Age, two.All<CallMessage>()[1].Age);
    }

    [Fact]
    public void One_whose_root_is_here_ends_when_another_worker_says_that_others_wait()
    {
        var two = Far();
        _ = _bench.Submit("near", [Step.Add(), Step.Call("far")]);
        var tid = two.Single<CallMessage>().Tid;
        _bench.Advance(40);
        two.Send(new ActLongWaitMessage(tid));
        Assert.Empty(two.All<ActAbortMessage>()); // it has not run for so long itself
        _bench.Advance(20);
        two.Send(new ActLongWaitMessage(tid));
        Assert.Equal(tid, two.Single<ActAbortMessage>().Tid);
    }

    [Fact]
    public void One_that_was_broken_is_given_twice_the_time_at_its_next_attempt()
    {
        var two = Far();
        _ = _bench.Submit("near", [Step.Add(), Step.Call("far")]);
        var lasted = new List<int>();
        for (var attempt = 1; attempt <= 8; attempt++)
        {
            _bench.Until(() => two.All<CallMessage>().Count == attempt, $"attempt {attempt} has begun");
            var tid = two.All<CallMessage>()[^1].Tid;
            var (from, aborted) = (_bench.Time.GetTimestamp(), two.All<ActAbortMessage>().Count);
            _bench.Until(
                () =>
                {
                    two.Send(new ActLongWaitMessage(tid));
                    return two.All<ActAbortMessage>().Count > aborted;
                },
                $"attempt {attempt} is broken");
            lasted.Add((int)_bench.Time.GetElapsedTime(from).TotalMilliseconds);
        }

        Assert.Equal([50, 100, 200, 400, 800, 1600, 1600, 1600], lasted);
    }

    [Fact]
    public void Who_tells_another_than_the_root_changes_nothing()
    {
        var root = _bench.Peer(2);
        root.Call(Act, "near", Step.Add());
        _bench.Advance(100);
        root.Send(new ActLongWaitMessage(Act));
        root.Send(new ActLongWaitMessage(TransactionId.Act(7, 3)));
        _bench.Advance(10);
        Assert.True(_bench.Worker.Acts.ContainsKey(Act.Value));
        Assert.Empty(root.All<BranchFailedMessage>());
    }

    [Fact]
    public void An_ACT_of_this_worker_alone_is_not_looked_at()
    {
        var any = true;
        _bench.On(() => any = _bench.Node.Waits.Look());
        Assert.False(any);
        _bench.Peer(2).Call(Act, "near", Step.Add());
        _bench.On(() => any = _bench.Node.Waits.Look());
        Assert.True(any);
    }

    public void Dispose() => _bench.Dispose();

    private BenchPeer Far()
    {
        var two = _bench.Peer(2);
        _bench.Place(ClusterBench.Box("far"), two.Life);
        return two;
    }
}
