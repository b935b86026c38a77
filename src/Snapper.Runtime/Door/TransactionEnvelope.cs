using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Door;

/// <summary>How a request ended, or stands.</summary>
public enum Outcome : byte
{
    /// <summary>All effects are durable.</summary>
    Committed,

    /// <summary>No effects.</summary>
    Aborted,

    /// <summary>Unknown yet; ask by id.</summary>
    InDoubt,

    /// <summary>Still under way (only when asked for by id).</summary>
    Running,

    /// <summary>Never a transaction: refused before it was executed; <see cref="TransactionEnvelope.Rejection"/> says why.</summary>
    Rejected,
}

/// <summary>Why the worker refused a request without executing it; the door maps it to an HTTP status.</summary>
public enum RejectionKind : byte
{
    /// <summary>400: the request is malformed (e.g. the input does not fit the method).</summary>
    Invalid,

    /// <summary>404: unknown actor type or method.</summary>
    NotFound,

    /// <summary>409: the same idempotency key with another request.</summary>
    IdConflict,

    /// <summary>413: too large.</summary>
    TooLarge,

    /// <summary>422: too many actors or keys.</summary>
    TooMany,

    /// <summary>429: too much work queued.</summary>
    Overloaded,

    /// <summary>503: what it would leave has no room now. Not executed, and no other worker would do it.</summary>
    Full,

    /// <summary>503: starting, stopping, or the log cannot be reached. Not executed.</summary>
    Unavailable,

    /// <summary>401: the caller shows a token that nobody knows. Said by the doors; never passed on between workers.</summary>
    Unauthorized,

    /// <summary>403: the caller may not run this. Said by the doors; never passed on between workers.</summary>
    Forbidden,
}

/// <summary>A refusal.</summary>
/// <param name="Kind">What kind.</param>
/// <param name="Detail">Names what is wrong, for the caller.</param>
/// <param name="RetryAfter">When trying again makes sense; null: not unchanged.</param>
public sealed record Rejection(RejectionKind Kind, string Detail, TimeSpan? RetryAfter = null);

/// <summary>Why a transaction was aborted.</summary>
/// <param name="Reason">The reason.</param>
/// <param name="Message">For people; names what happened.</param>
/// <param name="Retryable">True exactly when the same request may succeed later unchanged.</param>
/// <param name="Actor">The actor concerned, if one is.</param>
public sealed record AbortDetails(AbortReason Reason, string Message, bool Retryable, ActorKey? Actor)
{
    /// <summary>What programs read of it; null: the application has given it no code.</summary>
    public AbortCode? Code { get; init; }
}

/// <summary>The answer to a request.</summary>
public sealed record TransactionEnvelope
{
    /// <summary>The caller's id, or the generated one.</summary>
    public required string Id { get; init; }

    /// <summary>How it ended.</summary>
    public required Outcome Outcome { get; init; }

    /// <summary>PACT or ACT.</summary>
    public TransactionMode Mode { get; init; }

    /// <summary>Number of the last attempt; 0 when it was never numbered.</summary>
    public long Transaction { get; init; }

    /// <summary>Its batch; 0 for an ACT or when never numbered.</summary>
    public long Batch { get; init; }

    /// <summary>How often it was started; 0 when never.</summary>
    public int Attempts { get; init; }

    /// <summary>Name of the worker, one of several, that owned the root; null: there is one alone, or the request reached no owner.</summary>
    public string? Worker { get; set; }

    /// <summary>Committed: the result as UTF-8 JSON (<c>null</c> for a method without result).</summary>
    public ReadOnlyMemory<byte> Result { get; init; }

    /// <summary>Committed, and asked for by its id: the result was larger than what is kept with an outcome.</summary>
    public bool IsResultDropped { get; init; }

    /// <summary>Aborted: why.</summary>
    public AbortDetails? Abort { get; init; }

    /// <summary>Rejected: why. In doubt: why this sending was not let in; earlier ones of its id were not looked up. Null: it was let in.</summary>
    public Rejection? Rejection { get; init; }

    /// <summary>In doubt, without having been let in: why the id, which may have an outcome, could not be looked up; null: it was let in.</summary>
    public string? Doubt { get; init; }

    /// <summary>With access mode record or audit: the declaration that would have been exact; else null.</summary>
    public DeclaredAccess[]? Touched { get; init; }
}
