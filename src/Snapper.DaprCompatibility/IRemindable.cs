namespace Snapper.DaprCompatibility;

/// <summary>Is refused: to implement it is an error of the compiler, which says what to do instead.</summary>
[Obsolete(Refusals.Reminders, error: true)]
public interface IRemindable
{
    /// <summary>Is never called.</summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="state">What it carries.</param>
    /// <param name="dueTime">When it came first.</param>
    /// <param name="period">How often it comes.</param>
    Task ReceiveReminderAsync(string reminderName, byte[] state, TimeSpan dueTime, TimeSpan period);
}

/// <summary>Is refused, as <see cref="IRemindable"/>.</summary>
[Obsolete(Refusals.Reminders, error: true)]
public interface IActorReminder;

/// <summary>Is refused.</summary>
[Obsolete(Refusals.Timers, error: true)]
public abstract class ActorTimer;
