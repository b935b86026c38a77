using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Which actors sampled transactions use, over the last minute. Guarded by the watch.</summary>
internal sealed class HotActors(WatchClock clock)
{
    /// <summary>Actors counted at a time; when there are more, those unused for a minute make room, and then newcomers are left out.</summary>
    private const int Most = 4096;

    private const int Seconds = 60;

    private readonly Dictionary<ActorKey, Sums> _actors = [];

    public void Clear() => _actors.Clear();

    public void Add(ActorKey actor, int transactions, double waitingMs, double executingMs, int conflicts, long now)
    {
        var second = SecondOf(now);
        if (!_actors.TryGetValue(actor, out var sums))
        {
            if (_actors.Count >= Most && !MakeRoom(second))
            {
                return;
            }

            _actors.Add(actor, sums = new Sums());
        }

        sums.Add(second, transactions);
        sums.WaitingMs += waitingMs;
        sums.ExecutingMs += executingMs;
        sums.Conflicts += conflicts;
    }

    public List<HotActorView> View(int limit)
    {
        var second = SecondOf(clock.Now);
        var views = new List<HotActorView>(_actors.Count);
        foreach (var (actor, sums) in _actors)
        {
            var perSecond = sums.Recent(second, out var total);
            if (total > 0)
            {
                views.Add(new HotActorView(actor.ToString(), total, sums.WaitingMs, sums.ExecutingMs, sums.Conflicts, perSecond));
            }
        }

        views.Sort(static (left, right) => right.Transactions.CompareTo(left.Transactions) is not 0 and var order ? order : string.CompareOrdinal(left.Actor, right.Actor));
        return views.Count > limit ? views[..limit] : views;
    }

    private long SecondOf(long now) => (long)(clock.Ms(now) / 1000);

    private bool MakeRoom(long second)
    {
        foreach (var (actor, sums) in _actors)
        {
            if (sums.LastSecond < second - Seconds)
            {
                _actors.Remove(actor); // a dictionary may lose what is passed by
            }
        }

        return _actors.Count < Most;
    }

    private sealed class Sums
    {
        private readonly long[] _perSecond = new long[Seconds];

        public long LastSecond { get; private set; }

        public double WaitingMs { get; set; }

        public double ExecutingMs { get; set; }

        public long Conflicts { get; set; }

        public void Add(long second, int transactions)
        {
            if (second < LastSecond)
            {
                second = LastSecond; // threads come a little out of order
            }

            Pass(second);
            _perSecond[second % Seconds] += transactions;
        }

        public long[] Recent(long second, out long total)
        {
            Pass(Math.Max(second, LastSecond));
            var recent = new long[Seconds];
            total = 0;
            for (var i = 0; i < Seconds; i++)
            {
                recent[i] = _perSecond[(LastSecond + 1 + i) % Seconds];
                total += recent[i];
            }

            return recent;
        }

        private void Pass(long second)
        {
            for (var passed = Math.Max(LastSecond + 1, second - Seconds + 1); passed <= second; passed++)
            {
                _perSecond[passed % Seconds] = 0;
            }

            LastSecond = second;
        }
    }
}
