using Snapper.Protocol.Batches;

namespace Snapper.Protocol.Commitment;

/// <summary>Components of one batch that share a record (D3).</summary>
/// <param name="batch">The batch that they belong to.</param>
public sealed class CommitSet(Batch batch)
{
    private readonly List<Component> _components = [];

    /// <summary>The batch that they belong to.</summary>
    public Batch Batch { get; } = batch;

    /// <summary>
    /// The components, in the order in which they became final; at least one of them has a transaction left.
    /// </summary>
    public IReadOnlyList<Component> Components => _components;

    /// <summary>What the record weighs so far, in bytes (L6).</summary>
    internal long Bytes { get; private set; }

    internal void Add(Component component, long bytes)
    {
        _components.Add(component);
        Bytes += bytes;
    }
}
