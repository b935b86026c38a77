using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;

namespace Snapper.Storage.Memory;

/// <summary>
/// What the workers of one process share, in memory, <b>not durable</b>: their logs' storages, the states, and the cluster's store. The twin of the Redis store with the
/// same steps, each atomic, and a clock that is given.
/// </summary>
public sealed partial class MemoryCluster
{
    private readonly Dictionary<string, MemoryStorage> _logs = new(StringComparer.Ordinal);
    private readonly Dictionary<ActorKey, StoredState> _states = [];
    private readonly HashSet<ActorKey> _damagedPlaces = [];
    private readonly DirectoryEntry?[] _partitions = new DirectoryEntry?[Partition.Count];
    private readonly Dictionary<ActorKey, DirectoryEntry> _actors = [];
    private readonly TimeProvider _time;

    /// <summary>A cluster that nobody has joined.</summary>
    /// <param name="time">The server's clock: leases run by it alone.</param>
    /// <param name="options">For all workers.</param>
    public MemoryCluster(TimeProvider time, ClusterOptions options)
    {
        ArgumentNullException.ThrowIfNull(time);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        _time = time;
        Options = options;
    }

    internal ClusterOptions Options { get; }

    internal Lock Gate { get; } = new();

    internal TimeProvider Time => _time;

    internal long NowMs => _time.GetUtcNow().ToUnixTimeMilliseconds();

    internal SortedDictionary<int, MemoryMember> Members { get; } = [];

    /// <summary>Every change; the one with version v is at v - 1. Those that were followed by another one of their key count no more.</summary>
    internal List<DirectoryEntry> Changes { get; } = [];

    internal Dictionary<int, long> Shares { get; } = [];

    internal Dictionary<string, MemoryPlan> Plans { get; } = new(StringComparer.Ordinal);

    internal SortedDictionary<long, MemoryPlan> OpenPlans { get; } = [];

    internal SortedDictionary<long, MemoryPlan> EndedPlans { get; } = [];

    internal Dictionary<DirectoryKey, MemoryPlan> Planned { get; } = [];

    internal Dictionary<int, int> PlannedActors { get; } = [];

    /// <summary>Separators of types; null: the whole id.</summary>
    internal SortedDictionary<string, char?> Types { get; } = new(StringComparer.Ordinal);

    /// <summary>Rises with each new type that names a partition key.</summary>
    internal long TypesVersion { get; set; }

    internal MemoryMaster? Master { get; set; }

    internal string Id { get; set; } = "";

    internal long Version => Changes.Count;

    internal long MembershipVersion { get; set; }

    internal long PlanVersion { get; set; }

    /// <summary>The storage of a worker's log; the same at each call.</summary>
    /// <param name="worker">1..<see cref="ClusterOptions.LastWorker"/>.</param>
    public MemoryStorage Log(int worker)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(worker, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(worker, ClusterOptions.LastWorker);
        return Log(Incarnation.NameOf(worker));
    }

    /// <summary>The storage of the master's log.</summary>
    public MemoryStorage MasterLog() => Log(IMasterLease.LogName);

    /// <summary>The store for one incarnation.</summary>
    /// <param name="self">The worker's number and the epoch that opening its log gave.</param>
    /// <param name="states">For the state stores of workers that are rescued.</param>
    public IClusterStore Open(Incarnation self, StateStoreOptions states)
    {
        ArgumentNullException.ThrowIfNull(states);
        ClusterArguments.Worker(self);
        return new MemoryClusterStore(this, self, states);
    }

    /// <summary>Why a worker may be given nothing; null: it may. Needs the gate.</summary>
    internal string? Unfit(Incarnation incarnation)
    {
        if (!Members.TryGetValue(incarnation.Worker, out var member) || member.Incarnation != incarnation)
        {
            return $"worker w{incarnation.Worker} is registered as {member?.Incarnation ?? default}, not as {incarnation}";
        }

        if (member.Left)
        {
            return $"{incarnation} has left";
        }

        return Log(incarnation.Worker).Epoch == incarnation.Epoch ? null : $"{incarnation} is fenced, the epoch of its log is {Log(incarnation.Worker).Epoch}";
    }

    /// <summary>Logs that were opened, by workers that are not registered in their current epoch. Needs the gate.</summary>
    internal IEnumerable<MemoryStorage> UnregisteredLogs()
    {
        foreach (var (name, log) in _logs)
        {
            if (name != IMasterLease.LogName && log.Epoch > 0 && !Members.Any(member => Incarnation.NameOf(member.Key) == name && member.Value.Incarnation.Epoch == log.Epoch))
            {
                yield return log;
            }
        }
    }

    /// <summary>For how long a worker's lease has been unbroken; below 0: it has run out. Needs the gate.</summary>
    internal long UnbrokenMs(int worker) =>
        Members.TryGetValue(worker, out var member) && member.LeaseEndsMs > NowMs ? NowMs - member.SinceMs : -1;

