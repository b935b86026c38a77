using Snapper.Cluster.Balancing;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Storage;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Cluster.Membership;

/// <summary>What a worker takes from outside to be one of several.</summary>
public class ClusterSettings
{
    /// <summary>Opens what all workers share, for the life that opening the worker's log has begun.</summary>
    public required Func<Incarnation, IClusterStore> OpenStore { get; init; }

    /// <summary>The road to the other workers.</summary>
    public required IMailboxTransport Transport { get; init; }

    /// <summary>
    /// Is given the mailboxes as soon as the worker can be spoken to, long before it takes requests: whoever receives
    /// packets hands them over.
    /// </summary>
    public required Action<MailboxHub> Opened { get; init; }

    /// <summary>
    /// The state store of another worker, by its number, to look for outcomes in: those of requests whose root was
    /// there once. The caller disposes them after the worker.
    /// </summary>
    public required Func<int, IStateStore> ArchiveOf { get; init; }

    /// <summary>How others reach this worker.</summary>
    public required MemberAddress Address { get; init; }

    /// <summary>The same as in all workers: leases.</summary>
    public ClusterOptions Options { get; init; } = new();

    /// <summary>
    /// How many workers divide an empty directory among them, 1 to 1,023; fewer wait for the rest. Default: 1.
    /// </summary>
    public int FirstWorkers { get; init; } = 1;

    /// <summary>
    /// For how long a worker must not be reached by the master, although its lease lives, to be evicted (R5); 100 ms or
    /// more. Default: 3 s.
    /// </summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>
    /// How many leases long a worker that recovers asks what became of what its last life had prepared, while the store
    /// answers. Then it gives its actors up to those who can find out. More than two: whom it asks may be dead, and is
    /// known to be so after one lease, or two after an outage of the store. Default: 3.
    /// </summary>
    public int SettleLeases { get; init; } = 3;

    /// <summary>
    /// Partition of an actor, in place of the types' keys; the same in all workers. For simulators. Null: by the types'
    /// keys.
    /// </summary>
    internal Func<ActorKey, Partition>? PartitionOf { get; init; }

    /// <summary>Most entries of the directory that are read at once. For tests: fewer than there are.</summary>
    internal int DirectoryPage { get; init; } = IClusterDirectory.LongestPage;

    /// <summary>The policy that proposes moves. Default: off.</summary>
    public BalancingOptions Balancing { get; init; } = new();

    /// <summary>Bounds of the channels.</summary>
    public MailboxOptions Mailboxes { get; init; } = new();
}
