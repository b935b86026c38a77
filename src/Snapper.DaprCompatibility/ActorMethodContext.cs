namespace Snapper.DaprCompatibility;

/// <summary>Which method runs, for what a class does around its methods.</summary>
public readonly struct ActorMethodContext
{
    internal ActorMethodContext(string methodName) => MethodName = methodName;

    /// <summary>The method's name.</summary>
    public string MethodName { get; }

    /// <summary>
    /// Always <see cref="ActorCallType.ActorInterfaceMethod"/>: there are no timers and no reminders.
    /// </summary>
    public ActorCallType CallType => ActorCallType.ActorInterfaceMethod;
}

/// <summary>Why a method runs.</summary>
public enum ActorCallType
{
    /// <summary>It was called.</summary>
    ActorInterfaceMethod = 0,

    /// <summary>Does not occur.</summary>
    TimerMethod = 1,

    /// <summary>Does not occur.</summary>
    ReminderMethod = 2,
}
