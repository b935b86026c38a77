using Snapper.Protocol.Batches;

namespace Snapper.Runtime.Execution;

/// <summary>
/// The outcome of a request without effects whose caller was told its generated id, in doubt: it needed no record before
/// (I3).
/// </summary>
/// <param name="Request">The request.</param>
/// <param name="Committed">What became of it.</param>
/// <param name="Batch">Of a PACT; null: an ACT's.</param>
internal sealed record LateOutcome(Request Request, bool Committed, Batch? Batch);
