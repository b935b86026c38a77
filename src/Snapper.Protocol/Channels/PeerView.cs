using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Channels;

/// <summary>What has become of a peer, or of this worker in a peer's eyes.</summary>
public enum PeerNoticeKind : byte
{
    /// <summary>A life of the peer is known; messages from it and to it pass from now on.</summary>
    Up,

    /// <summary>A life of the peer is over: nothing comes from it any more, and what was queued for it is dropped.</summary>
    Gone,

    /// <summary>The peer knows a later life of this worker: this one is fenced, or the peer is wrong. The log decides.</summary>
    OwnLifeIsOver,
}

/// <summary>Something that the owner of a channel must hear, in this order.</summary>
/// <param name="Kind">What.</param>
/// <param name="Peer">Which life of the peer; with <see cref="PeerNoticeKind.OwnLifeIsOver"/> the life of this worker that is known to the peer.</param>
public readonly record struct PeerNotice(PeerNoticeKind Kind, Incarnation Peer);

/// <summary>
/// Which life of a peer is the current one, as far as is known here: both directions of a channel look at it, so that they change together. Epochs only
/// grow (R4): a higher one, wherever it was heard of, means that the lower one is fenced.
/// </summary>
public sealed class PeerView
{
    private readonly Queue<PeerNotice> _notices = new();
    private bool _ownLifeIsOver;

    /// <param name="worker">Number of the peer.</param>
    public PeerView(int worker)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(worker, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(worker, TransactionId.WorkerLimit);
        Worker = worker;
    }

    /// <summary>Number of the peer.</summary>
    public int Worker { get; }

    /// <summary>The current life; nobody while none is known.</summary>
    public Incarnation Known { get; private set; }

    /// <summary>Lowest epoch that is not over.</summary>
    public long Lowest { get; private set; } = 1;

    /// <summary>Whether somebody has to be told something.</summary>
    public bool HasNotices => _notices.Count > 0;

    /// <summary>A life would end the one that is known, if it were believed.</summary>
    public bool IsLater(Incarnation life) => life.Worker == Worker && life.Epoch >= Lowest && life != Known;

    /// <summary>A life of the peer was heard of.</summary>
    /// <returns>True: it is later than what was known, and is the current one now.</returns>
    public bool Learn(Incarnation life)
    {
        Check(life);
        if (life.Epoch < Lowest || life == Known)
        {
            return false;
        }

        End();
        Known = life;
        Lowest = life.Epoch;
        _notices.Enqueue(new PeerNotice(PeerNoticeKind.Up, life));
        return true;
    }

    /// <summary>A life of the peer was fenced (R4, R5): it and all before it are over, though no later one may be known yet.</summary>
    public void Retire(Incarnation life)
    {
        Check(life);
        if (life.Epoch < Lowest)
        {
            return;
        }

        End();
        Lowest = life.Epoch + 1;
    }

    /// <summary>The peer has said that it knows a later life of this worker.</summary>
    public void OwnLifeIsOver(Incarnation later)
    {
        if (!_ownLifeIsOver)
        {
            _ownLifeIsOver = true;
            _notices.Enqueue(new PeerNotice(PeerNoticeKind.OwnLifeIsOver, later));
        }
    }

    /// <summary>The next thing to tell; false: nothing.</summary>
    public bool TryTakeNotice(out PeerNotice notice) => _notices.TryDequeue(out notice);

    private void End()
    {
        if (!Known.IsNone)
        {
            _notices.Enqueue(new PeerNotice(PeerNoticeKind.Gone, Known));
            Known = default;
        }
    }

    private void Check(Incarnation life)
    {
        if (life.Worker != Worker || life.Epoch < 1)
        {
            throw new ArgumentException($"{life} is no life of worker w{Worker}.", nameof(life));
        }
    }
}
