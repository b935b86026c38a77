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

    /// <summary>A call reaches an older copy: a replica that lags, or an earlier primary.</summary>
    StorageOlder,

    /// <summary>A byte of a record is changed while no worker runs: recovery has to see it.</summary>
    LogDamaged,

    /// <summary>
    /// Something else is put into the place of one actor's state, and taken out of it later; the worker may end
    /// meanwhile.
    /// </summary>
    PlaceDamaged,

    /// <summary>The log server, or the folder of a file log, comes back empty, as another one, or as an older copy: the worker has to refuse it.</summary>
    LogLost,

    /// <summary>The machine ends with everything on it; what its disk had not flushed is lost, kept, or torn.</summary>
    MachineCrash,

    /// <summary>A worker ends between two steps of a call to its disk; what it wrote stays.</summary>
    CrashInDiskCall,

    /// <summary>A crash of the machine took writes that were not flushed.</summary>
    DiskWriteLost,

    /// <summary>... or left the first bytes of them.</summary>
    DiskTornAtAByte,

    /// <summary>... or left some sectors of them.</summary>
    DiskTornBySectors,

    /// <summary>... or took back a name that was given or deleted, whose folder was not flushed.</summary>
    DiskNameLost,

    /// <summary>The disk has no room for a write, and has written a part of it.</summary>
    DiskFull,

    /// <summary>A write fails after a part of it.</summary>
    DiskWriteFails,

    /// <summary>A flush fails, after which nobody knows what is on disk, and no later flush writes it.</summary>
    DiskFlushFails,

    /// <summary>The flush of a folder fails.</summary>
    DiskFolderFlushFails,

    /// <summary>Reading fails.</summary>
    DiskReadFails,

    /// <summary>A step of a call to the disk takes long; whoever shares its locks waits.</summary>
    DiskStall,

    /// <summary>A process waits for a lock that another one, or another call, holds.</summary>
    DiskLockAwaited,

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
