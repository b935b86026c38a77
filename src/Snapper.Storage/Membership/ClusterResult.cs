namespace Snapper.Storage.Membership;

/// <summary>What became of a step.</summary>
public enum ClusterStatus : byte
{
    /// <summary>Done.</summary>
    Done,

    /// <summary>It had been done before; nothing was changed.</summary>
    AlreadyDone,

    /// <summary>The caller's own epoch is not the current one of its log: it stops everything and drops its memory (R4).</summary>
    Fenced,

    /// <summary>The store knows less than the caller was told: it lost data, and its generation was raised. Every worker recovers from its log (L6).</summary>
    Lost,

    /// <summary>Not now: a lease still runs, or another is at it. The same may work later.</summary>
    NotYet,

    /// <summary>What the caller assumed of others is so no longer: an epoch, an owner, a plan. Look again before anything else.</summary>
    Stale,

    /// <summary>It contradicts what is there: a plan's id or actor that another plan has, partitions of a worker that wants to leave.</summary>
    Conflict,

    /// <summary>There is no such thing.</summary>
    NotFound,
}

/// <summary>Status with words for people.</summary>
public readonly record struct ClusterResult(ClusterStatus Status, string Detail = "")
{
    /// <summary>Done, now or before.</summary>
    public bool IsDone => Status is ClusterStatus.Done or ClusterStatus.AlreadyDone;
}

/// <summary>Status with what was asked for.</summary>
/// <param name="Status">What became of the step.</param>
/// <param name="Value">Null unless the status says that it was done.</param>
/// <param name="Detail">Words for people.</param>
public readonly record struct ClusterResult<T>(ClusterStatus Status, T? Value, string Detail = "")
    where T : class
{
    /// <summary>Done, now or before.</summary>
    public bool IsDone => Status is ClusterStatus.Done or ClusterStatus.AlreadyDone;
}
