using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Which actors sampled transactions use, over the last minute. Guarded by the watch.</summary>
public sealed class HotActors(WatchClock clock)
{
    /// <summary>Actors counted at a time; when there are more, those unused for a minute make room, and then newcomers are left out.</summary>
    private const int Most = 4096;

    private const int Seconds = 60;

    private readonly Dictionary<ActorKey, Sums> _actors = [];
    private long _fullIn = -1; // the second in which all were found to be in use

    public void Clear()
    {
        _actors.Clear();
        _fullIn = -1;
    }

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
        // Only those that are shown are described: with thousands of actors the rest would be megabytes a second.
        var second = SecondOf(clock.Now);
        var used = new List<(ActorKey Actor, Sums Sums, long Transactions)>(_actors.Count);
        foreach (var (actor, sums) in _actors)
        {
            if (sums.Transactions(second) is > 0 and var transactions)
            {
                used.Add((actor, sums, transactions));
            }
        }

        used.Sort(static (left, right) => right.Transactions.CompareTo(left.Transactions) is not 0 and var order ? order
            : string.CompareOrdinal(left.Actor.Type, right.Actor.Type) is not 0 and var type ? type : string.CompareOrdinal(left.Actor.Id, right.Actor.Id));
        var views = new List<HotActorView>(Math.Min(limit, used.Count));
        for (var i = 0; i < used.Count && i < limit; i++)
        {
            views.Add(used[i].Sums.View(used[i].Actor.ToString(), second));
        }

        return views;
    }

    private long SecondOf(long now) => (long)(clock.Ms(now) / 1000);

    private bool MakeRoom(long second)
    {
        if (second == _fullIn)
        {
            return false; // nobody gets old within a second, and each newcomer would look at all of them again
        }

        foreach (var (actor, sums) in _actors)
        {
            if (sums.LastSecond < second - Seconds)
            {
                _actors.Remove(actor); // a dictionary may lose what is passed by
            }
        }

        if (_actors.Count < Most)
        {
            return true;
        }

        _fullIn = second;
        return false;
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

        public long Transactions(long second)
        {
            Pass(second);
            long transactions = 0;
            foreach (ref readonly var sum in _perSecond.AsSpan())
            {
                transactions += sum.Transactions;
            }

            return transactions;
        }

        public HotActorView View(string actor, long second)
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

            return new HotActorView(actor, transactions, waitingMs, executingMs, conflicts) { PerSecond = recent };
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
