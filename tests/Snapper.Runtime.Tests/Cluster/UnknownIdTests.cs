using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>"Nothing is known of this id" is said only when everybody was asked who may know it (I2).</summary>
public sealed class UnknownIdTests : IDisposable
{
    private readonly ClusterBench _bench = new();
    private readonly BenchPeer _two;
    private readonly BenchPeer _three;

    public UnknownIdTests()
    {
        _two = _bench.Peer(2);
        _three = _bench.Peer(3);
        _bench.Node.Members = () => [_bench.Self, _two.Life, _three.Life];
    }

    [Fact]
    public void It_is_said_when_all_have_said_that_they_know_nothing()
    {
        var found = Find();
        Answer(_two, null);
        Assert.False(found.IsCompleted);
        Answer(_three, null);
        Assert.Null(_bench.Finish(found, "the answer"));
    }

    [Fact]
    public void One_that_knows_is_enough()
    {
        var found = Find();
        Answer(_three, new TransactionEnvelope { Id = "unknown", Outcome = Outcome.Committed, Mode = TransactionMode.Act });
        Assert.Equal(Outcome.Committed, _bench.Finish(found, "the answer")?.Outcome);
    }

    [Fact]
    public void It_is_not_said_when_one_has_not_answered()
    {
        var found = Find();
        Answer(_two, null);
        _bench.Advance(900);
        Assert.False(found.IsCompleted);
        NobodyKnowsYet(found);
    }

    [Fact]
    public void Nor_when_the_life_of_one_is_over_before_it_has_answered()
    {
        var found = Find();
        Answer(_two, null);
        _bench.On(() => _bench.Node.Door.OnGone(_three.Life));
        NobodyKnowsYet(found);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Nor_while_what_a_dead_worker_owned_is_not_given_on(bool isSingle)
    {
        var actor = ClusterBench.Box("x");
        _bench.Place(isSingle ? DirectoryKey.Of(actor, Partition.Of(actor)) : DirectoryKey.Of(Partition.Of(actor)), _three.Life);
        _bench.Node.Members = () => [_bench.Self, _two.Life];
        var found = Find();
        Answer(_two, null);
        NobodyKnowsYet(found);

        _bench.Node.Members = () => [_bench.Self, _two.Life, _three.Life];
        found = Find();
        Answer(_two, null);
        Answer(_three, null);
        Assert.Null(_bench.Finish(found, "the answer"));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Nor_when_what_a_dead_worker_owned_is_given_on_behind_the_question(int gaining)
    {
        var key = DirectoryKey.Of(Partition.Of(ClusterBench.Box("x")));
        _bench.Place(key, _three.Life);
        _bench.Node.Members = () => [_bench.Self, _two.Life];
        var found = Find();
        _bench.Place(key, gaining == 1 ? _bench.Self : _two.Life);
        Answer(_two, null);
        NobodyKnowsYet(found);
    }

    [Fact]
    public void Nor_when_its_owner_was_not_asked_because_it_was_not_known_to_live()
    {
        _bench.Node.Members = () => [_bench.Self, _two.Life];
        var found = Find();
        _bench.Place(DirectoryKey.Of(Partition.Of(ClusterBench.Box("x"))), _three.Life);
        _bench.Node.Members = () => [_bench.Self, _two.Life, _three.Life];
        Answer(_two, null);
        NobodyKnowsYet(found);
    }

    /// <summary>It was evicted, or its machine stood still with its clock; its lease seems to live.</summary>
    [Fact]
    public void Nor_by_one_whose_log_is_not_its_own_any_more()
    {
        _bench.Node.Members = () => [_bench.Self];
        _bench.Shared.Log(_bench.Self.Worker).Epoch++;
        var answer = _bench.Finish(Find(), "the answer");
        Assert.Equal(Outcome.Rejected, answer?.Outcome);
    }

    [Fact]
    public void One_that_cannot_look_now_does_not_keep_another_from_saying_what_it_knows()
    {
        var found = Find();
        Answer(_two, Unreachable());
        Assert.False(found.IsCompleted);
        Answer(_three, new TransactionEnvelope { Id = "unknown", Outcome = Outcome.Committed });
        Assert.Equal(Outcome.Committed, _bench.Finish(found, "the answer")?.Outcome);

        found = Find();
        Answer(_two, Unreachable());
        Answer(_three, null);
        NobodyKnowsYet(found);
    }

    public void Dispose() => _bench.Dispose();

    private static TransactionEnvelope Unreachable() => new()
    {
        Id = "unknown",
        Outcome = Outcome.Rejected,
        Rejection = new Rejection(RejectionKind.Unavailable, "The log cannot be reached."),
    };

    private Task<TransactionEnvelope?> Find()
    {
        Task<TransactionEnvelope?>? found = null;
        ClusterBench.Alone(() => found = _bench.Host.Door.Find("unknown", CancellationToken.None));
        _bench.Run();
        return found!;
    }

    private static void Answer(BenchPeer peer, TransactionEnvelope? known) => peer.Send(new SubmittedMessage(peer.All<FindOutcomeMessage>()[^1].Handle, known));

    private void NobodyKnowsYet(Task<TransactionEnvelope?> found)
    {
        var answer = _bench.Finish(found, "the answer");
        Assert.Equal((Outcome.Rejected, RejectionKind.Unavailable), (answer?.Outcome, answer?.Rejection?.Kind));
        Assert.Equal("Nothing is known of this id yet, but a worker that may know it cannot be asked now.", answer!.Rejection!.Detail);
    }
}
