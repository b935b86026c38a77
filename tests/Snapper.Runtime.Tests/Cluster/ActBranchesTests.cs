using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Branches of ACTs whose roots are elsewhere (W3, H7).</summary>
public sealed class ActBranchesTests : IDisposable
{
    private readonly ClusterBench _bench = new();

    [Fact]
    public void What_a_branch_has_called_hears_of_an_abort_of_a_root_that_may_not_know_of_it()
    {
        var (root, called) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("further"), called.Life);
        var tid = TransactionId.Act(9, 2);
        root.Call(tid, "near", Step.Add(), Step.Call("further", Step.Add()));
        called.Single<CallMessage>(); // it fails there, and tells the root, which gives it up before this worker has said that it had called it

        root.Send(new ActPrepareMessage(tid, Committed: false, IsRecorded: false));
        root.Send(new ActDecidedMessage(tid, Committed: false));

        Assert.Equal(new ActAbortMessage(tid), called.Single<ActAbortMessage>());
        Assert.Empty(_bench.Worker.Acts);
        Assert.Equal(0, _bench.Value("near"));
    }

    [Fact]
    public void A_number_is_given_once_over_all_lives_also_when_others_have_put_the_clock_forward()
    {
        // w2 has begun more often than w1, so that its numbers are higher; a call of one of its ACTs puts the clock
        // of w1 forward (W1).
        var (one, two) = (TransactionId.Act(50_000_002, 2), TransactionId.Act(50_000_003, 2));
        var peer = _bench.Peer(2);
        peer.Call(two, "a", Step.Get());
        peer.Send(new ActAbortMessage(two));

        // An ACT of w1 calls w2, which votes, perhaps; w1 ends before it is decided.
        _bench.Place(ClusterBench.Box("far"), peer.Life);
        _ = _bench.Submit("near", [Step.Call("far", Step.Add())]);
        var before = peer.Single<CallMessage>().Tid;
        _bench.Restart();

        // An older ACT, of the same worker or of another one, calls w1 in its next life; then an ACT of that life
        // goes to where the other one was.
        var next = _bench.Peer(2);
        next.Call(one, "a", Step.Get());
        _bench.Place(ClusterBench.Box("far"), next.Life);
        _ = _bench.Submit("near", [Step.Call("far", Step.Add())]);
        _ = _bench.Submit("near too", [Step.Call("far", Step.Add())]);
        Assert.DoesNotContain(before, next.All<CallMessage>().Select(call => call.Tid));
    }

    [Fact]
    public void A_part_whose_worker_was_gone_before_the_root_knew_of_it_is_no_failure_but_tried_again()
    {
        var (called, further) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("far"), called.Life);
        var next = _bench.Peer(3); // the life that the other worker has called is over; its part is gone
        var answer = _bench.Submit("near", [Step.Call("far", Step.Get()), Step.Add()]);
        called.Answer(called.Single<CallMessage>());

        called.Send(new ActVotedMessage(called.Single<CallMessage>().Tid, true, null, [further.Life], []));
        _bench.Until(() => called.All<CallMessage>().Count == 2, "it is tried again");

        Assert.Equal(called.All<CallMessage>()[0].Age, called.All<CallMessage>()[1].Age);
        Assert.Empty(next.Heard);
        called.Answer(called.All<CallMessage>()[1]);
        called.Send(new ActVotedMessage(called.All<CallMessage>()[1].Tid, true, null, [], []));
        Assert.Equal(2, _bench.Finish(answer, "the answer").Attempts);
    }

    /// <summary>Calls that no caller awaits: the root knows the third worker by the vote of the second.</summary>
    [Fact]
    public void A_worker_that_only_a_vote_has_named_and_that_dies_before_its_own_vote_keeps_no_abort_waiting()
    {
        var (called, further) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("far"), called.Life);
        var answer = _bench.Submit("near", [Step.Fire("far", Step.Call("further", Step.Get())), Step.Abort()]);
        var tid = called.Single<ActPrepareMessage>().Tid;
        called.Send(new ActVotedMessage(tid, true, null, [further.Life], []));
        Assert.False(further.Single<ActPrepareMessage>().Committed);

        _bench.Peer(3); // its part is lost with that life
        _bench.Until(() => called.All<ActPrepareMessage>().Count == 2, "it is tried again");

        called.Send(new ActVotedMessage(called.All<ActPrepareMessage>()[1].Tid, true, null, [], []));
        Rig.Aborted(_bench.Finish(answer, "the answer"), AbortReason.Application);
    }

    [Fact]
    public void A_part_whose_next_life_asks_what_became_of_it_is_no_failure_but_tried_again()
    {
        var called = _bench.Peer(2);
        _bench.Place(ClusterBench.Box("far"), called.Life);
        var answer = _bench.Submit("near", [Step.Call("far", Step.Get()), Step.Add()]);
        var call = called.Single<CallMessage>();
        called.Answer(call);

        _bench.Peer(3).Send(new OutcomeQueryMessage(call.Tid.Value, _bench.Self)); // it recovers that stream

        _bench.Until(() => called.All<CallMessage>().Count == 2, "it is tried again");
        Assert.False(answer.IsCompleted);
    }

    [Fact]
    public void A_vote_whose_roots_log_cannot_be_read_stays_in_doubt_says_so_and_is_asked_about_again()
    {
        var root = _bench.Peer(2);
        var tid = TransactionId.Act(9, 2);
        root.Call(tid, "near", Step.Add(3));
        root.Send(new ActPrepareMessage(tid, Committed: true, IsRecorded: false));
        Assert.True(root.Single<ActVotedMessage>().Yes);
        _bench.Finish(new MemoryTransactionLog(_bench.Shared.Log(2)).Append(root.Life.Epoch, 1, 1, "damaged"u8.ToArray(), CancellationToken.None), "damaging its log");

        ClusterBench.Alone(() => _bench.Node.Gate.Hub.Retire(root.Life));
        _bench.Until(() => Said() == 1, "it says that it cannot know");
        _bench.Advance(4000);
        Assert.Equal(1, Said()); // not all the time
        _bench.Until(() => Said() == 2, "it asks again");
        Assert.Null(_bench.Host.Failure);
        Assert.Single(_bench.Worker.Acts);

        var next = _bench.Peer(2); // it was put right, and lives again
        for (var i = 0; i < 10 && next.All<OutcomeQueryMessage>().Count == 0; i++)
        {
            _bench.Advance(1000);
            _bench.Finish(next.Store.Members.Renew("", 0, CancellationToken.None), "renewing");
        }

        next.Send(new VerdictMessage(tid.Value, Committed: true));
        _bench.Until(() => _bench.Worker.Acts.IsEmpty, "the end of the part");
        Assert.Equal(3, _bench.Value("near"));

        int Said() => _bench.Logged.Lines.Count(line => line.Id == 1020 && line.Text.Contains(tid.Value.ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal));
    }

    [Fact]
    public void What_the_commit_order_knows_of_an_ACT_that_is_over_is_swept_away_and_a_vote_is_not()
    {
        var root = _bench.Peer(2);
        var (over, voted) = (TransactionId.Act(8, 2), TransactionId.Act(9, 2));
        root.Call(voted, "near", Step.Add());
        root.Send(new ActPrepareMessage(voted, Committed: true, IsRecorded: false));
        _bench.On(() =>
        {
            foreach (var tid in new[] { over, voted })
            {
                _bench.Worker.SendToCommit(new Message { Kind = MessageKind.ActOvertaken, Tid = tid, Bid = new BatchId(1_000_000_000) });
            }
        });
        Assert.Equal(2, _bench.Worker.Commits.ActsInOrder);

        _bench.Host.Maintain(); // once a minute
        _bench.Run();

        Assert.Equal(1, _bench.Worker.Commits.ActsInOrder);
        root.Send(new ActDecidedMessage(voted, Committed: true));
        Assert.Equal(0, _bench.Worker.Commits.ActsInOrder);
        Assert.Equal(1, _bench.Value("near"));
    }

    /// <summary>A10: the result's own code may throw anything when it is read, as it may when it is written.</summary>
    [Fact]
    public void A_result_from_another_worker_that_cannot_be_read_ends_the_transaction_and_not_the_worker()
    {
        var far = new ActorKey("Odd", "far");
        var other = _bench.Peer(2);
        _bench.Place(far, other.Life);
        var asked = _bench.Submit("near", [new Step("pick", far.Id)]);
        other.Send(new ResultMessage(other.Single<CallMessage>().Id, null, """{"word":"bad"}"""u8.ToArray(), [], []));
        Assert.Null(_bench.Host.Failure);
        var prepare = other.Single<ActPrepareMessage>();
        Assert.False(prepare.Committed);
        other.Send(new ActVotedMessage(prepare.Tid, true, null, [], []));
        var ended = _bench.Finish(asked, "the one that got it");
        Rig.Aborted(ended, AbortReason.Application);
        Assert.Contains("this word is not good", ended.Abort!.Message, StringComparison.Ordinal);
    }

    /// <summary>The words for an input that does not fit ask the code of its types, which may throw anything.</summary>
    [Fact]
    public void An_input_from_another_worker_that_does_not_fit_ends_the_transaction_and_not_the_worker()
    {
        var near = new ActorKey("Unruly", "near");
        var root = _bench.Peer(2);
        _bench.Place(near, _bench.Self);
        var tid = TransactionId.Act(9, 2);
        var facts = new BranchFacts("r9", _bench.Time.GetUtcNow().Ticks, null, null);
        var input = """{"Kind":"1"}"""u8.ToArray();
        root.Send(new CallMessage(
            tid, tid, root.Life, ClusterBench.Box("far"), "Run", facts, 1, [], 1, near, "TakeLopsided", input));
        Assert.Null(_bench.Host.Failure);
        var failure = root.Single<ResultMessage>().Failure;
        Assert.Contains("input.Kind: planned, in a converter", failure?.Message, StringComparison.Ordinal);
    }

    public void Dispose() => _bench.Dispose();
}
