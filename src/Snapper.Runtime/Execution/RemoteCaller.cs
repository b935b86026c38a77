using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>Who called a frame whose caller is on another worker.</summary>
/// <param name="Worker">That worker.</param>
/// <param name="Id">The call there.</param>
/// <param name="Chain">The calls above the frame that crossed workers, this one included.</param>
/// <param name="Above">The nearest call above it on this worker; null: there is none.</param>
/// <param name="Depth">Calls above it, itself included.</param>
public sealed record RemoteCaller(Incarnation Worker, long Id, CallRef[] Chain, CallFrame? Above, int Depth);

/// <summary>A call under way elsewhere, named by the worker that made it.</summary>
/// <param name="Worker">Its number.</param>
/// <param name="Id">Its number there.</param>
public readonly record struct CallRef(int Worker, long Id);

/// <summary>That a transaction's root is on another worker.</summary>
/// <param name="Root">That worker.</param>
/// <param name="Global">A PACT's global number; none for an ACT.</param>
public sealed record BranchOrigin(Incarnation Root, TransactionId Global);
