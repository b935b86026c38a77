namespace Snapper.Dashboard.Parts;

/// <summary>An abort reason in words.</summary>
/// <param name="Name">As the API says it.</param>
/// <param name="Css">Its colour.</param>
/// <param name="What">What happened.</param>
/// <param name="Why">The rule behind it.</param>
/// <param name="Do">What to do about it.</param>
public sealed record Reason(string Name, string Css, string What, string Why, string Do);

/// <summary>All abort reasons.</summary>
public static class Reasons
{
    /// <summary>In the order in which they are shown.</summary>
    public static readonly IReadOnlyList<Reason> All =
    [
        new("application", "c5", "A method of the actor threw, or called Abort.",
            "That is the application's own decision: nothing was written, and the system does not repeat it, because it would end the same way.",
            "Read the message. Callers see it, too, with status 409 and retryable = false."),
        new("conflict", "c4", "This ACT wanted a lock that an older transaction held.",
            "Wait-die: an older transaction waits for a younger one; a younger one that meets an older one dies and is repeated with the age it had, so that it grows old and gets its turn. No ring of waiting can arise among ACTs.",
            "Nothing, if it was repeated and committed. When it is frequent: declare the actors and send it as a PACT, which never conflicts; or split the hot actor."),
        new("deadlock", "c8", "It waited too long where a ring was possible: this ACT had to give way.",
            "Batches take their actors in the order of their numbers and cannot give way; an ACT can. It goes when it stands behind a batch and ahead of one that ends no later; or when others have waited long behind it on several workers, where no worker sees whether they wait in a ring.",
            "Nothing, if it was repeated. When it is frequent: send the transaction as a PACT, or let it touch its actors in fewer, shorter steps."),
        new("serializability", "c6", "The ACT could not be given one place among the batches.",
            "Each actor it touched says behind which batch it ran, and before which. There must be a place behind the highest of the former and before the lowest of the latter (rule H5). Here there was none, so committing would have let others see an impossible order.",
            "Nothing, if it was repeated. When it is frequent: send it as a PACT, or read fewer actors that batches write."),
        new("undeclared", "c9", "A PACT touched an actor, or made a call, that it had not declared.",
            "Batches are ordered by what they declare. What is not declared cannot be given its place afterwards.",
            "Declare it. accessMode 'record' tells what a transaction touches; 'audit' compares. The page Declared, touched shows methods that do this."),
        new("timeout", "c7", "It did not end within its time.",
            "The request's own deadline (timeoutMs) passed, or its code ran longer than the turn bound while others waited for the actor.",
            "Look at the timeline: waiting means that an actor is too hot, executing that a method is too slow. Raise timeoutMs only when the work is right to take so long."),
        new("migration", "c10", "An actor that it touched was being moved to another worker.",
            "A move freezes the actor for some milliseconds. An ACT that has begun cannot wait for it.",
            "Nothing, if it was repeated and committed. Frequent ones: move at quieter times."),
        new("overloaded", "c11", "A bounded queue was full.",
            "The worker takes only what it can answer in time; what is beyond that is refused at once instead of waiting without an end.",
            "Slow down (the answer says Retry-After), spread hot actors, or add workers and rebalance."),
        new("cancelled", "c12", "The caller went away before the transaction had a number.",
            "What has no number has touched nothing, so it is dropped.",
            "Look at the caller: its own timeout is shorter than the time in the queue."),
        new("failure", "c3", "The worker was lost before the decision, or a stored state cannot be read.",
            "What was not decided when a worker dies did not happen.",
            "Send it again with the same id. The page Workers tells about restarts; a damaged state is named in the message."),
        new("undone", "c2", "It was rolled back because of another transaction, and repeated by the system.",
            "Batches run before earlier ones are decided. When one of those aborts, everything that has built on it is undone and runs again: a cascade, with that transaction at its root.",
            "Nothing: callers do not see it. When it is frequent, transactions that often abort for reasons of the application stand before many others; let them check before they write."),
    ];

    private static readonly Dictionary<string, Reason> s_byName = All.ToDictionary(reason => reason.Name);

    /// <summary>The reason of this name; unknown ones say so.</summary>
    public static Reason Of(string name) => s_byName.GetValueOrDefault(name) ?? new Reason(
        name, "c1", $"It was aborted for the reason '{name}'.", "This version of the dashboard does not know that reason.", "Read the message.");
}
