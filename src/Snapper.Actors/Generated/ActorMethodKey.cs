namespace Snapper.Actors.Generated;

/// <summary>One method of an actor interface; generated proxies hold one static instance per method.</summary>
/// <param name="name">The method's name, as callers write it.</param>
public sealed class ActorMethodKey(string name)
{
    /// <summary>The method's name.</summary>
    public string Name { get; } = name;

    /// <summary>
    /// The generator has proven that inputs never change once they are made. An actor of the same worker gets such an
    /// input as it is, and a copy of any other.
    /// </summary>
    public bool InputIsImmutable { get; init; }

    /// <summary>The same of results and the caller.</summary>
    public bool ResultIsImmutable { get; init; }
}
