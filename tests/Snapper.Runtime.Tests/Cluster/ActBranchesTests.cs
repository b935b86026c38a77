using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Tests.Support;
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

    public void Dispose() => _bench.Dispose();
}
