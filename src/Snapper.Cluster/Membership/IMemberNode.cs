using Snapper.Cluster.Balancing;
using Snapper.Cluster.Mastering;
using Snapper.Storage.States;

namespace Snapper.Cluster.Membership;

/// <summary>A node with what its membership says of the other workers.</summary>
internal interface IMemberNode : IMasterNode
{
    /// <summary>Proposes moves; null: the policy is off.</summary>
    Balancer? Balancer { get; set; }

    /// <summary>
    /// Another worker, as far as this one knows, has had a life before its present one: perhaps alone, as the owner of
    /// everything. From any thread.
    /// </summary>
    bool OthersLivedBefore { get; set; }

    /// <summary>Where outcomes are that others copied out of their logs: actors may have come from them.</summary>
    IReadOnlyList<IStateStore> AllArchives { get; set; }

    /// <summary>
    /// Those of them that an unknown id is looked for in: the others were found empty since this worker gained something
    /// last, and nobody fills them.
    /// </summary>
    IReadOnlyList<IStateStore> Archives { get; set; }

    /// <summary>How often this worker gained something; counted on the first executor.</summary>
    long Gains { get; }

    /// <summary>
    /// The gains up to which <see cref="Archives"/> are complete: the workers were read after them; null: they are not
    /// read here.
    /// </summary>
    long? ArchivesAsOf { get; set; }
}
