namespace Snapper.Cluster.Membership;

/// <summary>A worker would place actors of a type elsewhere than the others do, or did: it must not join. The message names the type and what each side says.</summary>
public sealed class PlacementMismatchException(string message, bool isForGood) : Exception(message)
{
    /// <summary>The directory says otherwise of the type, for good; false: a worker lives that does not know the type, and starting again helps when it is gone.</summary>
    public bool IsForGood { get; } = isForGood;
}
