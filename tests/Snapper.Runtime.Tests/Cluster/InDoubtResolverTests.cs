using Snapper.Cluster.Recovering;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// R2: what became of what is prepared in a stream that is recovered. Always fence before reading absence.
/// </summary>
public sealed class InDoubtResolverTests : IDisposable
{
    private static readonly BatchId A = new(TransactionId.Global(1, 1).Value);
    private static readonly BatchId B = new(TransactionId.Global(1, 2).Value);
    private static readonly TransactionId Act = TransactionId.Act(1, 2);
    private static readonly TransactionId Other = TransactionId.Act(2, 2);
    private readonly ClusterBench _bench = new();
    private readonly MasterElection _seat;
    private readonly InDoubtResolver _resolver;

    public InDoubtResolverTests()
    {
        _seat = new MasterElection(_bench.Store, _bench.Time);
        _resolver = new InDoubtResolver(_bench.Node.Gate, _bench.Store, _seat, _bench.Time);
    }

    [Fact]
    public void The_master_is_asked_for_batches_and_its_verdicts_are_given_in_the_order_of_the_question()
    {
        var master = _bench.Peer(2);
        Take(master);
        var resolving = Resolve(Prepared(A), Prepared(B));
        Assert.Equal(new OutcomeQueryMessage(A.Value, default), master.Single<OutcomeQueryMessage>());
        master.Send(new VerdictMessage(A.Value, false));
        Assert.False(resolving.IsCompleted); // nothing may open before all are known
        master.Send(new VerdictMessage(B.Value, true));
        Assert.Equal([false, true], _bench.Finish(resolving, "the verdicts"));
    }

    [Fact]
    public void A_master_that_does_not_answer_is_asked_until_the_patience_is_over()
    {
        var master = _bench.Peer(2);
        var taken = Take(master);
        var resolving = Resolve(TimeSpan.FromSeconds(8), Prepared(A));
        for (var i = 0; i < 8; i++)
        {
            Assert.False(resolving.IsCompleted);
            KeepAlive(master, taken);
        }

        KeepAlive(master, taken);
        Assert.Throws<UnsettledException>(() => _bench.Finish(resolving, "the verdict", 0));
    }

    [Fact]
    public void The_patience_begins_anew_when_the_store_is_back()
    {
        var master = _bench.Peer(2);
        var taken = Take(master);
        var resolving = Resolve(TimeSpan.FromSeconds(3), Prepared(A));
        KeepAlive(master, taken);
        KeepAlive(master, taken);
        _bench.Store.Before = FaultyStore.Failing(nameof(IMasterLease.Read));
        KeepAlive(master, taken);
        KeepAlive(master, taken);
        _bench.Store.Before = null;
        KeepAlive(master, taken);
        KeepAlive(master, taken);
        Assert.False(resolving.IsCompleted);
        KeepAlive(master, taken);
        KeepAlive(master, taken);
        Assert.Throws<UnsettledException>(() => _bench.Finish(resolving, "the verdict", 0));
    }

    [Fact]
    public void A_rescuer_asks_for_as_long_as_the_master_holds_its_lease()
    {
        var master = _bench.Peer(2);
        var taken = Take(master);
        var resolving = Resolve(Prepared(A));
        for (var i = 0; i < 10; i++)
        {
            KeepAlive(master, taken);
        }

        Assert.False(resolving.IsCompleted);
        Assert.True(master.All<OutcomeQueryMessage>().Count > 5);
        master.Send(new VerdictMessage(A.Value, true));
        Assert.Equal([true], _bench.Finish(resolving, "the verdict"));
    }

    [Fact]
    public void Without_a_master_this_worker_takes_the_lease_and_reads_what_was_decided_under_it()
    {
        var master = _bench.Peer(2);
        var taken = Take(master);
        var decision = Group(taken.Opening, new Decision { Global = A });
        Assert.Equal(AppendStatus.Appended, _bench.Finish(decision(taken.Log), "the decision").Status);
        _bench.Finish(master.Store.Master.Release(taken.MasterEpoch, CancellationToken.None), "giving the lease up");
        Assert.Equal([true, false], _bench.Finish(Resolve(Prepared(A), Prepared(B)), "the verdicts"));
        Assert.NotNull(_seat.Held);
        Assert.Empty(master.Heard);

        // The old master cannot decide what was found to be absent.
        var late = Group(taken.Opening with { NextSequence = taken.Opening.NextSequence + 1 }, new Decision { Global = B });
        Assert.Equal(AppendStatus.Fenced, _bench.Finish(late(taken.Log), "a late decision").Status);
    }

