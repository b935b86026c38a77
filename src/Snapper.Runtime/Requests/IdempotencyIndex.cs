using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>
/// Which ids are under way and which have an outcome (I2, I3): an id is checked and inserted here before its request is
/// numbered. Memory keeps a 16-byte hash and the place in the log, never the answer. Ids that became known in the same
/// minute are dropped together, and their memory with them. Thread-safe.
/// </summary>
public sealed class IdempotencyIndex
{
    private const int ShardCount = 16;

    private readonly Shard[] _shards = new Shard[ShardCount];
    private readonly IdCallers _callers;
    private readonly long _ticksOfAMinute;
    private readonly long _most;
    private readonly long _mostOfOne;
    private long _kept;

    /// <summary>An empty one.</summary>
    /// <param name="options">How many ids it takes, and of one caller; for how long.</param>
    /// <param name="ticksOfASecond">Of the worker's monotonic clock.</param>
    public IdempotencyIndex(WorkerOptions options, long ticksOfASecond)
    {
        _ticksOfAMinute = 60 * ticksOfASecond;
        _most = options.MaxRequestIds;
        _mostOfOne = Math.Max(1, (long)(_most * options.RequestIdShare));
        _callers = new IdCallers((int)Math.Ceiling(options.IdempotencyWindow.TotalMinutes));
        for (var i = 0; i < ShardCount; i++)
        {
            _shards[i] = new Shard();
        }
    }

    /// <summary>Ids whose outcome is known.</summary>
    public long Kept => Volatile.Read(ref _kept);

    /// <summary>Ids whose requests are under way.</summary>
    public int Running
    {
        get
        {
            var sum = 0;
            foreach (var shard in _shards)
            {
                lock (shard)
                {
                    sum += shard.Running.Count;
                }
            }

            return sum;
        }
    }

    /// <summary>Callers whose ids are counted.</summary>
    internal int Accounts => _callers.Count;

    /// <summary>Whether there is room for one more id.</summary>
    /// <param name="caller">To whom it is counted; null: to all together.</param>
    /// <param name="now">A timestamp of the worker's monotonic clock.</param>
    /// <param name="account">The caller's account, for <see cref="End"/>.</param>
    /// <returns>Null, or why there is none.</returns>
    public string? Refusal(string? caller, long now, out IdAccount? account)
    {
        account = caller is null ? null : _callers.Of(caller, now / _ticksOfAMinute);
        return Volatile.Read(ref _kept) >= _most
            ? $"Too many request ids: {_most} are kept (Snapper:Worker:MaxRequestIds)."
            : account is not null && account.Kept >= _mostOfOne
                ? $"Too many request ids: {_mostOfOne} of {account.Name} are kept (Snapper:Security:Share)."
                : null;
    }

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

            if (shard.TryFind(key, out done))
            {
                return false;
            }

            shard.Running[key] = request;
            return true;
        }
    }

    /// <summary>
    /// Registers a generated id that is reported in doubt, unless another sending of it is under way: that one decides.
    /// </summary>
    public void Register(UInt128 key, Request request)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            shard.Running.TryAdd(key, request);
        }
    }

    /// <summary>What is known of an id.</summary>
    public bool TryFind(UInt128 key, out Request? running, out KeptOutcome done)
    {
        var shard = ShardOf(key);
        lock (shard)
        {
            return shard.Running.TryGetValue(key, out running) | shard.TryFind(key, out done);
        }
    }

    /// <summary>
    /// A request has its outcome; <paramref name="kept"/> null: nothing is kept and the id may run again. Another
    /// sending
    /// of the id that is under way stays registered.
    /// </summary>
    /// <param name="key">Of the id.</param>
    /// <param name="request">The request; null: one of an earlier life.</param>
    /// <param name="kept">What is kept of it.</param>
    /// <param name="now">A timestamp of the worker's monotonic clock.</param>
    /// <param name="account">Of its caller; null: of all together.</param>
    public void End(UInt128 key, Request? request, KeptOutcome? kept, long now, IdAccount? account = null)
    {
        var minute = now / _ticksOfAMinute;
        var shard = ShardOf(key);
        lock (shard)
        {
            if (shard.Running.TryGetValue(key, out var running) && ReferenceEquals(running, request))
            {
                shard.Running.Remove(key);
            }

            if (kept is not { } outcome || !shard.Add(key, outcome, minute))
            {
                return;
            }
        }

        Interlocked.Increment(ref _kept);
        account?.Add(minute);
    }

    /// <summary>Forgets outcomes that were known before then: whole minutes, so each at most a minute later.</summary>
    /// <param name="before">A timestamp of the worker's monotonic clock.</param>
    public void Forget(long before)
    {
        var minute = before / _ticksOfAMinute;
        foreach (var shard in _shards)
        {
            lock (shard)
            {
                Interlocked.Add(ref _kept, -shard.DropBefore(minute));
            }
        }

        _callers.DropBefore(minute);
    }

    private Shard ShardOf(UInt128 key) => _shards[(int)(key & (ShardCount - 1))];

    private sealed class Shard
    {
        private readonly List<IdSet> _sets = []; // the oldest first

        public Dictionary<UInt128, Request> Running { get; } = [];

        public bool TryFind(UInt128 key, out KeptOutcome done)
        {
            for (var i = _sets.Count - 1; i >= 0; i--)
            {
                if (_sets[i].TryFind(key, out done))
                {
                    return true;
                }
            }

            done = default;
            return false;
        }

        /// <returns>False: it replaces what was known of the id in the same minute.</returns>
        public bool Add(UInt128 key, in KeptOutcome outcome, long minute)
        {
            // Two threads may have read the clock in another order than they come here.
            if (_sets.Count == 0 || _sets[^1].Minute < minute)
            {
                _sets.Add(new IdSet(minute));
            }

            return _sets[^1].Add(key, outcome);
        }

        /// <returns>How many ids went.</returns>
        public int DropBefore(long minute)
        {
            var dropped = 0;
            while (_sets.Count > 0 && _sets[0].Minute < minute)
            {
                dropped += _sets[0].Count;
                _sets.RemoveAt(0);
            }

            return dropped;
        }
    }
}

/// <summary>Where an outcome is kept, and of which request it is.</summary>
public readonly record struct KeptOutcome(UInt128 RequestHash, long Sequence);
