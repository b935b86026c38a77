namespace Snapper.Cluster.Migrating;

/// <summary>Where a migration stands.</summary>
public enum MigrationPhase : byte
{
    /// <summary>Planned; the source has not begun.</summary>
    Planned,

    /// <summary>Nothing is numbered for it any more (M3).</summary>
    Freezing,

    /// <summary>What was numbered before comes to its end (M4).</summary>
    Draining,

    /// <summary>All of it becomes durable and is checkpointed (M5).</summary>
    HandingOver,

    /// <summary>It is the target's (M6).</summary>
    Done,

    /// <summary>It stays the source's.</summary>
    Cancelled,
}

/// <summary>The phases of one plan, with their times. Thread-safe.</summary>
public sealed class MigrationProgress
{
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly List<(MigrationPhase Phase, DateTimeOffset At)> _phases;

    private readonly Action<MigrationProgress>? _changed;
    private int _frozen;
    private int _mostFrozen;

    internal MigrationProgress(string plan, int keys, TimeProvider time, Action<MigrationProgress>? changed = null)
    {
        _changed = changed;
        _time = time;
        Plan = plan;
        Keys = keys;
        _phases = [(MigrationPhase.Planned, time.GetUtcNow())];
    }

    /// <summary>Id of the plan.</summary>
    public string Plan { get; }

    /// <summary>How many actors or partitions it moves.</summary>
    public int Keys { get; }

    /// <summary>Requests of the source that wait because something in the plan is frozen, when they were counted last.</summary>
    public int Frozen => Volatile.Read(ref _frozen);

    /// <summary>The highest <see cref="Frozen"/>.</summary>
    public int MaxFrozen => Volatile.Read(ref _mostFrozen);

    /// <summary>The phases so far, in order, each with the time at which it began.</summary>
    public IReadOnlyList<(MigrationPhase Phase, DateTimeOffset At)> Phases
    {
        get
        {
            lock (_gate)
            {
                return _phases.ToArray();
            }
        }
    }

    /// <summary>Something of it is frozen now.</summary>
    internal bool IsFrozen { get; private set; }

    internal void Enter(MigrationPhase phase)
    {
        lock (_gate)
        {
            _phases.Add((phase, _time.GetUtcNow()));
            IsFrozen = phase is MigrationPhase.Freezing or MigrationPhase.Draining or MigrationPhase.HandingOver;
            if (!IsFrozen)
            {
                _frozen = 0;
            }
        }

        _changed?.Invoke(this);
    }

    /// <summary>So many requests wait for it now.</summary>
    internal void Counted(int frozen)
    {
        lock (_gate)
        {
            if (!IsFrozen || frozen == _frozen)
            {
                return;
            }

            _frozen = frozen;
            _mostFrozen = Math.Max(_mostFrozen, frozen);
        }

        _changed?.Invoke(this);
    }
}
