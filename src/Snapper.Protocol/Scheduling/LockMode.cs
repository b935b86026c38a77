namespace Snapper.Protocol.Scheduling;

/// <summary>Strength of a lock.</summary>
public enum LockMode : byte
{
    /// <summary>Not held.</summary>
    None,

    /// <summary>To read.</summary>
    Shared,

    /// <summary>To change.</summary>
    Exclusive,
}

/// <summary>What became of a lock request.</summary>
public enum LockAnswer : byte
{
    /// <summary>Held now.</summary>
    Granted,

    /// <summary>An output will say when it is granted.</summary>
    Waiting,

    /// <summary>Wait-die: the requester is younger than someone it would wait for.</summary>
    Die,
}