    /// <summary>No lease ends later: else a clock that was put back would keep the dead in office for as long. Needs the gate.</summary>
    internal void EndLeasesBy(long latestMs)
    {
        foreach (var member in Members.Values)
        {
            member.LeaseEndsMs = member.LeaseEndsMs > latestMs ? latestMs : member.LeaseEndsMs;
        }

        if (Master?.LeaseEndsMs > latestMs)
        {
            Master = Master with { LeaseEndsMs = latestMs };
        }
    }

    internal ClusterStanding Standing() => new()
    {
        DirectoryId = Id,
        DirectoryVersion = Version,
        MembershipVersion = MembershipVersion,
        PlanVersion = PlanVersion,
        Generation = Generation,
        Expired = Members.Values.Count(m => m.LeaseEndsMs is { } ends && ends <= NowMs),
        Master = MasterStanding(),
    };

    internal MasterStanding MasterStanding() => Master is { } master
        ? new MasterStanding(master.Holder, master.MasterEpoch, TimeSpan.FromMilliseconds(Math.Max(0, master.LeaseEndsMs - NowMs)), Unfit(master.Holder) is not null)
        : new MasterStanding(default, 0, TimeSpan.Zero, false);

    internal DirectoryEntry? Find(DirectoryKey key) => key.Actor is { } actor ? _actors.GetValueOrDefault(actor) : _partitions[key.Partition.Number];

    internal DirectoryEntry Set(DirectoryKey key, Incarnation owner)
    {
        if (Find(key) is { } before)
        {
            Share(before.Owner.Worker, -1);
        }

        var entry = new DirectoryEntry(key, owner, Version + 1);
        Changes.Add(entry);
        Share(owner.Worker, 1);
        if (key.Actor is { } actor)
        {
            _actors[actor] = entry;
        }
        else
        {
            _partitions[key.Partition.Number] = entry;
        }

        return entry;
    }

    /// <summary>The owner of a key: an actor without an entry of its own is where its partition is.</summary>
    internal Incarnation Owner(DirectoryKey key) => Find(key) is { } own ? own.Owner : _partitions[key.Partition.Number]?.Owner ?? default;

    /// <summary>The key has an entry of its own, and an owner in it.</summary>
    internal bool HasEntry(DirectoryKey key) => Find(key) is not null;

    /// <summary>The key by which an actor is placed: its own, or its partition's.</summary>
    internal DirectoryKey EntryOf(ActorKey actor, Partition partition) => DirectoryKey.Of(actor, partition) is var own && HasEntry(own) ? own : DirectoryKey.Of(partition);

    private void Share(int worker, int by)
    {
        if (worker != 0)
        {
            Shares[worker] = Shares.GetValueOrDefault(worker) + by;
        }
    }

    private MemoryStorage Log(string name)
    {
        lock (Gate)
        {
            if (!_logs.TryGetValue(name, out var storage))
            {
                _logs.Add(name, storage = new MemoryStorage(Gate, _states, _damagedPlaces, name));
            }

            return storage;
        }
    }
}

/// <summary>A worker as registered.</summary>
internal sealed record MemoryMember
{
    public required Incarnation Incarnation { get; init; }

    public required MemberAddress Address { get; init; }

    public required long SinceMs { get; set; }

    /// <summary>Null: it was fenced or has left.</summary>
    public required long? LeaseEndsMs { get; set; }

    public bool Left { get; set; }

    public Incarnation Rescuer { get; set; }

    public long Expirations { get; set; }

    public long Evictions { get; set; }

    /// <summary>Version of the types that it has heard of; null: it has not declared its own yet.</summary>
    public long? TypesVersion { get; set; }
}

/// <summary>The master's lease.</summary>
internal sealed record MemoryMaster(Incarnation Holder, long MasterEpoch, long LeaseEndsMs);

/// <summary>A plan as stored.</summary>
internal sealed class MemoryPlan
{
    public required MigrationPlan Plan { get; init; }

    public required long Number { get; set; }

    public required DateTimeOffset Created { get; init; }

    public PlanState State { get; set; }

    /// <summary>Its actors that had no entry of their own.</summary>
    public List<DirectoryKey> InPartitions { get; } = [];

    public DateTimeOffset? Ended { get; set; }

    public string Why { get; set; } = "";

    public string Note { get; set; } = "";

    public MemoryPlan Copy()
    {
        var copy = new MemoryPlan { Plan = Plan, Number = Number, Created = Created, State = State, Ended = Ended, Why = Why, Note = Note };
        copy.InPartitions.AddRange(InPartitions);
        return copy;
    }

    public PlanRecord Record(bool withKeys) => new()
    {
        Plan = withKeys ? Plan : Plan with { Keys = [] },
        KeyCount = Plan.Keys.Count,
        State = State,
        Created = Created,
        Ended = Ended,
        Why = Why,
    };
}
