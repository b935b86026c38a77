using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Commitment;

/// <summary>A part of a global batch that is complete here: its <c>Prepared</c> record is queued, with the changes, without their versions (L3, L7).</summary>
/// <param name="Batch">The part as a batch of this worker.</param>
public sealed record PreparedPart(Batch Batch);

/// <summary>The outcome of a prepared part is known: its <c>Decided</c> marker is queued, before any later final record (R).</summary>
/// <param name="Batch">The part as a batch of this worker; the versions of its changes count from here on (L7).</param>
/// <param name="Committed">False: it was lost to an undo (A9).</param>
public sealed record DecidedPart(Batch Batch, bool Committed);

/// <summary>
/// This worker's part of an ACT whose root is elsewhere: its <c>ActPrepared</c> record is queued, with changes without
/// versions, also when it only read (H2), or when the ACT ends by its own abort (H7).
/// </summary>
/// <param name="Part">The part.</param>
public sealed record PreparedAct(ActOutcome Part);

/// <summary>The outcome of a prepared part is known: its <c>ActEnded</c> marker is queued; the versions of its changes count from here on (L7).</summary>
/// <param name="Part">The part.</param>
/// <param name="Committed">False: aborted.</param>
public sealed record DecidedAct(ActOutcome Part, bool Committed);

/// <summary>What a worker that takes part in an ACT says to the root's.</summary>
/// <param name="Unfit">Why a change there cannot be kept; null: it can.</param>
/// <param name="Visited">Workers that the ACT has called from there, or that those calls have visited; not the root's.</param>
public sealed record ActVote(AbortInfo? Unfit, IReadOnlyList<Incarnation> Visited);
