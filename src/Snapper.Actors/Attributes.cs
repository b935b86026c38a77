namespace Snapper.Actors;

/// <summary>Names the actor type that a class implements, as it appears in access sets and addresses.</summary>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class TransactionalActorAttribute(string type) : Attribute
{
    /// <summary>Name of the type: 1 to 64 letters, digits, <c>_</c>, <c>-</c> or <c>.</c>; begins with a letter.</summary>
    public string Type { get; } = type;

    /// <summary>
    /// Longest time, in milliseconds, that user code of a transaction may keep others waiting on an actor of this type
    /// (protocol W4). 0: the worker's setting, 1,000 by default.
    /// </summary>
    public int TurnBoundMs { get; init; }
}

/// <summary>
/// Says that the method, as the root of a PACT, is likely to abort after it has called others: every declared actor then
/// holds its turn until the outcome is known, so that an abort undoes nothing of anyone else (protocol A1, A3).
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class MayAbortAttribute : Attribute;

/// <summary>Says that the method, as a root, changes no actor. Shown by the actor-types endpoint; not enforced.</summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class ReadOnlyMethodAttribute : Attribute;
