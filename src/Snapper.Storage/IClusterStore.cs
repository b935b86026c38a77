using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Storage;

/// <summary>
/// What all workers share: who is there, who owns what, what is about to move, and who is master. Opened by one incarnation of a worker; every step that changes
/// something checks, in the same atomic step, that the incarnation's epoch is the current one of its log, so that a worker that was fenced changes nothing (R4).
/// </summary>
/// <remarks>
/// A call either returns a status that is certain, or throws: then its effect is unknown, and the caller does the same again. Every step may be repeated.
/// Safe for several threads.
/// </remarks>
public interface IClusterStore
{
    /// <summary>The incarnation that opened it.</summary>
    Incarnation Self { get; }

    /// <summary>Workers, their leases, and the fence.</summary>
    IClusterMembers Members { get; }

    /// <summary>Who owns which partition and actor.</summary>
    IClusterDirectory Directory { get; }

    /// <summary>Plans of migrations.</summary>
    IMigrationPlans Plans { get; }

    /// <summary>The lease and the log of the master.</summary>
    IMasterLease Master { get; }
}