    [Fact]
    public void A_stream_of_decisions_in_which_records_are_missing_says_nothing()
    {
        var master = _bench.Peer(2);
        var taken = Take(master);
        for (var i = 0; i < 3; i++)
        {
            var batch = i == 1 ? A : new BatchId(TransactionId.Global(1, 10 + i).Value);
            var decision = Group(taken.Opening with { NextSequence = i + 1 }, new Decision { Global = batch });
            Assert.Equal(AppendStatus.Appended, _bench.Finish(decision(taken.Log), "the decision").Status);
        }

        _bench.Finish(master.Store.Master.Release(taken.MasterEpoch, CancellationToken.None), "giving the lease up");
        _bench.Shared.MasterLog().Groups.RemoveAt(1);
        Assert.Throws<CorruptLogException>(() => _bench.Finish(Resolve(Prepared(A)), "the verdict"));
        Assert.Null(_seat.Held);
    }

    [Fact]
    public void A_master_that_this_worker_is_itself_decides_at_once()
    {
        var seat = _bench.Lead();
        var resolver = new InDoubtResolver(_bench.Node.Gate, _bench.Store, seat, _bench.Time);
        var own = new BatchId(TransactionId.Global(seat.Held!.Mastership.MasterEpoch, 9).Value); // of its own time: its coordinator knows
        var verdicts = _bench.Finish(resolver.Resolve([Prepared(own)], null, CancellationToken.None), "the verdict", 0);
        Assert.Equal([false], verdicts);
    }

    [Fact]
    public void While_the_store_is_away_it_goes_on_asking()
    {
        var master = _bench.Peer(2);
        Take(master);
        _bench.Store.Before = FaultyStore.Failing(nameof(IMasterLease.Read));
        var resolving = Resolve(Prepared(A));
        _bench.Advance(1000);
        Assert.False(resolving.IsCompleted);
        Assert.Empty(master.Heard);
        _bench.Store.Before = null;
        _bench.Until(() => master.Heard.Count > 0, "the master is asked", 1000);
        master.Send(new VerdictMessage(A.Value, true));
        Assert.Equal([true], _bench.Finish(resolving, "the verdict"));
    }

    [Fact]
    public void What_is_wrong_with_the_store_is_not_asked_again()
    {
        _bench.Store.Before = _ => Task.FromException(new InvalidOperationException("planned"));
        Assert.Throws<InvalidOperationException>(() => _bench.Finish(Resolve(Prepared(A)), "the verdict"));
    }

    [Fact]
    public void The_roots_worker_is_asked_for_an_ACT()
    {
        var root = _bench.Peer(2);
        var resolving = Resolve(Voted(Act, root.Life), Voted(Other, root.Life));
        Assert.Equal(new OutcomeQueryMessage(Act.Value, root.Life), root.Single<OutcomeQueryMessage>());
        root.Send(new VerdictMessage(Act.Value, true));
        root.Send(new VerdictMessage(Other.Value, false));
        Assert.Equal([true, false], _bench.Finish(resolving, "the verdicts"));
    }

    [Fact]
    public void A_later_life_of_the_roots_worker_is_asked_what_the_earlier_one_decided()
    {
        var root = _bench.Peer(2);
        var next = _bench.Peer(2);
        var resolving = Resolve(Voted(Act, root.Life));
        Assert.Equal(new OutcomeQueryMessage(Act.Value, root.Life), next.Single<OutcomeQueryMessage>());
        next.Send(new VerdictMessage(Act.Value, true));
        Assert.Equal([true], _bench.Finish(resolving, "the verdict"));
    }

