using Snapper.Protocol.Coordination;

namespace Snapper.Protocol.Tests.World;

/// <summary>How messages travel.</summary>
internal enum LinkOrder
{
    /// <summary>One inbox per node, as executors have it: no message is overtaken by one that it caused.</summary>
    Inbox,

    /// <summary>
    /// One first-in-first-out queue per pair of nodes, each machine a node of its own. Only the commit machine keeps one
    /// inbox: it must hear of a batch before it hears that the batch is complete.
    /// </summary>
    Pairs,
}

/// <summary>The shape of a world.</summary>
internal sealed record WorldOptions
{
    public required string[] Actors { get; init; }

    public int Coordinators { get; init; } = 1;

    public CoordinatorOptions Batches { get; init; } = new();

    public LinkOrder Links { get; init; } = LinkOrder.Pairs;

    /// <summary>Most transactions of a batch whose record is not too large; they stand for bytes.</summary>
    public int RecordMembers { get; init; } = int.MaxValue;

    /// <summary>Node of each actor, each coordinator and the commit machine, in this order; null: each has its own.</summary>
    public int[]? Nodes { get; init; }
}
