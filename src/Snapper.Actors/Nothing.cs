namespace Snapper.Actors;

/// <summary>The input of a method without parameter and the result of a method that returns plain <see cref="Task"/>.</summary>
public readonly struct Nothing
{
    /// <summary>The only value.</summary>
    public static Nothing Value => default;
}