    [Fact]
    public void The_stream_of_a_dead_root_is_fenced_and_read()
    {
        var root = _bench.Peer(2);
        var log = new Snapper.Storage.Memory.MemoryTransactionLog(_bench.Shared.Log(2));
        var opening = new LogOpening(root.Life.Epoch, 1, 1, default);
        Assert.Equal(AppendStatus.Appended, _bench.Finish(Group(opening, Committed(Act, 1), Committed(TransactionId.Act(3, 2)))(log), "what it had decided").Status);
        var resolving = Resolve(Voted(Act, root.Life), Voted(Other, root.Life), Voted(TransactionId.Act(3, 2), root.Life));
        _bench.Advance(500);
        Assert.NotEmpty(root.Heard); // it lives, as far as anybody knows
        Assert.False(resolving.IsCompleted);
        Assert.Equal([true, false, false], _bench.Finish(resolving, "the verdicts")); // the third was its own alone: nobody else has a part in it

        // It cannot decide what was found to be absent.
        var late = Group(opening with { NextSequence = 3 }, Committed(Other, 1));
        Assert.Equal(AppendStatus.Fenced, _bench.Finish(late(log), "a late decision").Status);
    }

    [Fact]
    public void What_was_asked_in_vain_is_forgotten_when_it_is_known_otherwise()
    {
        var root = _bench.Peer(2);
        var resolving = Resolve(Voted(Act, root.Life), Voted(Other, root.Life));
        _bench.Advance(500);
        Assert.Equal(1, _bench.Node.Gate.OpenQuestions);
        Assert.Equal([false, false], _bench.Finish(resolving, "the verdicts")); // its stream says so
        Assert.Equal(0, _bench.Node.Gate.OpenQuestions);
    }

    /// <summary>For what is in no stream any more, no worker will ask (L8).</summary>
    [Fact]
    public void What_a_stream_says_takes_the_place_of_what_it_said_before()
    {
        var gate = _bench.Node.Gate;
        for (var life = 2; life < 100; life++)
        {
            gate.Read(2, life, [TransactionId.Act(life, 2), TransactionId.Act(life + 1, 2)]);
        }

        gate.Read(2, 50, [TransactionId.Act(50, 2)]); // a reading that is overtaken by a later one
        gate.Read(3, 7, [TransactionId.Act(8, 3)]);
        Assert.Equal(3, gate.DecisionsRead);
        Assert.Equal([true, false, true, null], new[]
        {
            gate.Decided(TransactionId.Act(100, 2), new(2, 98)),
            gate.Decided(TransactionId.Act(50, 2), new(2, 49)),
            gate.Decided(TransactionId.Act(8, 3), new(3, 6)),
            gate.Decided(TransactionId.Act(8, 3), new(3, 7)),
        });
    }

    /// <summary>What is missing in a stream may be the decision itself: its absence says nothing.</summary>
    [Theory]
    [InlineData(1)] // in the middle
    [InlineData(2)] // at the end
    public void A_stream_of_a_dead_root_in_which_records_are_missing_says_nothing(int missing)
    {
        var root = _bench.Peer(2);
        var storage = _bench.Shared.Log(2);
        var log = new Snapper.Storage.Memory.MemoryTransactionLog(storage);
        for (var i = 0; i < 3; i++)
        {
            var act = i == missing ? Act : TransactionId.Act(3 + i, 2);
            var group = Group(new LogOpening(root.Life.Epoch, i + 1, 1, default), Committed(act, 1));
            Assert.Equal(AppendStatus.Appended, _bench.Finish(group(log), "what it had decided").Status);
        }

        storage.Groups.RemoveAt(missing);
        Assert.Throws<CorruptLogException>(() => _bench.Finish(Resolve(Voted(Act, root.Life)), "the verdict"));
    }

    [Fact]
    public void The_rescuer_of_a_dead_root_is_asked_while_it_is_at_it()
    {
        var (root, rescuer) = (_bench.Peer(2), _bench.Peer(3));
        Assert.True(_bench.Finish(rescuer.Store.Members.Fence(root.Life, FenceWhen.Always, CancellationToken.None), "the fence").IsDone);
        var epoch = EpochOf(2);
        var resolving = Resolve(Voted(Act, root.Life));
        Assert.Equal(new OutcomeQueryMessage(Act.Value, root.Life), rescuer.Single<OutcomeQueryMessage>());
        _bench.Advance(1500);
        Assert.False(resolving.IsCompleted);
        Assert.Equal(epoch, EpochOf(2)); // it is not fenced under the rescuer's hands
        rescuer.Send(new VerdictMessage(Act.Value, true));
        Assert.Equal([true], _bench.Finish(resolving, "the verdict"));
    }

