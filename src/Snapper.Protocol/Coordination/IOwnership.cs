using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Coordination;

/// <summary>What a worker owns, asked where numbers are given (M1).</summary>
public interface IOwnership
{
    /// <summary>True when the actor is this worker's in its present epoch, open, and not frozen for a migration.</summary>
    bool MayNumber(ActorKey actor);

    /// <summary>True when the actor is this worker's in its present epoch, also while it is opened (R4) or frozen (M3): what was numbered for it has its place here.</summary>
    bool Owns(ActorKey actor);

    /// <summary>False: the root may have gone and come back since the request's id was looked for (I2); it goes back unnumbered, and is looked for again.</summary>
    bool MayBegin(PactTicket ticket);
}
