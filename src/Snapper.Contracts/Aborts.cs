namespace Snapper.Contracts;

/// <summary><c>GET /v1/aborts</c>.</summary>
public sealed record AbortsView
{
    /// <summary>The newest first.</summary>
    public IReadOnlyList<AbortView> Aborts { get => field ?? []; init; }
}

/// <summary>An abort, with what explains it.</summary>
/// <param name="AtMs">When, Unix milliseconds.</param>
/// <param name="Id">The request's id.</param>
/// <param name="Transaction">Number of the attempt; 0: it had none.</param>
/// <param name="Mode"><c>pact</c> or <c>act</c>.</param>
/// <param name="Root">The root actor, as <c>type/id</c>.</param>
/// <param name="Method">The root method.</param>
/// <param name="Reason">A name of the contract, or <c>undone</c>.</param>
/// <param name="Message">For people.</param>
/// <param name="Repeated">The system ran it again by itself.</param>
public sealed record AbortView(
    long AtMs = 0, string Id = "", long Transaction = 0, string Mode = "", string Root = "", string Method = "",
    string Reason = "", string Message = "", bool Repeated = false)
{
    /// <summary>The code that the application gave it; null: none.</summary>
    public string? Code { get; init; }

    /// <summary>The first actors that it had touched, as <c>type/id</c>: at most 16, and 1,024 characters.</summary>
    public IReadOnlyList<string> Actors { get => field ?? []; init; }

    /// <summary>How many it had touched beside them.</summary>
    public int MoreActors { get; init; }

    /// <summary>Number of the transaction whose lock it died of (wait-die); 0: none.</summary>
    public long Blocker { get; init; }

    /// <summary>The highest batch ahead of it, where the order was in doubt (H5); 0: none.</summary>
    public long Floor { get; init; }

    /// <summary>The lowest batch behind it (H5); 0: none.</summary>
    public long Ceil { get; init; }

    /// <summary>The transaction whose lock it died of; null: none, it has ended since, or it is another
    /// worker's.</summary>
    public PartyView? BlockedBy { get; init; }

    /// <summary>The transaction whose failure began the undo that took it out of the order; null: no other's, or
    /// unknown.</summary>
    public PartyView? UndoneFor { get; init; }
}

/// <summary>A transaction that had part in the end of another one. <paramref name="Age"/>: what wait-die
/// compares; 0: none.</summary>
public sealed record PartyView(
    string? Request = null, long Transaction = 0, string Mode = "", string Root = "", string? Method = null,
    long Age = 0);
