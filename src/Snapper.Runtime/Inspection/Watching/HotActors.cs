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

        ref var sum = ref sums.At(second);
        sum.Transactions += transactions;
        sum.WaitingMs += (float)waitingMs;
        sum.ExecutingMs += (float)executingMs;
        sum.Conflicts += conflicts;
    }

    public List<HotActorView> View(int limit)
    {
        var second = SecondOf(clock.Now);
        var views = new List<HotActorView>(_actors.Count);
        foreach (var (actor, sums) in _actors)
        {
            if (sums.View(actor, second) is { Transactions: > 0 } view)
            {
                views.Add(view);
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

    private struct Sum
    {
        public int Transactions;
        public int Conflicts;
        public float WaitingMs;
        public float ExecutingMs;
    }

    /// <summary>A ring of the last minute's seconds.</summary>
    private sealed class Sums
    {
        private readonly Sum[] _perSecond = new Sum[Seconds];

        public long LastSecond { get; private set; }

        public ref Sum At(long second)
        {
            Pass(second);
            return ref _perSecond[LastSecond % Seconds]; // threads come a little out of order
        }

        public HotActorView View(ActorKey actor, long second)
        {
            Pass(second);
            var recent = new long[Seconds];
            long transactions = 0;
            long conflicts = 0;
            double waitingMs = 0;
            double executingMs = 0;
            for (var i = 0; i < Seconds; i++)
            {
                ref var sum = ref _perSecond[(LastSecond + 1 + i) % Seconds];
                recent[i] = sum.Transactions;
                transactions += sum.Transactions;
                conflicts += sum.Conflicts;
                waitingMs += sum.WaitingMs;
                executingMs += sum.ExecutingMs;
            }

            return new HotActorView(actor.ToString(), transactions, waitingMs, executingMs, conflicts, recent);
        }

        private void Pass(long second)
        {
            for (var passed = Math.Max(LastSecond + 1, second - Seconds + 1); passed <= second; passed++)
            {
                _perSecond[passed % Seconds] = default;
            }

            LastSecond = Math.Max(LastSecond, second);
        }
    }
}
