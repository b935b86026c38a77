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
/// Keeps actors together that belong together: those of all types whose ids begin with the same key, up to the first separator, are in one partition, which one worker owns
/// and which moves as a whole. <c>Warehouse</c> <c>3</c>, <c>District</c> <c>3/7</c> and <c>Customer</c> <c>3/7/21</c> are together when all three classes carry it.
/// </summary>
/// <remarks>
/// For good: the workers note it in the directory when the type is first seen, and a worker whose class says something else is refused when it joins. A single actor that was
/// moved by itself stays where it was moved to.
/// </remarks>
/// <param name="separator">Where the key ends: a printable ASCII character, no letter, no digit, no blank. An id without it is its own key.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class PartitionKeyAttribute(char separator = '/') : Attribute
{
    /// <summary>Where the key ends.</summary>
    public char Separator { get; } = separator;
}

/// <summary>
/// Says that the method, as the root of a PACT, is likely to abort after it has called others: every declared actor then
/// holds its turn until the outcome is known, so that an abort undoes nothing of anyone else (protocol A1, A3).
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class MayAbortAttribute : Attribute;

/// <summary>
/// Says that the method changes no actor. A call of it that asks to change its actor's state, or calls a method without this mark, aborts with reason
/// <c>application</c>. Shown by the actor-types endpoint.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class ReadOnlyMethodAttribute : Attribute;

/// <summary>
/// Marks a static function that says which actors a method touches: a request for the method that names neither
/// <c>mode</c> nor <c>access</c> is then a PACT with these. So no caller carries what the method does inside.
/// </summary>
/// <remarks>
/// The function is <c>static</c>, public or internal, returns nothing and takes a <see cref="Declaration"/>, the
/// actor's own id and the method's input, if it has one:
/// <c>[Declares] internal static void Transfer(Declaration declaration, string id, TransferInput input) =&gt;
/// declaration.Actor&lt;IAccount&gt;(input.To);</c> It runs before the transaction begins, on the worker where the
/// request comes in. It sees no state, has no effects and gives the same for the same request.
/// </remarks>
/// <param name="method">The method it declares for; null: the one of the function's own name.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class DeclaresAttribute(string? method = null) : Attribute
{
    /// <summary>The method it declares for; null: the one of the function's own name.</summary>
    public string? Method { get; } = method;
}

/// <summary>
/// Numbers the form of a state, on its type or on the actor class. What is stored carries the number
/// (<c>"$stateVersion"</c>, the first property of its JSON); a state that was stored before the type had the attribute
/// is of version 1. Older ones are read through methods with <see cref="UpcastsAttribute"/>, one from each version to
/// the next; a step that is missing is a build error. A newer one is refused: transactions that touch the actor abort
/// with reason <c>application</c> and code <c>newer_state</c>, and what is stored stays as it is.
/// </summary>
/// <param name="version">Of the form that the type has now: 1 or more. It grows by 1 with each form.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class StateVersionAttribute(int version) : Attribute
{
    /// <summary>Of the form that the type has now.</summary>
    public int Version { get; } = version;

    /// <summary>The oldest version that is still read, 1 by default; older ones are refused by name.</summary>
    public int Oldest { get; init; } = 1;
}

/// <summary>
/// Marks a static function of the state's type or of the actor class that makes the next version out of an older one:
/// <c>[Upcasts(2)] internal static CartV3 Upcast(CartV2 old) =&gt; new(old.Items, []);</c> It takes the older class, or
/// JSON (<c>JsonObject</c>, <c>JsonElement</c>) where that class was deleted, and returns what the next step takes, the
/// state's own type at the end, or JSON. It runs when an actor is loaded, and what it makes is stored with the actor's
/// next change: it has no effects, and gives the same for the same state.
/// </summary>
/// <param name="from">The version that it takes.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class UpcastsAttribute(int from) : Attribute
{
    /// <summary>The version that it takes.</summary>
    public int From { get; } = from;
}
