using Microsoft.Extensions.Logging;

namespace Snapper.Sidecar.Hosting;

internal static partial class HostLog
{
    [LoggerMessage(EventId = 3111, Level = LogLevel.Debug, Message = "The sidecar gave up a call of {Method} on an actor of type {ActorType}")]
    public static partial void CallerGone(ILogger logger, string actorType, string method);

    [LoggerMessage(EventId = 3112, Level = LogLevel.Error, Message = "A call of {Method} on an actor of type {ActorType} failed in the host")]
    public static partial void HostFailed(ILogger logger, string actorType, string method, Exception failure);

    [LoggerMessage(
        EventId = 3113, Level = LogLevel.Warning,
        Message = "The sidecar still has timers or reminders of actors of type {ActorType}, which take none, as "
            + "{Method} of {ActorId}. They are refused, and a reminder that comes once is lost. To delete one: DELETE "
            + "/v1.0/actors/TYPE/ID/reminders/NAME at the sidecar. This is said once for the type")]
    public static partial void NoTimers(ILogger logger, string actorType, string method, string actorId);
}