    [Fact]
    public void A_rescuer_that_died_too_is_not_waited_for()
    {
        var (root, rescuer) = (_bench.Peer(2), _bench.Peer(3));
        Assert.True(_bench.Finish(rescuer.Store.Members.Fence(root.Life, FenceWhen.Always, CancellationToken.None), "the fence").IsDone);
        var epoch = EpochOf(2);
        Assert.Equal([false], _bench.Finish(Resolve(Voted(Act, root.Life)), "the verdict"));
        Assert.True(EpochOf(2) > epoch);
    }

    [Fact]
    public void What_an_earlier_life_of_this_worker_had_decided_it_knows_itself()
    {
        var before = _bench.Self;
        _bench.Worker.Log.Enqueue(Committed(Act, 2));
        _bench.Run();
        _bench.Restart();
        Assert.Equal([true, false], _bench.Finish(_bench.Node.Doubts.Resolve([Voted(Act, before), Voted(Other, before)], null, CancellationToken.None), "the verdicts"));
    }

    [Fact]
    public void A_record_that_is_final_is_in_no_doubt() =>
        Assert.Throws<ArgumentException>(() => _bench.Finish(Resolve(new InDoubt(Committed(Act, 2), 1)), "the verdict"));

    [Fact]
    public void It_can_be_given_up()
    {
        Take(_bench.Peer(2));
        using var given = new CancellationTokenSource();
        var resolving = _resolver.Resolve([Prepared(A)], null, given.Token);
        _bench.Advance(10);
        _bench.On(given.Cancel);
        Assert.ThrowsAny<OperationCanceledException>(() => _bench.Finish(resolving, "the verdict"));
    }

    public void Dispose() => _bench.Dispose();

    private static InDoubt Prepared(BatchId batch) => new(
        new Prepared { Global = batch, Batch = new BatchId(1), LastTransaction = new TransactionId(1), Changes = [], Outcomes = [] }, 1);

    private static InDoubt Voted(TransactionId act, Incarnation root) => new(new ActPrepared { Transaction = act, Root = root, Changes = [] }, 1);

    private static ActCommitted Committed(TransactionId act, params int[] others) => new() { Transaction = act, Changes = [], Participants = others, Outcome = null };

    private void KeepAlive(BenchPeer master, Mastership taken)
    {
        _bench.Advance(1000);
        Renew(master);
        _bench.Finish(master.Store.Master.Renew(taken.MasterEpoch, CancellationToken.None), "renewing");
    }

    private Task<bool[]> Resolve(params InDoubt[] doubts) => Resolve(null, doubts);

    private Task<bool[]> Resolve(TimeSpan? patience, params InDoubt[] doubts)
    {
        var resolving = _resolver.Resolve(doubts, patience, CancellationToken.None);
        _bench.Run();
        return resolving;
    }

    private Mastership Take(BenchPeer master)
    {
        var taken = _bench.Finish(master.Store.Master.Take(CancellationToken.None), "taking the master's lease");
        Assert.True(taken.IsDone, taken.Detail);
        return taken.Value!;
    }

    private void Renew(BenchPeer peer)
    {
        var renewed = _bench.Finish(peer.Store.Members.Renew("", 0, CancellationToken.None), "renewing");
        Assert.True(renewed.IsDone, renewed.Detail);
    }

    private long EpochOf(int worker) =>
        _bench.Finish(_bench.Store.Members.Read(CancellationToken.None), "reading the members").Single(member => member.Incarnation.Worker == worker).CurrentEpoch;

    /// <summary>Appends records as one group, when it is called.</summary>
    private static Func<ITransactionLog, Task<AppendResult>> Group(LogOpening opening, params LogRecord[] records) => async log =>
    {
        var heard = new Hears();
        await using var writer = new LogWriter(log, opening, heard, new LogWriterOptions(), TimeProvider.System);
        foreach (var record in records)
        {
            writer.Enqueue(record);
        }

        return new AppendResult(heard.Lost ?? AppendStatus.Appended);
    };

    private sealed class Hears : ILogObserver
    {
        public AppendStatus? Lost { get; private set; }

        public void Flushed(long ticket)
        {
        }

        public void Unavailable(string detail)
        {
        }

        public void Available()
        {
        }

        void ILogObserver.Lost(AppendStatus status, string detail) => Lost = status;
    }
}
