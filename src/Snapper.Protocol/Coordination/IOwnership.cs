using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Coordination;

/// <summary>What a worker owns, asked where numbers are given (M1).</summary>
public interface IOwnership
{
    /// <summary>True when the actor is this worker's in its present epoch, open, and not frozen for a migration.</summary>
    bool MayNumber(ActorKey actor);
}
