namespace Snapper.Server.Hosting;

/// <summary>Every log line of the server's composition root. Ids 2000 to 2099.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(EventId = 2000, Level = LogLevel.Warning, Message = "The log cannot be opened yet; trying again: {Detail}")]
    public static partial void LogNotReachable(ILogger logger, string detail);
}
