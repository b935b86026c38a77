using Snapper.Client.Messages;

namespace Snapper.Client.Calls;

/// <summary>What a single call may set for itself.</summary>
public sealed class CallOptions
{
    /// <summary>
    /// Idempotency key, 1 to 128 printable characters; the same key again returns the first outcome. Null: generated.
    /// </summary>
    public string? Id { get; init; }

    /// <summary>1 ms to 5 min; null: <see cref="SnapperClientOptions.Timeout"/>.</summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>What becomes of a PACT's declaration. Ignored for an ACT.</summary>
    public AccessMode AccessMode { get; init; }
}
