using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>
/// Which ids are under way and which have an outcome (I2, I3): an id is checked and inserted here before its request is
/// numbered. Memory keeps a 16-byte hash and the place in the log, never the answer. Thread-safe.
/// </summary>
public sealed class IdempotencyIndex
{
    private const int ShardCount = 16;

    private readonly Shard[] _shards = new Shard[ShardCount];

    public IdempotencyIndex()
    {
        for (var i = 0; i < ShardCount; i++)
        {
            _shards[i] = new Shard();
        }
    }

    /// <summary>Ids whose outcome is known.</summary>
    public int Kept => Sum(static shard => shard.Done.Count);

    /// <summary>Ids whose requests are under way.</summary>
    public int Running => Sum(static shard => shard.Running.Count);

    /// <summary>Registers a request, unless its id is known: then it is <paramref name="running"/>, or <paramref name="done"/> says where its outcome is.</summary>
    public bool TryBegin(UInt128 key, Request request, out Request? running, out KeptOutcome done)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            if (shard.Running.TryGetValue(key, out running))
            {
                done = default;
                return false;
            }

            if (shard.Done.TryGetValue(key, out done))
            {
                return false;
            }

            shard.Running[key] = request;
            return true;
        }
    }

    /// <summary>Registers a request without asking (a generated id that is reported in doubt).</summary>
    public void Register(UInt128 key, Request request)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            shard.Running[key] = request;
        }
    }

    /// <summary>What is known of an id.</summary>
    public bool TryFind(UInt128 key, out Request? running, out KeptOutcome done)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            return shard.Running.TryGetValue(key, out running) | shard.Done.TryGetValue(key, out done);
        }
    }

    /// <summary>A request has its outcome; <paramref name="kept"/> null: nothing is kept and the id may run again.</summary>
    public void End(UInt128 key, KeptOutcome? kept)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            shard.Running.Remove(key);
            if (kept is { } outcome)
            {
                shard.Done[key] = outcome;
            }
        }
    }

    /// <summary>Forgets outcomes older than the window.</summary>
    /// <param name="before">A timestamp of the worker's monotonic clock.</param>
    public void Forget(long before)
    {
        var old = new List<UInt128>();
        foreach (var shard in _shards)
        {
            lock (shard)
            {
                old.Clear();
                foreach (var (key, outcome) in shard.Done)
                {
                    if (outcome.At < before)
                    {
                        old.Add(key);
                    }
                }

                foreach (var key in old)
                {
                    shard.Done.Remove(key);
                }
            }
        }
    }

    private int Sum(Func<Shard, int> count)
    {
        var sum = 0;
        foreach (var shard in _shards)
        {
            lock (shard)
            {
                sum += count(shard);
            }
        }

        return sum;
    }

    private Shard ShardOf(UInt128 key) => _shards[(int)(key & (ShardCount - 1))];

    private sealed class Shard
    {
        public Dictionary<UInt128, Request> Running { get; } = [];

        public Dictionary<UInt128, KeptOutcome> Done { get; } = [];
    }
}

/// <summary>
/// Where an outcome is kept, and of which request it is. The envelope is kept itself only for a generated id that was
/// reported in doubt: its record may hold no outcome. <paramref name="At"/> is when it was known to be durable, or recovered, as a timestamp of the worker's monotonic clock.
/// </summary>
public readonly record struct KeptOutcome(UInt128 RequestHash, long Sequence, long At, TransactionEnvelope? Envelope = null);
