using Snapper.Cluster.Wire;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Requests whose root another worker owns, and what becomes of them when that one dies (I2 to I4).</summary>
public sealed class PassedOnTests : IDisposable
{
    private readonly ClusterBench _bench = new();

    [Fact]
    public async Task One_that_comes_back_has_the_time_that_is_left()
    {
        var two = _bench.Peer(2);
        _bench.Place(ClusterBench.Box("x"), two.Life);
        using var gate = new Gate();
        var asked = _bench.Submit("x", [Step.Wait(gate)]); // 30 s
        Assert.Equal(30_000, two.Single<SubmitMessage>().Request.Timeout.TotalMilliseconds);

        _bench.Advance(20_000);
        _bench.Place(ClusterBench.Box("x"), _bench.Self);
        _bench.On(() => _bench.Node.Door.OnGone(two.Life));
        _bench.Advance(9_900);
        Assert.False(asked.IsCompleted);
        _bench.Until(() => asked.IsCompleted, "it has run out of time", 500);
        Assert.Equal(AbortReason.Timeout, (await asked).Abort?.Reason);
    }

    [Fact]
    public void One_that_was_passed_on_twice_and_may_have_run_is_in_doubt_for_the_worker_that_made_its_id()
    {
        var (two, three) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("x"), three.Life);
        two.Send(new SubmitMessage(7, 0, Request("w2-1-0-p1")));
        Assert.Equal("w2-1-0-p1", three.Single<SubmitMessage>().Request.Id);

        _bench.Node.Gate.Hub.Retire(three.Life); // it may have committed; its log is not read
        _bench.Until(() => two.All<SubmittedMessage>().Count > 0, "the worker that passed it on first has its answer");
        var envelope = two.Single<SubmittedMessage>().Envelope!;
        Assert.Equal((Outcome.InDoubt, null), (envelope.Outcome, envelope.Rejection));
    }

    [Fact]
    public void One_that_another_worker_passes_on_counts_here_until_it_is_answered()
    {
        var (two, three) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Place(ClusterBench.Box("x"), three.Life);
        var bytes = _bench.Worker.Bytes;
        two.Send(new SubmitMessage(7, 0, Request("a")));
        Assert.Equal(ByteBudget.OfRequest + 4, bytes.Used);

        bytes.Closed = "There is no memory.";
        two.Send(new SubmitMessage(8, 0, Request("b")));
        _bench.Until(() => two.All<SubmittedMessage>().Count == 1, "it is refused");
        var refused = two.Single<SubmittedMessage>();
        Assert.Equal((8, RejectionKind.Overloaded), (refused.Handle, refused.Envelope!.Rejection!.Kind));

        _bench.Node.Gate.Hub.Retire(three.Life);
        _bench.Until(() => two.All<SubmittedMessage>().Count == 2, "what is under way ends");
        _bench.Until(() => bytes.Used == 0, "it is given back");
    }

    public void Dispose() => _bench.Dispose();

    private static TransactionRequest Request(string id) => new()
    {
        Actor = ClusterBench.Box("x"),
        Method = "Run",
        Input = "null"u8.ToArray(),
        Mode = TransactionMode.Act,
        Id = id,
        Timeout = TimeSpan.FromSeconds(5),
    };
}
