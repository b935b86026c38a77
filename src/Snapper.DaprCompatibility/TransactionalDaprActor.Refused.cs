namespace Snapper.DaprCompatibility;

/// <summary>
/// The members of Dapr's base class that have no place in a transaction: each is an error of the compiler.
/// </summary>
public abstract partial class TransactionalDaprActor
{
    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="state">What it carries.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task<IActorReminder> RegisterReminderAsync(
        string reminderName, byte[] state, TimeSpan dueTime, TimeSpan period) => throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="state">What it carries.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    /// <param name="ttl">How long it lives.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task<IActorReminder> RegisterReminderAsync(
        string reminderName, byte[] state, TimeSpan dueTime, TimeSpan period, TimeSpan ttl) =>
        throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="state">What it carries.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    /// <param name="repetitions">How many times it comes.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task<IActorReminder> RegisterReminderAsync(
        string reminderName, byte[] state, TimeSpan dueTime, TimeSpan period, int repetitions) =>
        throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="state">What it carries.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    /// <param name="repetitions">How many times it comes.</param>
    /// <param name="ttl">How long it lives.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task<IActorReminder> RegisterReminderAsync(
        string reminderName, byte[] state, TimeSpan dueTime, TimeSpan period, int repetitions, TimeSpan ttl) =>
        throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task<IActorReminder> GetReminderAsync(string reminderName) => throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminder">The reminder.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task UnregisterReminderAsync(IActorReminder reminder) => throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="reminderName">Its name.</param>
    [Obsolete(Refusals.Reminders, error: true)]
    protected Task UnregisterReminderAsync(string reminderName) => throw Refused(Refusals.Reminders);

    /// <summary>Is refused.</summary>
    /// <param name="timerName">Its name.</param>
    /// <param name="callback">Name of the method to call.</param>
    /// <param name="callbackParams">What the method is given.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    [Obsolete(Refusals.Timers, error: true)]
    public Task<ActorTimer> RegisterTimerAsync(
        string timerName, string callback, byte[] callbackParams, TimeSpan dueTime, TimeSpan period) =>
        throw Refused(Refusals.Timers);

    /// <summary>Is refused.</summary>
    /// <param name="timerName">Its name.</param>
    /// <param name="callback">Name of the method to call.</param>
    /// <param name="callbackParams">What the method is given.</param>
    /// <param name="dueTime">When it comes first.</param>
    /// <param name="period">How often it comes.</param>
    /// <param name="ttl">How long it lives.</param>
    [Obsolete(Refusals.Timers, error: true)]
    public Task<ActorTimer> RegisterTimerAsync(
        string timerName, string callback, byte[] callbackParams, TimeSpan dueTime, TimeSpan period, TimeSpan ttl) =>
        throw Refused(Refusals.Timers);

    /// <summary>Is refused.</summary>
    /// <param name="timer">The timer.</param>
    [Obsolete(Refusals.Timers, error: true)]
    protected Task UnregisterTimerAsync(ActorTimer timer) => throw Refused(Refusals.Timers);

    /// <summary>Is refused.</summary>
    /// <param name="timerName">Its name.</param>
    [Obsolete(Refusals.Timers, error: true)]
    protected Task UnregisterTimerAsync(string timerName) => throw Refused(Refusals.Timers);

    private static NotSupportedException Refused(string why) => new(why);
}
