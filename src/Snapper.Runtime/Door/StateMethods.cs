namespace Snapper.Runtime.Door;

/// <summary>
/// Names of the methods that every actor type has beside its own; no caller names them: the doors start them.
/// </summary>
public static class StateMethods
{
    /// <summary>What begins a name that no caller may use.</summary>
    public const char Mark = '$';

    /// <summary>Puts the state that is its input in the place of the actor's.</summary>
    public const string Import = "$import";

    /// <summary>Takes the actor's state away: it is as if it was never written. Takes no input.</summary>
    public const string Delete = "$delete";

    /// <summary><see cref="Import"/> in the place of a state that cannot be read, and of no other.</summary>
    public const string ImportOverDamage = "$importOverDamage";

    /// <summary><see cref="Delete"/> of a state that cannot be read, and of no other.</summary>
    public const string DeleteDamaged = "$deleteDamaged";

    /// <summary>Tells the actor's state, and its version. Takes no input.</summary>
    public const string Read = "$read";

    /// <summary>Tells the states of all actors that its input names.</summary>
    public const string ReadAll = "$readAll";
}
