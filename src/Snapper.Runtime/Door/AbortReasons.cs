using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Door;

/// <summary>What the reasons of aborts mean for callers and for the request manager.</summary>
public static class AbortReasons
{
    /// <summary>The same request may succeed later unchanged.</summary>
    public static bool IsRetryable(AbortReason reason) => reason is not (AbortReason.Application or AbortReason.Undeclared);

    /// <summary>The outcome is kept for its idempotency key: the same id gets the same answer.</summary>
    public static bool IsKept(AbortReason reason) => reason is AbortReason.None or AbortReason.Application or AbortReason.Undeclared;

    /// <summary>The name in the HTTP contract.</summary>
    public static string Name(AbortReason reason) => reason switch
    {
        AbortReason.Application => "application",
        AbortReason.Conflict => "conflict",
        AbortReason.Deadlock => "deadlock",
        AbortReason.Serializability => "serializability",
        AbortReason.Undeclared => "undeclared",
        AbortReason.Timeout => "timeout",
        AbortReason.Migration => "migration",
        AbortReason.Overloaded => "overloaded",
        AbortReason.Cancelled => "cancelled",
        AbortReason.Failure => "failure",
        AbortReason.Undone => "undone", // only to operators: the system runs it again, and callers never hear of it
        _ => "none",
    };
}
