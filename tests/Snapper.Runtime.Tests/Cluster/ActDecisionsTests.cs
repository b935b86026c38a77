using Snapper.Cluster.Branches;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>R2: the root's worker knows what became of an ACT for as long as anybody may ask.</summary>
public sealed class ActDecisionsTests : IDisposable
{
    private static readonly Incarnation Two = new(2, 5);
    private static readonly Incarnation Three = new(3, 5);
    private readonly ClusterBench _bench = new();

    [Fact]
    public void A_decision_stays_in_the_log_until_the_last_of_the_others_has_its_marker()
    {
        var tid = Decide(1, Two, Three);
        Assert.Equal([tid], _bench.Decided());
        Marked(Two, tid);
        Marked(Two, tid); // told again
        Assert.Equal([tid], _bench.Decided());
        Assert.Equal(1, Decisions.Unmarked);
        Marked(Three, tid);
        Assert.Equal(0, Decisions.Unmarked);
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void A_marker_stands_for_its_own_ACT_alone()
    {
        var (first, second) = (Decide(1, Two), Decide(2, Two));
        Marked(Two, second);
        Assert.Equal(1, Decisions.Unmarked);
        Assert.Equal([first, second], _bench.Decided());
        Marked(Two, first);
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void The_marker_of_another_life_is_not_that_of_the_one_that_voted()
    {
        var tid = Decide(1, Two);
        Marked(Two with { Epoch = 6 }, tid);
        Assert.Equal([tid], _bench.Decided());
    }

    [Fact]
    public void Where_the_stream_of_a_life_was_resolved_nobody_asks_for_anything_of_it()
    {
        Decide(1, Two);
        var both = Decide(2, Two, Three);
        Decide(3, Two);
        _bench.On(() => Decisions.OnResolved(Two, isLast: true));
        Assert.Equal(1, Decisions.Unmarked);
        Assert.Equal([both, TransactionId.Act(3, 1)], _bench.Decided());
        Marked(Three, both);
        Assert.Empty(_bench.Decided());
    }

    [Fact]
    public void What_is_decided_and_durable_is_told_to_whoever_asks()
    {
        var tid = Decide(1, Two);
        var asker = _bench.Peer(3);
        asker.Send(new OutcomeQueryMessage(tid.Value, _bench.Self));
        Assert.Equal(new VerdictMessage(tid.Value, true), asker.Single<VerdictMessage>());
    }

    [Fact]
    public void What_is_decided_and_not_durable_is_told_when_it_is()
    {
        var asker = _bench.Peer(3);
        _bench.Log.Fails = true;
        var tid = Decide(1, Two);
        asker.Send(new OutcomeQueryMessage(tid.Value, _bench.Self));
        _bench.Advance(100);
        Assert.Empty(asker.Heard);
        _bench.Log.Fails = false;
        _bench.Until(() => asker.Heard.Count > 0, "the verdict is told", 2000);
        Assert.Equal(new VerdictMessage(tid.Value, true), asker.Single<VerdictMessage>());
    }

    [Fact]
    public void What_is_not_decided_never_will_be_once_somebody_was_told_so()
    {
        var two = _bench.Peer(2);
        _bench.Place(ClusterBench.Box("far"), two.Life);
        var paying = _bench.Submit("near", [Step.Add(), Step.Call("far", Step.Add())]);
        two.Answer(two.Single<CallMessage>());
        var tid = two.Single<ActPrepareMessage>().Tid;

        // Its vote is under way when somebody who rescues w2 asks.
        two.Send(new OutcomeQueryMessage(tid.Value, _bench.Self));
        Assert.Equal(new VerdictMessage(tid.Value, false), two.Single<VerdictMessage>());
        two.Send(new ActVotedMessage(tid, true, null, [], []));
        _bench.Advance(20);
        Assert.DoesNotContain(new ActDecidedMessage(tid, true), two.All<ActDecidedMessage>());
        Assert.Empty(_bench.Decided());

        // Its caller hears nothing of it. The next attempt's vote comes first.
        _bench.Until(() => two.All<CallMessage>().Count == 2, "it is tried again");
        two.Answer(two.All<CallMessage>()[1]);
        var next = two.All<ActPrepareMessage>()[1].Tid;
        two.Send(new ActVotedMessage(next, true, null, [], []));
        Assert.Equal(Outcome.Committed, _bench.Finish(paying, "the answer").Outcome);
        Assert.Equal(1, _bench.Value("near"));
        Assert.Equal(new ActDecidedMessage(next, true), two.All<ActDecidedMessage>()[^1]);
        two.Send(new OutcomeQueryMessage(next.Value, _bench.Self));
        Assert.Equal(new VerdictMessage(next.Value, true), two.All<VerdictMessage>()[^1]);
        Assert.Equal([next], _bench.Decided());
        two.Send(new ActMarkedMessage(next));
        Assert.Empty(_bench.Decided());
    }

    /// <summary>Its executors go on until the process ends, and what they decide is in no log.</summary>
    [Fact]
    public void What_is_decided_when_the_log_is_lost_is_not_committed()
    {
        var (two, asker) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("far"), two.Life);
        _ = _bench.Submit("near", [Step.Add(), Step.Call("far", Step.Add())]);
        two.Answer(two.Single<CallMessage>());
        var tid = two.Single<ActPrepareMessage>().Tid;
        _bench.Finish(new MemoryTransactionLog(_bench.Shared.Log(1)).Open(CancellationToken.None), "fencing w1");
        _ = _bench.Submit("other", [Step.Add()]);
        Assert.IsType<LogLostFailure>(_bench.Host.Failure);

        two.Send(new ActVotedMessage(tid, true, null, [], []));
        asker.Send(new OutcomeQueryMessage(tid.Value, _bench.Self)); // it recovers w2, and has read the members before
        GoOn();

        Assert.Empty(_bench.DecidedInLog());
        Assert.Equal(new VerdictMessage(tid.Value, false), asker.Single<VerdictMessage>());
    }

    [Fact]
    public void That_a_marker_is_there_is_said_only_when_it_is_durable()
    {
        var two = _bench.Peer(2);
        var tid = TransactionId.Act(1, 2);
        _bench.Log.Fails = true;
        _bench.Worker.Log.Enqueue(new ActEnded { Transaction = tid, Committed = true, Versions = [] });
        two.Send(new ActDecidedMessage(tid, true)); // told again: its part has ended here, but perhaps not for long
        _bench.Advance(100);
        Assert.Empty(two.Heard);
        _bench.Log.Fails = false;
        _bench.Until(() => two.Heard.Count > 0, "the marker is told", 2000);
        two.Single<ActMarkedMessage>();
    }

    [Fact]
    public void A_marker_is_told_to_the_roots_worker_as_it_lives_now()
    {
        var before = _bench.Peer(2);
        var now = _bench.Peer(2);
        _bench.On(() => Decisions.SendMarked(new ActOutcome(TransactionId.Act(1, 2), true, [], new object()) { RootWorker = before.Life }));
        Assert.Equal(new ActMarkedMessage(TransactionId.Act(1, 2)), now.Single<ActMarkedMessage>());
        Assert.Empty(before.Heard);
    }

    public void Dispose() => _bench.Dispose();

    /// <summary>An ACT whose root is on w1.</summary>
    internal static ActOutcome OutcomeOf(long counter, params Incarnation[] others) => new(TransactionId.Act(counter, 1), true, [], new object()) { Others = others };

    private ActDecisions Decisions => _bench.Node.Decisions;

    /// <summary>What w1 does when it has failed.</summary>
    private void GoOn() => ClusterBench.Alone(() =>
    {
        _bench.Node.First.Enter();
        while (_bench.Node.First.RunOne())
        {
        }

        Executor.Leave();
    });

    private void Marked(Incarnation from, TransactionId tid) => _bench.On(() => Decisions.OnMarked(from, tid));

    private TransactionId Decide(long counter, params Incarnation[] others)
    {
        var outcome = OutcomeOf(counter, others);
        _bench.On(() =>
        {
            var record = new ActCommitted { Transaction = outcome.Tid, Changes = [], Participants = [.. others.Select(other => other.Worker)], Outcome = null };
            _bench.Worker.Log.Enqueue(record, out var sequence);
            Decisions.NoteDecided(outcome, sequence);
            _bench.Worker.Checkpoints.OnDurable(record, sequence);
        });
        return outcome.Tid;
    }
}
