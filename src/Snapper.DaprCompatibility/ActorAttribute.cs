namespace Snapper.DaprCompatibility;

/// <summary>
/// Names the actor type of a class, as the attribute of that name of Dapr's SDK does, which counts as well.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ActorAttribute : Attribute
{
    /// <summary>The name; without it, that of the class.</summary>
    public string? TypeName { get; set; }
}
