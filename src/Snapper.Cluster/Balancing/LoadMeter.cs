using Snapper.Cluster.Wire;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Cluster.Balancing;

/// <summary>
/// Counts what requests touch, by partition: their roots, and what PACTs declare. Of one PACT in some it looks which of the actors are on different workers. Counting allocates
/// nothing; what is remembered of pairs is bounded. Thread-safe.
/// </summary>
internal sealed class LoadMeter(DirectoryTable directory)
{
    private const int SampleOf = 8;
    private const int PairsOfOne = 8;
    private const int MaxPartitions = 64;
    private const int MaxPairs = 16;

    private readonly int[] _touched = new int[Partition.Count];
    private readonly PairSketch _pairs = new(256);
    private int _pacts;

    /// <summary>A request begins at the worker of its root.</summary>
    public void Note(TransactionRequest request)
    {
        if (request.Access is not { } access)
        {
            Interlocked.Increment(ref _touched[directory.PartitionOf(request.Actor).Number]);
            return;
        }

        foreach (var one in access)
        {
            Interlocked.Increment(ref _touched[directory.PartitionOf(one.Actor).Number]);
        }

        if (access.Length > 1 && Interlocked.Increment(ref _pacts) % SampleOf == 0)
        {
            Sample(request.Actor, access);
        }
    }

    /// <summary>What was counted since the last time.</summary>
    public LoadMessage Take(TimeSpan since)
    {
        var perCount = 1000 / Math.Max(since.TotalSeconds, 0.001);
        var workers = new SortedDictionary<int, long>();
        var partitions = new List<(Partition Partition, long Rate)>();
        for (var number = 0; number < _touched.Length; number++)
        {
            var count = Interlocked.Exchange(ref _touched[number], 0);
            if (count == 0)
            {
                continue;
            }

            var partition = new Partition(number);
            var rate = (long)(count * perCount);
            partitions.Add((partition, rate));
            if (directory.Find(partition) is { } entry)
            {
                workers[entry.Owner.Worker] = workers.GetValueOrDefault(entry.Owner.Worker) + rate;
            }
        }

        partitions.Sort(static (one, other) => one.Rate != other.Rate ? other.Rate.CompareTo(one.Rate) : one.Partition.Number.CompareTo(other.Partition.Number));
        partitions.RemoveRange(Math.Min(MaxPartitions, partitions.Count), Math.Max(0, partitions.Count - MaxPartitions));
        var pairs = new List<(ActorKey, ActorKey, long)>();
        foreach (var (one, other, count) in _pairs.Take(MaxPairs))
        {
            pairs.Add((one, other, (long)(count * SampleOf * perCount)));
        }

        var rates = new List<(int, long)>();
        foreach (var (worker, rate) in workers)
        {
            rates.Add((worker, rate));
        }

        return new LoadMessage(rates, partitions, pairs);
    }

    private void Sample(ActorKey root, DeclaredAccess[] access)
    {
        var owner = directory.Resolve(root);
        var found = 0;
        foreach (var one in access)
        {
            if (!one.Actor.Equals(root) && directory.Resolve(one.Actor) != owner)
            {
                _pairs.Add(root, one.Actor);
                if (++found == PairsOfOne)
                {
                    return;
                }
            }
        }
    }
}
