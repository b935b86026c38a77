namespace Snapper.Simulation.Cluster;

/// <summary>Everything that goes wrong among several workers, and what their operators do meanwhile; each occurrence is counted.</summary>
public enum ClusterFaultKind
{
    /// <summary>A worker ends at once, and is started again soon.</summary>
    WorkerCrash,

    /// <summary>A worker ends at once and stays away: it is taken over. It may come back later.</summary>
    WorkerLost,

    /// <summary>The master ends at once, and is started again soon.</summary>
    MasterCrash,

    /// <summary>The master ends at once and stays away.</summary>
    MasterLost,

    /// <summary>A worker stands still for less than its lease.</summary>
    WorkerPause,

    /// <summary>A worker stands still for longer than its lease, and wakes with an epoch that is over.</summary>
    WorkerPausedLong,

    /// <summary>Another life of a worker begins while the earlier one goes on.</summary>
    WorkerReplaced,

    /// <summary>A worker is asked to stop, drains, and is started again.</summary>
    GracefulRestart,

    /// <summary>An executor does nothing for a while.</summary>
    ExecutorStall,

    /// <summary>A worker ends just before or after a step of its with the shared store.</summary>
    CrashAtStep,

    /// <summary>A worker stands still just before or after a step of its with the shared store, for longer than its lease.</summary>
    PauseAtStep,

    /// <summary>A worker ends just after it was sent, or has sent, a message of a kind.</summary>
    CrashAtMessage,

    /// <summary>A worker stands still there for longer than its lease.</summary>
    PauseAtMessage,

    /// <summary>The shared store is away for everybody.</summary>
    StoreDown,

    /// <summary>The shared store is away for one worker, which lives.</summary>
    StoreCut,

    /// <summary>... which reaches it, but hears no answers.</summary>
    StoreAnswersCut,

    /// <summary>The log of a worker has no room.</summary>
    StoreFull,

    /// <summary>Two workers do not reach each other.</summary>
    NetworkCut,

    /// <summary>A worker does not reach another one, which reaches it.</summary>
    NetworkCutOneWay,

    /// <summary>A worker reaches no other one, and none reaches it.</summary>
    Isolated,

    /// <summary>Single actors are to move.</summary>
    ActorsMoved,

    /// <summary>Partitions are to move.</summary>
    PartitionsMoved,

    /// <summary>Everything of a worker is to move.</summary>
    WorkerDrained,

    /// <summary>A worker joins, and gets a share.</summary>
    WorkerJoined,

    /// <summary>The executors and mailboxes of a worker stand still, and its lease is renewed.</summary>
    WorkerSilent,

    /// <summary>All workers are stopped and started again, one after the other.</summary>
    RollingRestart,

    /// <summary>The clock of a worker is set, forward or back. Timers do not follow it.</summary>
    ClockStepped,

    /// <summary>The clock of a worker begins to run fast or slow.</summary>
    ClockDrifts,

    /// <summary>The clock of the shared store is set, forward or back: leases run by it.</summary>
    StoreClockStepped,

    /// <summary>The shared store tells a worker whose log lives that the directory has lost what it had.</summary>
    StoreSaysLost,

    /// <summary>The shared store tells a worker whose log lives that it is no member any more.</summary>
    StoreSaysStale,

    /// <summary>The run began with one worker alone, which was stopped; it and others go on with its data.</summary>
    OneBecameSeveral,

    /// <summary>A call to the shared store is lost on its way.</summary>
    StoreCallLost,

    /// <summary>Its answer is lost; it was carried out.</summary>
    StoreAnswerLost,

    /// <summary>It arrives long after its sender gave it up.</summary>
    StoreCallLate,

    /// <summary>It takes long.</summary>
    StoreSlow,

    /// <summary>A packet between workers is lost, and its sender hears that something went wrong.</summary>
    PacketLost,

    /// <summary>... and its sender hears nothing.</summary>
    PacketVanished,

    /// <summary>The answer to a packet is lost.</summary>
    PacketAnswerLost,

    /// <summary>A packet arrives once more later.</summary>
    PacketDoubled,

    /// <summary>A packet arrives long after its sender gave it up.</summary>
    PacketLate,

    /// <summary>A packet takes long.</summary>
    PacketSlow,

    /// <summary>Another server takes the place of the shared store, and lacks the last that was done: of all logs, states, leases, entries and plans.</summary>
    StoreLosesTail,

    /// <summary>
    /// A plan of a migration is forgotten as soon as it has ended, as when many others have ended since.
    /// </summary>
    PlanForgotten,

    /// <summary>The record of who is master is lost, while the log of the master lives.</summary>
    MasterForgotten,

    /// <summary>
    /// Another server takes the place of the shared store and lacks nothing. One worker stays connected to the former
    /// one for a while, which answers reads as of then and takes no writes.
    /// </summary>
    StoreFailsOver,

    /// <summary>
    /// Something else is put into the place of one actor's state, and taken out of it later; its owner may end
    /// meanwhile.
    /// </summary>
    PlaceDamaged,
}
