namespace Snapper.Contracts;

/// <summary><c>GET /v1/audit</c>: the newest admin actions that a worker was asked for.</summary>
public sealed record AuditView(string Worker = "")
{
    /// <summary>The newest first.</summary>
    public IReadOnlyList<AuditEntry> Entries { get => field ?? []; init; }
}

/// <summary>One admin action, or the attempt.</summary>
/// <param name="AtMs">When it ended, Unix milliseconds.</param>
/// <param name="Who">Name of the token; without one <c>sidecar</c>, or a word for all callers.</param>
/// <param name="Role">Its role.</param>
/// <param name="Action">What it did: migrate, drain, rebalance, plan, leave, ...</param>
/// <param name="Target">To what; null: it was not read that far.</param>
/// <param name="Reason">Why, as its caller said; null: it said nothing.</param>
/// <param name="Outcome">The HTTP status; 499: its caller did not wait for the answer.</param>
/// <param name="From">Address of the caller.</param>
/// <param name="LeftOut">Refused attempts before this entry that were not written down one by one; 0: none.</param>
public sealed record AuditEntry(
    double AtMs = 0, string Who = "", string Role = "", string Action = "", string? Target = null,
    string? Reason = null,
    string Outcome = "", string From = "", int LeftOut = 0);
