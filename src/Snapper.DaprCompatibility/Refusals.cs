namespace Snapper.DaprCompatibility;

/// <summary>What the compiler says of members that transactional actors do not have.</summary>
internal static class Refusals
{
    public const string Reminders =
        "Transactional actors have no reminders: let a plain Dapr actor with a reminder, a Dapr job or a cron binding "
        + "call a method of this actor when the time has come, with an id that follows from the occasion.";

    public const string Timers =
        "Transactional actors have no timers: let a plain Dapr actor with a timer, a Dapr job or a cron binding "
        + "call a method of this actor when the time has come, with an id that follows from the occasion.";

    public const string TimeToLive =
        "Transactional actors have no states that live for a time only: keep the time of the end in the state (by "
        + "Context.UtcNow), and look at it when the state is read.";
}
