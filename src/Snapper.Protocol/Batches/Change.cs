using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Batches;

/// <summary>The change of one actor by a sub-batch or an ACT.</summary>
/// <param name="Actor">The actor.</param>
/// <param name="Version">Its version after the change (L7).</param>
/// <param name="State">The new state; the shell turns it into bytes before it leaves the actor's executor (L4).</param>
public sealed record Change(ActorKey Actor, long Version, object State);
