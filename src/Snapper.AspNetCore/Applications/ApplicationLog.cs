namespace Snapper.AspNetCore.Applications;

/// <summary>What a worker in an application says of its life there. Ids 2050 to 2059.</summary>
internal static partial class ApplicationLog
{
    [LoggerMessage(EventId = 2050, Level = LogLevel.Critical, Message = "The worker cannot serve: {Detail}")]
    public static partial void CannotServe(ILogger logger, string detail);

    [LoggerMessage(EventId = 2051, Level = LogLevel.Critical, Message = "The worker has failed")]
    public static partial void Failed(ILogger logger, Exception defect);

    [LoggerMessage(
        EventId = 2052, Level = LogLevel.Error,
        Message = "{Worker} has stopped by itself: the application stops with exit code {Code}")]
    public static partial void Stops(ILogger logger, string worker, int code);

    [LoggerMessage(
        EventId = 2053, Level = LogLevel.Warning,
        Message = "Other accounts may look into the data directory: {Detail}")]
    public static partial void OthersMayLook(ILogger logger, string detail);

    [LoggerMessage(
        EventId = 2054,
        Message = "There is no Dapr: an embedded stand-in, which is not for production, serves its API at port {Port}. "
            + "'dapr run' sets DAPR_HTTP_PORT; with a daprd that runs by itself, set it to that one's port")]
    public static partial void StandsIn(ILogger logger, LogLevel level, int port);

    [LoggerMessage(
        EventId = 2055, Level = LogLevel.Information,
        Message = "{Worker} of the app {AppId} keeps its data in {Folder}")]
    public static partial void KeepsDataIn(ILogger logger, string worker, string appId, string folder);
}
