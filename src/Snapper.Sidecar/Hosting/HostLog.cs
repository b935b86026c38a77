using Microsoft.Extensions.Logging;

namespace Snapper.Sidecar.Hosting;

internal static partial class HostLog
{
    [LoggerMessage(EventId = 3111, Level = LogLevel.Debug, Message = "The sidecar gave up a call of {Method} on an actor of type {ActorType}")]
    public static partial void CallerGone(ILogger logger, string actorType, string method);

    [LoggerMessage(EventId = 3112, Level = LogLevel.Error, Message = "A call of {Method} on an actor of type {ActorType} failed in the host")]
    public static partial void HostFailed(ILogger logger, string actorType, string method, Exception failure);
}
