using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Global;

/// <summary>Who owns which actor, as far as the giver of numbers knows (M1). The truth when numbers are given: freezes and take-overs are told to it before they count.</summary>
public interface IPlacement
{
    /// <summary>The worker that owns an actor and may be given numbers for it; nobody: it is frozen, or its owner is fenced.</summary>
    Incarnation OwnerOf(ActorKey actor);
}
