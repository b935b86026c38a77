namespace Snapper.Actors.Generated;

/// <summary>One method of an actor interface; generated proxies hold one static instance per method.</summary>
/// <param name="name">The method's name, as callers write it.</param>
public sealed class ActorMethodKey(string name)
{
    /// <summary>The method's name.</summary>
    public string Name { get; } = name;
}
