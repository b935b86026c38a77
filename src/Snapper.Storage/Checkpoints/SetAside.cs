using Snapper.Protocol.Identity;

namespace Snapper.Storage.Checkpoints;

/// <summary>
/// Changes of an actor that a recovery found in the log and could not checkpoint, because the actor's place in the
/// store is damaged. The log keeps them (L8), and the actor has no state until they are checkpointed.
/// </summary>
public sealed class SetAside
{
    internal SetAside(ActorKey actor, PendingActor changes, string damage)
    {
        Actor = actor;
        Changes = changes;
        Damage = damage;
    }

    /// <summary>The actor.</summary>
    public ActorKey Actor { get; }

    /// <summary>What is wrong with its place, for the operator who repairs it.</summary>
    public string Damage { get; }

    /// <summary>Its changes that have versions, coalesced; it may be that none has.</summary>
    internal PendingActor Changes { get; }
}
