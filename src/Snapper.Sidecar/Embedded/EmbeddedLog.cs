using Microsoft.Extensions.Logging;

namespace Snapper.Sidecar.Embedded;

internal static partial class EmbeddedLog
{
    [LoggerMessage(EventId = 3101, Level = LogLevel.Information, Message = "The embedded sidecar waits for the app: {Problem}")]
    public static partial void AppNotReady(ILogger logger, string problem);

    [LoggerMessage(EventId = 3102, Level = LogLevel.Warning, Message = "The embedded sidecar stopped before the app had heard of every deactivation: {Problem}")]
    public static partial void DeactivationIncomplete(ILogger logger, string problem);

    [LoggerMessage(EventId = 3103, Level = LogLevel.Information, Message = "The embedded sidecar (no Dapr runtime) serves Dapr's HTTP API at {Endpoint} for the app on port {AppPort}")]
    public static partial void Started(ILogger logger, Uri endpoint, int appPort);
}
