using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Node;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Membership;

/// <summary>
/// Notices workers that live by their leases and cannot be reached (R5). The master asks all of them now and then; others begin to when something that they have sent stays
/// unanswered. Whom to evict says the <see cref="FailureDetector"/>.
/// </summary>
internal sealed class Evictions(Worker worker, INode node, TimeSpan patience)
{
    private readonly FailureDetector _judge = new(new EvictionLimits((long)patience.TotalMilliseconds, Math.Max(1, (long)patience.TotalMilliseconds / 3)));
    private readonly List<PeerSight> _living = [];
    private readonly long _began = worker.Time.GetTimestamp();
    private TimeSpan? _askedAt;
    private Task<bool>? _ownRoad;
    private TimeSpan? _ownRoadAt;

    /// <summary>Looks at all who live, and asks them to answer.</summary>
    /// <param name="members">As they were read last.</param>
    /// <param name="isMaster">This worker is master.</param>
    /// <returns>Who should be evicted, if it has anything; valid until the next look.</returns>
    public IReadOnlyList<Incarnation> Look(IReadOnlyList<Member> members, bool isMaster)
    {
        var now = worker.Time.GetElapsedTime(_began);
        var hub = node.Gate.Hub;
        var watching = isMaster;
        _living.Clear();
        foreach (var member in members)
        {
            var peer = member.Incarnation;
            if (peer.Worker == node.Self.Worker || member.State != MemberState.Live)
            {
                continue;
            }

            var unanswered = SilenceOf(peer);
            watching |= unanswered > patience / 3;
            _living.Add(new PeerSight(peer, (long)unanswered.TotalMilliseconds, hub.Answered(peer.Worker) == peer));
        }

        if (watching && _living.Count > 0)
        {
            Ask(hub, now);
        }

        return _judge.Look((long)now.TotalMilliseconds, isMaster, now - _ownRoadAt < patience / 2, _living);
    }

    /// <summary>A life has not answered since a look said that it should be evicted.</summary>
    public bool IsSilent(Incarnation peer) => SilenceOf(peer) >= patience;

    /// <summary>
    /// One that takes too little for what it asks for is as good as silent: nothing else would ever end it.
    /// </summary>
    private TimeSpan SilenceOf(Incarnation peer)
    {
        var (unanswered, overfull) = (node.Gate.Hub.Unanswered(peer.Worker), node.Gate.Hub.Overfull(peer.Worker));
        return unanswered > overfull ? unanswered : overfull;
    }

    private void Ask(MailboxHub hub, TimeSpan now)
    {
        if (_ownRoad is { IsCompleted: true } tried)
        {
            // A transport may fail as it likes: it did not come back.
            _ownRoadAt = tried.IsCompletedSuccessfully && tried.Result ? now : _ownRoadAt;
            _ = tried.Exception;
            _ownRoad = null;
        }

        if (now - _askedAt < patience / 6)
        {
            return;
        }

        _askedAt = now;
        foreach (var peer in _living)
        {
            hub.RequestPacket(peer.Peer.Worker);
        }

        _ownRoad ??= Try(hub);
    }

    private async Task<bool> Try(MailboxHub hub)
    {
        // A transport that hangs must not be waited for for good.
        using var limit = new CancellationTokenSource(patience, worker.Time);
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(worker.Stopping, limit.Token);
        return await hub.TryOwnRoad(bound.Token).ConfigureAwait(false);
    }
}
