using Microsoft.Extensions.Logging;

namespace Snapper.Runtime.Execution;

/// <summary>Every log line of the runtime. Ids 1000 to 1099.</summary>
public static partial class RuntimeLog
{
    [LoggerMessage(EventId = 1000, Level = LogLevel.Critical, Message = "Worker stopped: {Reason}")]
    public static partial void WorkerFailed(ILogger logger, Exception exception, string reason);

    [LoggerMessage(EventId = 1014, Level = LogLevel.Critical, Message = "ACKNOWLEDGED COMMITS MAY BE LOST: the store of {Worker} has less than it had acknowledged. {Detail}")]
    public static partial void StoreLost(ILogger logger, string worker, string detail);

    [LoggerMessage(EventId = 1001, Level = LogLevel.Error, Message = "Log unavailable: {Detail}")]
    public static partial void LogUnavailable(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 1040, Level = LogLevel.Error,
        Message = "The store uses {Used} of {Max} bytes: no transaction is begun that may write")]
    public static partial void StoreFull(ILogger logger, long used, long max);

    [LoggerMessage(
        EventId = 1041, Level = LogLevel.Information, Message = "The store has room again: {Used} of {Max} bytes")]
    public static partial void StoreHasRoom(ILogger logger, long used, long max);

    [LoggerMessage(
        EventId = 1042, Level = LogLevel.Debug, Message = "The store does not tell how much memory it uses: {Detail}")]
    public static partial void StoreMemoryUnknown(ILogger logger, string detail);

    [LoggerMessage(EventId = 1002, Level = LogLevel.Information, Message = "Log available again")]
    public static partial void LogAvailable(ILogger logger);

    [LoggerMessage(
        EventId = 1003, Level = LogLevel.Warning,
        Message = "State of {Actor} could not be loaded; trying again ({Others} more since the last such line)")]
    public static partial void LoadFailed(ILogger logger, Exception exception, string actor, int others);

    [LoggerMessage(EventId = 1004, Level = LogLevel.Error, Message = "State of {Actor} is unreadable: {Detail}")]
    public static partial void BrokenState(ILogger logger, string actor, string detail);

    [LoggerMessage(EventId = 1005, Level = LogLevel.Information, Message = "Method {Method} failed unmarked and holds its turns from now on: {Detail}")]
    public static partial void MethodMarked(ILogger logger, string method, string detail);

    [LoggerMessage(EventId = 1006, Level = LogLevel.Error, Message = "Executor was stuck in {Method}; it goes on with a new thread")]
    public static partial void ExecutorStuck(ILogger logger, string method);

    [LoggerMessage(EventId = 1007, Level = LogLevel.Information, Message = "Worker {Worker} is open: epoch {Epoch}, {Records} records of {Bytes} bytes recovered in {ElapsedMs} ms")]
    public static partial void Opened(ILogger logger, string worker, long epoch, long records, long bytes, double elapsedMs);

    [LoggerMessage(EventId = 1008, Level = LogLevel.Information, Message = "Worker {Worker} drains {InFlight} requests")]
    public static partial void Draining(ILogger logger, string worker, int inFlight);

    [LoggerMessage(EventId = 1009, Level = LogLevel.Warning, Message = "Worker {Dead} is fenced; its actors are taken over")]
    public static partial void TakingOver(ILogger logger, string dead);

    [LoggerMessage(EventId = 1010, Level = LogLevel.Information, Message = "The actors of worker {Dead} were taken over: {Records} records read, {InDoubt} were in doubt")]
    public static partial void TakenOver(ILogger logger, string dead, long records, int inDoubt);

    [LoggerMessage(EventId = 1011, Level = LogLevel.Warning, Message = "Worker {Peer} cannot be reached although its lease lives: it is evicted")]
    public static partial void Evicting(ILogger logger, string peer);

    [LoggerMessage(EventId = 1012, Level = LogLevel.Information, Message = "The policy moves {Key} to {Target}: {Why}")]
    public static partial void PolicyMoves(ILogger logger, string key, string target, string why);

    [LoggerMessage(EventId = 1013, Level = LogLevel.Error, Message = "The master's log takes nothing any more ({Status}): {Detail}. The master's lease is given up; whoever takes it opens the log anew")]
    public static partial void MasterLogLost(ILogger logger, string status, string detail);

    [LoggerMessage(EventId = 1015, Level = LogLevel.Warning, Message = "The actors are not divided among the workers yet: {Why}")]
    public static partial void NotDivided(ILogger logger, string why);

    [LoggerMessage(EventId = 1020, Level = LogLevel.Error, Message = "ACT {Act} stays in doubt here and keeps its actors: the log of its root's worker {Root} cannot be read: {Detail}. It is asked for again")]
    public static partial void StaysInDoubt(ILogger logger, Exception exception, long act, string root, string detail);

    [LoggerMessage(EventId = 1030, Level = LogLevel.Warning, Message = "Worker {Peer} does not answer directly although it lives; what is for it goes by way of {Via}")]
    public static partial void Detour(ILogger logger, string peer, string via);

    [LoggerMessage(EventId = 1031, Level = LogLevel.Information, Message = "Worker {Peer} answers directly again")]
    public static partial void DirectAgain(ILogger logger, string peer);

    [LoggerMessage(EventId = 1032, Level = LogLevel.Error, Message = "Worker {Worker} cannot settle what is in doubt and gives its actors up: {Detail}")]
    public static partial void GivingUp(ILogger logger, string worker, string detail);

    [LoggerMessage(
        EventId = 1033,
        Level = LogLevel.Error,
        Message = "The copied outcomes of worker {Worker}, which is gone, cannot be read: {Detail}. Ids that are found nowhere else stay in doubt until they can")]
    public static partial void ArchiveDamaged(ILogger logger, string worker, string detail);

    [LoggerMessage(
        EventId = 1034,
        Level = LogLevel.Critical,
        Message = "The actors of worker {Dead} cannot be taken over, or not all of them, since something is damaged, "
            + "or deleted: {Detail}. It is tried again")]
    public static partial void TakeOverDamaged(ILogger logger, string dead, string detail);

    [LoggerMessage(
        EventId = 1035,
        Level = LogLevel.Critical,
        Message = "There can be no master, since its log is damaged, or deleted: {Detail}. "
            + "Transactions over several workers wait. It is tried again")]
    public static partial void MasterLogDamaged(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 1036,
        Level = LogLevel.Critical,
        Message = "An open plan of a migration is damaged: {Detail}. "
            + "It is not carried out, and what it names stays where it is")]
    public static partial void PlanDamaged(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 1037,
        Level = LogLevel.Critical,
        Message = "States cannot be checkpointed, and the log is not trimmed and grows: {Detail} It is tried again")]
    public static partial void CheckpointDamaged(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 1038,
        Level = LogLevel.Warning,
        Message = "Checkpoints have failed for {Seconds} s, and the log is not trimmed and grows: {Detail}. "
            + "They are tried again")]
    public static partial void CheckpointsFail(ILogger logger, long seconds, string detail);

    [LoggerMessage(
        EventId = 1039,
        Level = LogLevel.Error,
        Message = "A packet of {Peer} is refused, and so is all that it sends until this one can be read: {Problem} "
            + "One of the two is of another version, or another sends packets in its name")]
    public static partial void Unreadable(ILogger logger, string peer, string problem);

    [LoggerMessage(
        EventId = 1043,
        Level = LogLevel.Error,
        Message = "The declaration of {Type}.{Method} had not ended after {BoundMs} ms. Its thread is given up, and "
            + "requests that need it are refused until it comes back")]
    public static partial void DeclarationStuck(ILogger logger, string type, string method, long boundMs);
}
