using Microsoft.Extensions.Logging;

namespace Snapper.Cluster.Links;

/// <summary>Log lines of the links. Ids 1100 to 1119.</summary>
internal static partial class LinkLog
{
    [LoggerMessage(EventId = 1100, Level = LogLevel.Information, Message = "Direct link to {Peer} at {Address}")]
    public static partial void Made(ILogger logger, string peer, string address);

    [LoggerMessage(
        EventId = 1101, Level = LogLevel.Warning,
        Message = "There is no direct link to {Peer}; its packets go through the sidecars: {Problem}")]
    public static partial void ThroughSidecar(ILogger logger, string peer, string problem);

    [LoggerMessage(
        EventId = 1102, Level = LogLevel.Warning,
        Message = "A direct link was refused: {Problem} ({Others} more since the last such line)")]
    public static partial void Refused(ILogger logger, string problem, long others);

    [LoggerMessage(EventId = 1103, Level = LogLevel.Debug, Message = "A link of another worker has ended: {Problem}")]
    public static partial void Ended(ILogger logger, string problem);

    [LoggerMessage(EventId = 1104, Level = LogLevel.Warning,
        Message = "A connection for a link could not be taken: {Problem}")]
    public static partial void NotAccepted(ILogger logger, string problem);
}
