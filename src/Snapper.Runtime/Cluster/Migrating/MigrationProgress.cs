namespace Snapper.Runtime.Cluster.Migrating;

/// <summary>Where a migration stands.</summary>
public enum MigrationPhase : byte
{
    /// <summary>Planned; the source has not begun.</summary>
    Planned,

    /// <summary>Nothing is numbered for it any more (M3).</summary>
    Freezing,

    /// <summary>What was numbered before comes to its end (M4).</summary>
    Draining,

    /// <summary>All of it becomes durable and is folded (M5).</summary>
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

    internal MigrationProgress(string plan, int keys, TimeProvider time)
    {
        _time = time;
        Plan = plan;
        Keys = keys;
        _phases = [(MigrationPhase.Planned, time.GetUtcNow())];
    }

    /// <summary>Id of the plan.</summary>
    public string Plan { get; }

    /// <summary>How many actors or partitions it moves.</summary>
    public int Keys { get; }

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

    internal void Enter(MigrationPhase phase)
    {
        lock (_gate)
        {
            _phases.Add((phase, _time.GetUtcNow()));
        }
    }
}
