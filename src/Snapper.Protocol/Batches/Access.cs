namespace Snapper.Protocol.Batches;

/// <summary>What a transaction may touch of an actor. Plain actors have one key, so that all of it is the only access.</summary>
public readonly record struct Access
{
    /// <summary>The whole actor, to write.</summary>
    public static Access Whole => default;
}

/// <summary>The one place that says who waits for whom.</summary>
public static class Accesses
{
    /// <summary>True when two accesses of different transactions may not overlap in time. Whole actors always conflict; keys come with K2.</summary>
    public static bool Conflicts(Access first, Access second)
    {
        _ = first;
        _ = second;
        return true;
    }
}
