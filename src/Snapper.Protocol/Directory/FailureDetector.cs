using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>What a worker sees of another one whose lease lives.</summary>
/// <param name="Peer">The life that is registered.</param>
/// <param name="UnansweredMs">For how long it has answered nothing, since something was first sent to it; 0: it has answered all that it was sent.</param>
/// <param name="HasAnswered">This life has answered before: it was there, and the road to it worked.</param>
public readonly record struct PeerSight(Incarnation Peer, long UnansweredMs, bool HasAnswered);

/// <summary>When a worker is evicted, in milliseconds.</summary>
/// <param name="PatienceMs">For how long it must not be reached by the master (R5). 100 or more.</param>
/// <param name="LongestGapMs">Looks that are further apart than this show that whoever looks was stalled itself. Below the patience.</param>
public sealed record EvictionLimits(long PatienceMs = 3000, long LongestGapMs = 1000)
{
    /// <summary>Throws when a limit is out of range, naming it.</summary>
    public void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(PatienceMs, 100);
        ArgumentOutOfRangeException.ThrowIfLessThan(LongestGapMs, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(LongestGapMs, PatienceMs);
    }
}

/// <summary>
/// Says whom this worker should evict (R5): workers whose leases live and that it cannot reach. Evicting is always safe, because a fence makes it so; this sees to it that it
/// happens to the right one.
/// </summary>
/// <remarks>
/// <para>Silence counts only while this worker was well itself: its looks came in time (a machine that stalls stalls them, too), and what it sent to itself by the same road
/// came back (else its own end of the road is what is broken). After either it begins anew.</para>
/// <para>It evicts nobody unless it reaches at least half of all that live, itself counted: who is cut off from most is the one to go, and is evicted by them.</para>
/// <para>The master judges first; others wait twice as long. So of two workers that cannot reach each other the master stays and only one goes; the other one evicts the
/// master only when the master, who reaches it, sees no reason to act. A life that has never answered is given five times as long: a worker is known to its sidecar, and that
/// to others, some time after it has registered.</para>
/// <para>Time is told, in milliseconds of any clock that does not jump.</para>
/// </remarks>
public sealed class FailureDetector
{
    private const int PatienceOfOthers = 2;
    private const int PatienceWithNewLives = 5;

    private readonly EvictionLimits _limits;
    private readonly SortedDictionary<int, Silence> _silent = [];
    private readonly List<Incarnation> _evicted = [];
    private readonly List<int> _over = [];
    private long? _lastMs;

    /// <param name="limits">When.</param>
    public FailureDetector(EvictionLimits limits)
    {
        ArgumentNullException.ThrowIfNull(limits);
        limits.Validate();
        _limits = limits;
    }

    /// <summary>How often this worker was found to have stalled itself while somebody was silent.</summary>
    public long Stalls { get; private set; }

    /// <summary>Looks at all others whose leases live.</summary>
    /// <param name="nowMs">Not before the last look.</param>
    /// <param name="isMaster">This worker is master.</param>
    /// <param name="ownRoadAnswers">What it sent to itself came back lately.</param>
    /// <param name="living">The others, each worker once.</param>
    /// <returns>Whom to evict, by number; valid until the next look. Those who are named are named again at each look until they are not there, or answer.</returns>
    public IReadOnlyList<Incarnation> Look(long nowMs, bool isMaster, bool ownRoadAnswers, IReadOnlyList<PeerSight> living)
    {
        ArgumentNullException.ThrowIfNull(living);
        var gap = nowMs - (_lastMs ?? nowMs);
        ArgumentOutOfRangeException.ThrowIfNegative(gap, nameof(nowMs));
        _lastMs = nowMs;
        _evicted.Clear();
        ForgetThoseWhoAreGone(living);
        if (gap > _limits.LongestGapMs || !ownRoadAnswers)
        {
            Stalls += gap > _limits.LongestGapMs && _silent.Count > 0 ? 1 : 0;
            _silent.Clear();
            return _evicted;
        }

        var reached = 1;
        foreach (var peer in living)
        {
            var silentMs = Note(peer, gap);
            reached += silentMs < _limits.PatienceMs / 3 ? 1 : 0;
            var patience = _limits.PatienceMs * (isMaster ? 1 : PatienceOfOthers) * (peer.HasAnswered ? 1 : PatienceWithNewLives);
            if (silentMs >= patience)
            {
                _evicted.Add(peer.Peer);
            }
        }

        if (2 * reached < living.Count + 1)
        {
            _evicted.Clear();
        }

        _evicted.Sort(static (one, other) => one.Worker.CompareTo(other.Worker));
        return _evicted;
    }

    private long Note(in PeerSight peer, long gap)
    {
        if (peer.UnansweredMs <= 0)
        {
            _silent.Remove(peer.Peer.Worker);
            return 0;
        }

        // It may have answered between two looks, and be silent since: no longer than it says itself.
        var before = _silent.TryGetValue(peer.Peer.Worker, out var known) && known.Peer == peer.Peer ? known.Ms + gap : 0;
        var silentMs = Math.Min(before, peer.UnansweredMs);
        _silent[peer.Peer.Worker] = new Silence(peer.Peer, silentMs);
        return silentMs;
    }

    private void ForgetThoseWhoAreGone(IReadOnlyList<PeerSight> living)
    {
        _over.Clear();
        foreach (var (worker, _) in _silent)
        {
            var lives = false;
            for (var i = 0; i < living.Count && !lives; i++)
            {
                lives = living[i].Peer.Worker == worker;
            }

            if (!lives)
            {
                _over.Add(worker);
            }
        }

        foreach (var worker in _over)
        {
            _silent.Remove(worker);
        }
    }

    private readonly record struct Silence(Incarnation Peer, long Ms);
}
