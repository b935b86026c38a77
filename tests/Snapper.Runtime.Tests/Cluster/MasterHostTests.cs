using Snapper.Cluster.Mastering;
using Snapper.Cluster.Recovering;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Writing;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>L8: the decisions of earlier masters stay in the log until nobody can ask for them.</summary>
public sealed class MasterHostTests : IDisposable
{
    private static readonly BatchId Earlier = new(TransactionId.Global(1, 5).Value);
    private static readonly Incarnation Dead = new(4, 9);
    private readonly ClusterBench _bench = new();

    [Fact]
    public void Earlier_decisions_stay_until_all_who_live_have_markers_and_all_others_are_resolved()
    {
        var (two, three) = (_bench.Peer(2), _bench.Peer(3));
        var master = Take([two.Life, three.Life], [Dead], Earlier);
        Assert.True(master.KeepsEarlierDecisions);
        Told(master, two.Life);
        Told(master, two.Life);
        Assert.True(master.KeepsEarlierDecisions);
        _bench.On(() => master.OnGone(three.Life)); // it may have prepared what was decided, and whoever resolves its stream asks
        Told(master, three.Life with { Epoch = three.Life.Epoch + 1 }); // another life
        _bench.On(() => master.OnResolved(Dead));
        Assert.True(master.KeepsEarlierDecisions);
        _bench.On(() => master.OnResolved(three.Life));
        Assert.False(master.KeepsEarlierDecisions);
    }

    /// <summary>
    /// Its mailbox knows of a later life before the first executor does: then it is among neither the living nor the
    /// unresolved when the master begins, and is heard of right behind that.
    /// </summary>
    [Fact]
    public void A_life_that_ends_while_the_master_begins_may_still_have_to_ask()
    {
        var two = _bench.Peer(2);
        var master = Take([], [], Earlier);
        _bench.On(() => master.OnGone(two.Life));
        Assert.True(master.KeepsEarlierDecisions);
        _bench.On(() => master.OnResolved(two.Life));
        Assert.False(master.KeepsEarlierDecisions);
    }

    [Fact]
    public void A_life_that_the_directory_names_nowhere_is_resolved_for_the_master_too()
    {
        var master = Take([], [Dead], Earlier);
        _bench.On(() =>
        {
            _bench.Node.BeginMaster(master);
            _bench.Node.Gone.Add(Dead);
        });
        Assert.True(master.KeepsEarlierDecisions);
        _bench.On(() =>
        {
            _bench.Node.Gone.BeginReading();
            _bench.Node.Gone.EndReading();
        });
        Assert.False(master.KeepsEarlierDecisions);
    }

    [Fact]
    public void Where_nothing_was_decided_before_nothing_is_kept()
    {
        var master = Take([_bench.Self], [Dead]);
        _bench.On(() => master.OnGone(_bench.Peer(2).Life));
        Assert.False(master.KeepsEarlierDecisions);
    }

    [Fact]
    public void A_worker_has_markers_when_what_the_earlier_master_decided_is_durable()
    {
        var (old, next) = (_bench.Peer(2), _bench.Peer(3));
        _bench.Follow(old, 1);
        _bench.Until(() => old.All<MarkedMessage>().Count == 1, "nothing was decided before");
        _bench.Log.Fails = true;
        _bench.Submit("near", [Support.Step.Add()], "near"); // something that is not durable
        _bench.Follow(next, 2);
        Assert.Equal(new SettledMessage(2), next.Single<SettledMessage>());
        _bench.Advance(1000);
        Assert.Empty(next.All<MarkedMessage>());
        _bench.Log.Fails = false;
        _bench.Until(() => next.All<MarkedMessage>().Count == 1, "the log is there again");
        Assert.Equal(new MarkedMessage(2), next.Single<MarkedMessage>());
    }

    public void Dispose() => _bench.Dispose();

    private void Told(MasterHost master, Incarnation from) => _bench.On(() => master.OnMessage(from, new MarkedMessage(master.Epoch)));

    private MasterHost Take(IReadOnlyList<Incarnation> unfenced, IReadOnlyList<Incarnation> unresolved, params BatchId[] decided)
    {
        var seat = new MasterElection(_bench.Store, _bench.Time);
        Assert.True(_bench.Finish(seat.TryTake(CancellationToken.None), "taking the master's lease"));
        return new MasterHost(_bench.Node, _bench.Worker, seat.Held! with { Decided = [.. decided] }, unfenced, unresolved, new LogWriterOptions());
    }
}
