using System.Text.Json;

namespace Snapper.Contracts;

/// <summary><c>GET /v1/transactions/{id}</c>, and each answer to <c>POST /v1/transactions</c>.</summary>
/// <param name="Id">The caller's id, or the generated one; null: the request could not be read.</param>
/// <param name="Outcome"><c>committed</c>, <c>aborted</c>, <c>inDoubt</c>, <c>running</c> or <c>rejected</c>.</param>
/// <param name="Mode"><c>pact</c> or <c>act</c>.</param>
/// <param name="Transaction">Number of the last attempt; 0: it was never numbered.</param>
/// <param name="Batch">Its batch; 0 for an ACT, or when it was never numbered.</param>
/// <param name="Attempts">How often it was started.</param>
/// <param name="Worker">The worker, one of several, that owned the root; null: there is one alone, or it never
/// ran.</param>
/// <param name="Result">Of a committed one; else null.</param>
/// <param name="Abort">Why it was aborted; else null.</param>
/// <param name="ResultDropped">It committed, and its result was too large to be kept.</param>
public sealed record EnvelopeView(
    string? Id = null, string Outcome = "", string Mode = "", long Transaction = 0, long Batch = 0, int Attempts = 0,
    string? Worker = null, JsonElement? Result = null, EnvelopeAbort? Abort = null, bool ResultDropped = false);

/// <summary>Why a transaction was aborted. <paramref name="Retryable"/>: the same request may succeed later
/// unchanged.</summary>
public sealed record EnvelopeAbort(string Reason = "", string Message = "", bool Retryable = false);
