namespace Snapper.Simulation.Faults;

/// <summary>Everything that the simulator makes go wrong; each occurrence is counted.</summary>
public enum FaultKind
{
    /// <summary>A worker ends at once; what it had in memory is gone.</summary>
    WorkerCrash,

    /// <summary>A worker ends while it recovers, or another one begins to.</summary>
    CrashInRecovery,

    /// <summary>A worker stands still for a while, then goes on as if nothing had been.</summary>
    WorkerPause,

    /// <summary>Another worker opens the log while the old one goes on.</summary>
    TwoOwners,

    /// <summary>A worker is asked to stop, drains, and starts anew.</summary>
    GracefulRestart,

    /// <summary>An executor does nothing for a while.</summary>
    ExecutorStall,

    /// <summary>A call to the log server is lost on its way.</summary>
    StorageCallLost,

    /// <summary>The answer of the log server is lost; the call was carried out.</summary>
    StorageAnswerLost,

    /// <summary>A call to the log server arrives long after its sender gave it up.</summary>
    StorageCallLate,

    /// <summary>The log server answers slowly.</summary>
    StorageSlow,

    /// <summary>The log server has no room.</summary>
    StorageFull,

    /// <summary>The log server is away.</summary>
    StorageDown,

    /// <summary>A byte of a record is changed while no worker runs: recovery has to see it.</summary>
    LogDamaged,

    /// <summary>A request does not reach the worker.</summary>
    RequestLost,

    /// <summary>A request reaches the worker twice (Dapr repeats calls).</summary>
    RequestRepeated,

    /// <summary>A request reaches a worker that another has replaced.</summary>
    RequestMisrouted,

    /// <summary>An answer does not reach its client.</summary>
    AnswerLost,

    /// <summary>A client goes away before the answer comes.</summary>
    ClientGone,

    /// <summary>A client sends its request again, with the same id, without waiting for the answer.</summary>
    ClientImpatient,
}
