namespace Snapper.Server.Hosting;

/// <summary>Every log line of the server's composition root. Ids 2000 to 2099.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(EventId = 2000, Level = LogLevel.Warning, Message = "The log cannot be opened yet; trying again: {Detail}")]
    public static partial void LogNotReachable(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 2002, Level = LogLevel.Critical,
        Message = "LOST LOG. {Detail} Bring the data back and start again; or accept the loss: './snapper up --accept-lost-log', or remove that file.")]
    public static partial void LogLost(ILogger logger, string detail);

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

    [LoggerMessage(
        EventId = 2001, Level = LogLevel.Critical,
        Message = "DAMAGED {Place}: {Detail} Nothing was changed, and no worker may run on it. Keep a copy, then restore a backup of the whole storage, or repair the place named here and start again.")]
    public static partial void LogDamaged(ILogger logger, string place, string detail);
}
