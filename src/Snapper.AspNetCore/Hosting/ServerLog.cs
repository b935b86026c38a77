namespace Snapper.AspNetCore.Hosting;

/// <summary>Every log line of the server's composition root. Ids 2000 to 2049.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(EventId = 2000, Level = LogLevel.Warning, Message = "The log cannot be opened yet; trying again: {Detail}")]
    public static partial void LogNotReachable(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 2002, Level = LogLevel.Critical,
        Message =
            "LOST LOG. {Detail} Bring the data back and start again; or accept the loss: start with --accept-lost-log, or remove that file.")]
    public static partial void LogLost(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 2017, Level = LogLevel.Warning,
        Message = "Another process (pid {Pid}) works in {Folder}: waiting for its end")]
    public static partial void WaitsForFolder(ILogger logger, string folder, string pid);

    [LoggerMessage(EventId = 2005, Level = LogLevel.Critical, Message = "OTHER PLACEMENT. {Detail}")]
    public static partial void OtherPlacement(ILogger logger, string detail);

    [LoggerMessage(EventId = 2006, Level = LogLevel.Information, Message = "The actors of this Redis were divided among several workers: {Worker} joins them, and takes over what those had that do not come back")]
    public static partial void JoinsSeveral(ILogger logger, string worker);

    [LoggerMessage(EventId = 2003, Level = LogLevel.Warning, Message = "What is remembered of the log could not be written, and stays behind: {Detail}")]
    public static partial void MemoryNotWritten(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 2004, Level = LogLevel.Warning,
        Message = "The maxmemory-policy of the {Place} is unknown: {Detail}. It must be noeviction, or acknowledged commits may be deleted when memory runs out")]
    public static partial void EvictionUnknown(ILogger logger, string place, string detail);

    [LoggerMessage(EventId = 2007, Level = LogLevel.Information, Message = "{Worker} gives {Entries} partitions and single actors to the others before it stops")]
    public static partial void DrainOnStop(ILogger logger, string worker, long entries);

    [LoggerMessage(EventId = 2008, Level = LogLevel.Information, Message = "{Worker} owns nothing any more after {Milliseconds} ms, and stops")]
    public static partial void HasLeft(ILogger logger, string worker, long milliseconds);

    [LoggerMessage(EventId = 2009, Level = LogLevel.Warning, Message = "{Worker} stops with what it owns, which is its own again when it comes back, or taken over: {Detail}")]
    public static partial void LeavesNothing(ILogger logger, string worker, string detail);

    [LoggerMessage(EventId = 2010, Level = LogLevel.Information, Message = "{Worker} owns nothing and asks for its share: {Entries} partitions move")]
    public static partial void TakesShare(ILogger logger, string worker, int entries);

    [LoggerMessage(EventId = 2011, Level = LogLevel.Warning, Message = "{Worker} has not got a share, and owns nothing until somebody rebalances: {Detail}")]
    public static partial void HasNoShare(ILogger logger, string worker, string detail);

    [LoggerMessage(EventId = 2012, Level = LogLevel.Information, Message = "The sidecar could not be told to end: {Detail}")]
    public static partial void SidecarNotEnded(ILogger logger, string detail);

    [LoggerMessage(EventId = 2013, Level = LogLevel.Information, Message = "{Worker} is warm after {Milliseconds} ms: {Transactions} transactions committed in memory, {Methods} methods compiled, {Left}")]
    public static partial void WarmedUp(ILogger logger, string worker, long milliseconds, int transactions, long methods, string left);

    [LoggerMessage(EventId = 2014, Level = LogLevel.Warning, Message = "{Worker} could not warm up, and goes on: its code is compiled as it is needed")]
    public static partial void NotWarmedUp(ILogger logger, string worker, Exception problem);

    [LoggerMessage(
        EventId = 2015, Level = LogLevel.Error,
        Message = "OUT OF MEMORY HEADROOM: the heap holds {Bytes} of {Limit} bytes. New work is refused until it holds "
            + "less; what is under way goes on")]
    public static partial void NoHeadroom(ILogger logger, long bytes, long limit);

    [LoggerMessage(
        EventId = 2016, Level = LogLevel.Warning,
        Message = "The heap holds {Bytes} of {Limit} bytes: new work is let in again")]
    public static partial void HeadroomAgain(ILogger logger, long bytes, long limit);

    [LoggerMessage(
        EventId = 2018, Level = LogLevel.Error,
        Message = "Snapper:Log:Replicas is {Wanted}, and the {Place} has {Found} connected: nothing is acknowledged "
            + "before it has so many")]
    public static partial void TooFewReplicas(ILogger logger, int wanted, string place, int found);

    [LoggerMessage(
        EventId = 2019, Level = LogLevel.Information, Message = "The {Place} has {Found} replicas connected again")]
    public static partial void EnoughReplicas(ILogger logger, string place, int found);

    [LoggerMessage(
        EventId = 2001, Level = LogLevel.Critical,
        Message = "DAMAGED {Place}: {Detail} Nothing was changed, and no worker may run on it. Keep a copy, then restore a backup of the whole storage, or repair the place named here and start again.")]
    public static partial void LogDamaged(ILogger logger, string place, string detail);
}
