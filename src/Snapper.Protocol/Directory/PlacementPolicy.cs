using System.Globalization;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Directory;

/// <summary>When a move is proposed, and when it is ripe. Loads are transactions per second.</summary>
/// <param name="HotFactor">A worker is hot above so many times the mean of all. Above 1.</param>
/// <param name="CoolFactor">Moves are proposed until it would be below so many times the mean: less than the other, so that what was moved does not make the next one hot. 1 or more.</param>
/// <param name="LeastPerSecond">Below this mean nobody is hot.</param>
/// <param name="PairPerSecond">Actors of two workers that so many transactions touch together are to be brought together.</param>
/// <param name="Confirmations">A proposal is ripe when so many looks in a row have made it. 1 or more.</param>
/// <param name="Pause">So many looks after a move nothing ripens: what is seen then is from before it. 0 or more.</param>
/// <param name="Most">Most proposals. 1 or more.</param>
public sealed record PolicyLimits(
    double HotFactor = 1.25, double CoolFactor = 1.1, double LeastPerSecond = 100, double PairPerSecond = 20, int Confirmations = 3, int Pause = 6, int Most = 16)
{
    /// <summary>Throws when a limit is out of range, naming it.</summary>
    public void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(HotFactor, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(CoolFactor, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(CoolFactor, HotFactor);
        ArgumentOutOfRangeException.ThrowIfNegative(LeastPerSecond);
        ArgumentOutOfRangeException.ThrowIfNegative(PairPerSecond);
        ArgumentOutOfRangeException.ThrowIfLessThan(Confirmations, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(Pause);
        ArgumentOutOfRangeException.ThrowIfLessThan(Most, 1);
    }
}

/// <summary>The load of a partition.</summary>
public readonly record struct PartitionLoad(Partition Partition, double PerSecond);

/// <summary>What a worker carries.</summary>
/// <param name="Worker">Who; it lives.</param>
/// <param name="PerSecond">On all that it owns.</param>
/// <param name="Hottest">Its partitions with the most load; any number.</param>
public sealed record WorkerLoad(Incarnation Worker, double PerSecond, IReadOnlyList<PartitionLoad> Hottest);

/// <summary>Two actors that transactions touch together, and who owns them.</summary>
public readonly record struct PairLoad(DirectoryKey One, Incarnation OwnerOfOne, DirectoryKey Other, Incarnation OwnerOfOther, double PerSecond);

/// <summary>A move that would help.</summary>
/// <param name="Key">What.</param>
/// <param name="From">Who owns it.</param>
/// <param name="To">Who should.</param>
/// <param name="PerSecond">The load that moves, or that is spared the way between workers.</param>
/// <param name="Why">For people.</param>
/// <param name="Confirmed">How many looks in a row have made it.</param>
/// <param name="IsRipe">It may be carried out.</param>
public sealed record MoveProposal(DirectoryKey Key, Incarnation From, Incarnation To, double PerSecond, string Why, int Confirmed, bool IsRipe);

/// <summary>
/// Proposes moves: partitions of the hottest worker to the coolest one, and actors that are often used together to one worker. It only proposes; who carries one out says so
/// (<see cref="Moved"/>), and one at a time.
/// </summary>
/// <remarks>
/// Nothing that would make things worse: a partition moves only if the worker that gets it then carries less than the other did with it, so that one hot partition does not wander
/// about; an actor joins its partner only on a worker that is not hot by that. The same input gives the same proposals.
/// </remarks>
public sealed class PlacementPolicy
{
    private readonly PolicyLimits _limits;
    private readonly List<MoveProposal> _proposals = [];
    private readonly SortedDictionary<DirectoryKey, (Incarnation To, int Looks)> _pairsBefore = [];
    private (Incarnation From, Incarnation To) _hotBefore;
    private int _hotLooks;
    private int _pause;

    /// <param name="limits">When.</param>
    public PlacementPolicy(PolicyLimits limits)
    {
        ArgumentNullException.ThrowIfNull(limits);
        limits.Validate();
        _limits = limits;
    }

    /// <summary>A move was begun: nothing ripens until its effect can be seen.</summary>
    public void Moved()
    {
        _pause = _limits.Pause;
        _hotLooks = 0;
        _hotBefore = default;
        _pairsBefore.Clear();
    }

    /// <summary>Looks at the loads of an interval.</summary>
    /// <param name="workers">All who live, each once.</param>
    /// <param name="pairs">In any order; those that one worker owns are passed over.</param>
    /// <returns>The proposals, the best first; a list of its own.</returns>
    public IReadOnlyList<MoveProposal> Look(IReadOnlyList<WorkerLoad> workers, IReadOnlyList<PairLoad> pairs)
    {
        ArgumentNullException.ThrowIfNull(workers);
        ArgumentNullException.ThrowIfNull(pairs);
        _proposals.Clear();
        var mean = 0.0;
        foreach (var worker in workers)
        {
            mean += worker.PerSecond / workers.Count;
        }

        _pause -= _pause > 0 ? 1 : 0;
        Cool(workers, mean);
        BringTogether(workers, pairs, mean);
        return _proposals.ToArray();
    }

    private void Cool(IReadOnlyList<WorkerLoad> workers, double mean)
    {
        WorkerLoad? hot = null, cool = null;
        foreach (var worker in workers)
        {
            hot = hot is null || worker.PerSecond > hot.PerSecond ? worker : hot;
            cool = cool is null || worker.PerSecond < cool.PerSecond ? worker : cool;
        }

        if (hot is null || cool is null || mean < _limits.LeastPerSecond || hot.PerSecond <= mean * _limits.HotFactor)
        {
            _hotLooks = 0;
            return;
        }

        // Which of its partitions is the hottest may change from look to look; that it is hot must not.
        _hotLooks = _hotBefore == (hot.Worker, cool.Worker) ? _hotLooks + 1 : 1;
        _hotBefore = (hot.Worker, cool.Worker);
        var hottest = new List<PartitionLoad>(hot.Hottest);
        hottest.Sort(static (one, other) =>
            one.PerSecond != other.PerSecond ? other.PerSecond.CompareTo(one.PerSecond) : one.Partition.Number.CompareTo(other.Partition.Number));
        var (above, below) = (hot.PerSecond, cool.PerSecond);
        foreach (var (partition, load) in hottest)
        {
            if (above <= mean * _limits.CoolFactor || _proposals.Count == _limits.Most)
            {
                return;
            }

            if (load <= 0 || below + load >= above)
            {
                continue;
            }

            (above, below) = (above - load, below + load);
            Add(
                DirectoryKey.Of(partition), hot.Worker, cool.Worker, load, _hotLooks,
                string.Create(CultureInfo.InvariantCulture, $"w{hot.Worker.Worker} carries {hot.PerSecond:0}/s, w{cool.Worker.Worker} {cool.PerSecond:0}/s, all {mean:0}/s on average"));
        }
    }

    private void BringTogether(IReadOnlyList<WorkerLoad> workers, IReadOnlyList<PairLoad> pairs, double mean)
    {
        var often = new List<PairLoad>();
        foreach (var pair in pairs)
        {
            if (pair.OwnerOfOne != pair.OwnerOfOther && pair.PerSecond >= _limits.PairPerSecond)
            {
                often.Add(pair);
            }
        }

        often.Sort(static (one, other) =>
            one.PerSecond != other.PerSecond ? other.PerSecond.CompareTo(one.PerSecond)
            : one.One.CompareTo(other.One) is var byOne and not 0 ? byOne
            : one.Other.CompareTo(other.Other));
        var taken = new HashSet<DirectoryKey>();
        var now = new List<(DirectoryKey Key, Incarnation To, int Looks)>();
        foreach (var pair in often)
        {
            if (_proposals.Count == _limits.Most)
            {
                break;
            }

            // To the worker with less to do; the partner stays, and is moved for nobody else's sake either.
            if (Find(workers, pair.OwnerOfOne) is not { } ofOne || Find(workers, pair.OwnerOfOther) is not { } ofOther || taken.Contains(pair.One) || taken.Contains(pair.Other))
            {
                continue;
            }

            var oneMoves = ofOne.PerSecond >= ofOther.PerSecond;
            var (key, from, to) = oneMoves ? (pair.One, ofOne, ofOther) : (pair.Other, ofOther, ofOne);
            if (mean >= _limits.LeastPerSecond && to.PerSecond + pair.PerSecond > mean * _limits.HotFactor)
            {
                continue;
            }

            taken.Add(pair.One);
            taken.Add(pair.Other);
            var looks = _pairsBefore.TryGetValue(key, out var before) && before.To == to.Worker ? before.Looks + 1 : 1;
            now.Add((key, to.Worker, looks));
            Add(
                key, from.Worker, to.Worker, pair.PerSecond, looks,
                string.Create(CultureInfo.InvariantCulture, $"{pair.One} and {pair.Other} are touched together by {pair.PerSecond:0} transactions per second"));
        }

        _pairsBefore.Clear();
        foreach (var (key, to, looks) in now)
        {
            _pairsBefore.Add(key, (to, looks));
        }
    }

    private void Add(DirectoryKey key, Incarnation from, Incarnation to, double perSecond, int looks, string why) =>
        _proposals.Add(new MoveProposal(key, from, to, perSecond, why, looks, looks >= _limits.Confirmations && _pause == 0));

    private static WorkerLoad? Find(IReadOnlyList<WorkerLoad> workers, Incarnation worker)
    {
        for (var i = 0; i < workers.Count; i++)
        {
            if (workers[i].Worker == worker)
            {
                return workers[i];
            }
        }

        return null;
    }
}
