using Snapper.Protocol.Coordination;

namespace Snapper.Runtime.Execution;

/// <summary>
/// ACTs that wait for their start on an executor: those of one caller in the order of their coming, and the callers in
/// turn. A start waits behind the messages of those under way, so for a start a <em>turn</em> is queued among them, and
/// while several callers are about, one turn at a time: messages wait for one start at most, however many wait. Then
/// one has its share of the executor's time, or as much as another, if that is more: behind a start that took long its
/// caller pauses.
/// Not thread-safe: the executor's lock guards it.
/// </summary>
/// <param name="share">Part of the time that one caller of several may have, above 0 to 1.</param>
/// <param name="frequency">Ticks of the clock per second.</param>
internal sealed class WaitingStarts(double share, long frequency)
{
    /// <summary>
    /// Turns that are queued at most while one caller alone is about. Whose they are shows when they come, so that
    /// another caller does not wait for them; starts behind each other share what they cause.
    /// </summary>
    internal const int TurnsAlone = 64;

    // As long as that a caller may be ahead of its share: a pause is no shorter than a timer takes.
    private readonly long _slack = 4 * frequency / 1000;

    // Longest pause, unless the last start alone took more. What would be longer is forgiven to all: who has had more
    // than another still has.
    private readonly long _longest = 2 * frequency;

    private readonly CallerLanes<WorkItem> _lanes = new();

    // Who has had most of the time, of all: until when it pauses, and the one behind it.
    private CallerLanes<WorkItem>.Lane? _first;
    private string? _firstCaller; // a lane that is forgotten becomes another one's
    private long _firstUntil;
    private long _secondUntil;

    private int _most = TurnsAlone;
    private int _turns;
    private long _forgiven; // pauses end in a time of their own, which is so much ahead

    /// <summary>Starts that wait.</summary>
    public int Count => _lanes.Count;

    /// <summary>Callers of whom something is kept.</summary>
    public int Callers => _lanes.Named;

    /// <summary>Starts of several callers wait.</summary>
    public bool AreOfSeveral => _lanes.Waiting > 1;

    /// <summary>Whose turn it is; null: an unknown one's, or none waits.</summary>
    public string? NextCaller => _lanes.Count == 0 ? null : _lanes.Current.Caller;

    /// <summary>Adds a start; turns are queued next.</summary>
    public void Add(in WorkItem start) => _lanes.Add(start.Request.Asked.CountedFor, start);

    /// <summary>Counts one more turn, if more are wanted than are queued.</summary>
    /// <returns>True: it must be queued.</returns>
    public bool TryAddTurn()
    {
        if (_turns >= Math.Min(_most, _lanes.Count))
        {
            return false;
        }

        _turns++;
        return true;
    }

    /// <summary>A turn has come: takes the start whose it is.</summary>
    /// <param name="now">Timestamp.</param>
    /// <param name="isContested">Several callers are about.</param>
    /// <param name="start">The start.</param>
    /// <param name="served">Whose it is, for <see cref="Charge"/>; null: its time need not be measured.</param>
    /// <returns>0: there is one; -1: none waits; else for so many ticks all that wait pause.</returns>
    public long Take(long now, bool isContested, out WorkItem start, out CallerLanes<WorkItem>.Lane? served)
    {
        _turns--;
        (start, served) = (default, null);
        if (_lanes.Count == 0)
        {
            return -1;
        }

        now += _forgiven;
        _most = isContested ? 1 : TurnsAlone;
        var pause = long.MaxValue;
        for (var lanes = _lanes.Waiting; lanes > 0; lanes--)
        {
            var lane = _lanes.Current;
            var ahead = isContested ? Math.Min(lane.PausesUntil, lane.HeldUntil ?? long.MaxValue) - now - _slack : 0;
            if (ahead <= 0 || lane.UsedUntil <= (IsFirst(lane) ? _secondUntil : _firstUntil))
            {
                TakeCurrent(now, isContested, out start, out served);
                return 0;
            }

            lane.HeldUntil ??= lane.PausesUntil;
            pause = Math.Min(pause, ahead);
            _lanes.Next();
        }

        return pause; // it is the one who has had most, and the others' requests are under way
    }

    /// <summary>The lane of a caller who may have nothing that waits, for <see cref="Charge"/>.</summary>
    public CallerLanes<WorkItem>.Lane LaneOf(string? caller, long now) => _lanes.Of(caller, now + _forgiven);

    /// <summary>
    /// What a start and all that it caused here has taken is counted to its caller. PACTs do not pause: their code
    /// delays the next start of their caller for one turn, and no start that waits already. Added up, it would put
    /// the ACTs of a caller off for as long as its PACTs come.
    /// </summary>
    /// <param name="lane">The caller's.</param>
    /// <param name="from">Timestamp of its begin.</param>
    /// <param name="to">Timestamp of its end.</param>
    /// <param name="isOfPact">It is a turn of a PACT.</param>
    public void Charge(CallerLanes<WorkItem>.Lane lane, long from, long to, bool isOfPact = false)
    {
        var time = (long)((to - from) / share);
        from += _forgiven;
        to += _forgiven;
        var used = Math.Max(lane.UsedUntil, from) + time;
        if (isOfPact)
        {
            lane.UsedUntil = Math.Max(lane.UsedUntil, Math.Min(used, Math.Max(from + time, to + _longest)));
            lane.PausesUntil = Math.Max(lane.PausesUntil, from + time);
        }
        else
        {
            lane.UsedUntil = used;
            lane.PausesUntil = Math.Max(lane.PausesUntil, from) + time;
            lane.HeldUntil = null;
            _forgiven += Math.Max(0, lane.PausesUntil - Math.Max(from + time, to + _longest));
        }

        if (IsFirst(lane))
        {
            _firstUntil = lane.UsedUntil;
        }
        else if (lane.UsedUntil > _firstUntil)
        {
            (_first, _firstCaller) = (lane, lane.Caller);
            (_firstUntil, _secondUntil) = (lane.UsedUntil, _firstUntil);
        }
        else
        {
            _secondUntil = Math.Max(_secondUntil, lane.UsedUntil);
        }
    }

    private bool IsFirst(CallerLanes<WorkItem>.Lane lane) =>
        ReferenceEquals(lane, _first) && string.Equals(lane.Caller, _firstCaller, StringComparison.Ordinal);

    private void TakeCurrent(long now, bool isContested, out WorkItem start, out CallerLanes<WorkItem>.Lane? served)
    {
        var lane = _lanes.Current;
        served = isContested ? lane : null;
        lane.HeldUntil = null;
        start = _lanes.Dequeue();
        _lanes.Next(isContested || lane.UsedUntil > now, now);
    }
}
