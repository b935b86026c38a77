using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Client.Messages;

/// <summary>How a transaction ended, or stands.</summary>
public enum TransactionOutcome : byte
{
    /// <summary>All effects are durable.</summary>
    Committed,

    /// <summary>No effects.</summary>
    Aborted,

    /// <summary>Unknown: it may have committed. Ask by id, or send it again with the same id.</summary>
    InDoubt,

    /// <summary>Still under way (only when asked for by id).</summary>
    Running,

    /// <summary>Refused without having been executed.</summary>
    Rejected,
}

/// <summary>Why a transaction was aborted.</summary>
/// <param name="Reason">The reason; <see cref="AbortReason.None"/> for one that this client does not know.</param>
/// <param name="ReasonName">The reason as the worker wrote it.</param>
/// <param name="Message">For people.</param>
/// <param name="IsRetryable">The same request may succeed later unchanged.</param>
/// <param name="Actor">The actor concerned; null when none is.</param>
public sealed record AbortDetails(
    AbortReason Reason, string ReasonName, string Message, bool IsRetryable, ActorKey? Actor)
{
    /// <summary>The code that the application has given the abort, for programs; null: none.</summary>
    public string? Code { get; init; }

    /// <summary>What goes with the code; null: nothing.</summary>
    public JsonElement? Details { get; init; }
}

/// <summary>Why a request was refused.</summary>
/// <param name="Status">HTTP status: 400, 401, 403, 404, 409, 413, 422, 429 or 503 (also: no worker was reached).</param>
/// <param name="Detail">Names what is wrong.</param>
/// <param name="RetryAfter">When the server says trying again makes sense; null when it does not say.</param>
public sealed record RejectionDetails(int Status, string Detail, TimeSpan? RetryAfter = null)
{
    /// <summary>The same request may be accepted later: too much load, starting, stopping, or no worker.</summary>
    public bool IsTransient => Status is 429 or 503;
}

/// <summary>The answer to a transaction.</summary>
public sealed class TransactionReply
{
    /// <summary>The request's id.</summary>
    public required string Id { get; init; }

    /// <summary>How it ended.</summary>
    public required TransactionOutcome Outcome { get; init; }

    /// <summary>PACT or ACT.</summary>
    public TransactionMode Mode { get; init; }

    /// <summary>Number of the last attempt; 0 when never numbered.</summary>
    public long Transaction { get; init; }

    /// <summary>Its batch; 0 for an ACT or when never numbered.</summary>
    public long Batch { get; init; }

    /// <summary>How often the system started it; 0 when never.</summary>
    public int Attempts { get; init; }

    /// <summary>Name of the worker, one of several, that owned the root and ran it; null: there is one alone, or it never ran.</summary>
    public string? Worker { get; init; }

    /// <summary>Committed: the result as UTF-8 JSON. Else empty.</summary>
    public ReadOnlyMemory<byte> Result { get; init; }

    /// <summary>
    /// Committed, and sent or asked for again: its result was too large to be kept for that.
    /// </summary>
    public bool IsResultDropped { get; init; }

    /// <summary>Set when aborted.</summary>
    public AbortDetails? Abort { get; init; }

    /// <summary>Set when rejected.</summary>
    public RejectionDetails? Rejection { get; init; }

    /// <summary>With <see cref="AccessMode.Record"/> or Audit: the exact declaration as UTF-8 JSON. Else empty.</summary>
    public ReadOnlyMemory<byte> Touched { get; init; }

    /// <summary>In doubt: why the outcome is not known. Else null.</summary>
    public string? Doubt { get; init; }

    /// <summary>The result of a committed transaction.</summary>
    /// <exception cref="TransactionAbortedException">It was aborted.</exception>
    /// <exception cref="TransactionInDoubtException">The outcome is not known.</exception>
    /// <exception cref="TransactionRejectedException">It was refused.</exception>
    /// <exception cref="ResultDroppedException">It was committed, and its result was too large to be kept.</exception>
    /// <exception cref="JsonException">It was committed, but the result is not a <typeparamref name="TResult"/>.</exception>
    public TResult ResultAs<TResult>(JsonSerializerOptions? json = null)
    {
        EnsureCommitted();
        if (IsResultDropped)
        {
            throw new ResultDroppedException(Id);
        }

        return JsonSerializer.Deserialize<TResult>(Result.IsEmpty ? "null"u8 : Result.Span, json ?? JsonSerializerOptions.Web)!;
    }

    /// <summary>Throws what a typed call throws for an outcome other than committed.</summary>
    /// <exception cref="TransactionAbortedException">It was aborted.</exception>
    /// <exception cref="TransactionInDoubtException">The outcome is not known.</exception>
    /// <exception cref="TransactionRejectedException">It was refused.</exception>
    public void EnsureCommitted()
    {
        switch (Outcome)
        {
            case TransactionOutcome.Committed:
                return;
            case TransactionOutcome.Aborted:
                throw new TransactionAbortedException(Id, Abort ?? new AbortDetails(AbortReason.None, "", "The worker gave no reason.", false, null));
            case TransactionOutcome.Rejected:
                throw new TransactionRejectedException(Id, Rejection ?? new RejectionDetails(500, "The worker gave no reason."));
            default:
                throw new TransactionInDoubtException(Id, Doubt ?? "the transaction is still under way");
        }
    }
}
