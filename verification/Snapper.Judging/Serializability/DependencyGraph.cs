using System.Runtime.InteropServices;

namespace Snapper.Judging.Serializability;

/// <summary>Why one transaction must come before another.</summary>
internal enum EdgeKind
{
    /// <summary>Its append stands just before the other's.</summary>
    WriteWrite,

    /// <summary>The other read its append.</summary>
    WriteRead,

    /// <summary>It read a version that the other's append replaced.</summary>
    ReadWrite,

    /// <summary>It was acknowledged before the other was invoked.</summary>
    RealTime,

    /// <summary>Out of a helper node: continues the edge by which the path came to it.</summary>
    Continue,
}

/// <summary>
/// Transactions (nodes below <see cref="Transactions"/>) and helper nodes (the rest), edges as compressed rows. A helper node stands for many
/// edges: those before it times those behind it.
/// </summary>
internal sealed class DependencyGraph
{
    private readonly int[] _firstEdge;
    private readonly int[] _targets;
    private readonly int[] _labels;

    private DependencyGraph(int transactions, int nodes, ReadOnlySpan<int> sources, ReadOnlySpan<int> targets, ReadOnlySpan<int> labels)
    {
        Transactions = transactions;
        _firstEdge = new int[nodes + 1];
        _targets = new int[targets.Length];
        _labels = new int[targets.Length];
        foreach (var source in sources)
        {
            _firstEdge[source + 1]++;
        }

        for (var node = 0; node < nodes; node++)
        {
            _firstEdge[node + 1] += _firstEdge[node];
        }

        var next = _firstEdge[..nodes];
        for (var edge = 0; edge < targets.Length; edge++)
        {
            var slot = next[sources[edge]]++;
            _targets[slot] = targets[edge];
            _labels[slot] = labels[edge];
        }
    }

    public int Transactions { get; }

    public int Nodes => _firstEdge.Length - 1;

    public int Edges => _targets.Length;

    /// <summary>A set of kinds, for searches that follow only some edges.</summary>
    public static int Mask(params ReadOnlySpan<EdgeKind> kinds)
    {
        var mask = 1 << (int)EdgeKind.Continue;
        foreach (var kind in kinds)
        {
            mask |= 1 << (int)kind;
        }

        return mask;
    }

    public int FirstEdge(int node) => _firstEdge[node];

    public int EndOfEdges(int node) => _firstEdge[node + 1];

    public int Target(int edge) => _targets[edge];

    public EdgeKind Kind(int edge) => (EdgeKind)(_labels[edge] & 7);

    /// <summary>The key the edge is about; meaningless for real-time edges.</summary>
    public int Key(int edge) => _labels[edge] >> 3;

    public bool Allowed(int edge, int mask) => (mask >> (_labels[edge] & 7) & 1) != 0;

    /// <summary>The part of the graph between the given nodes; node i of it is <c>nodes[i]</c> here.</summary>
    /// <param name="nodes">In rising order, so that transactions come first there too.</param>
    public DependencyGraph Among(int[] nodes)
    {
        var builder = new Builder(nodes.Count(node => node < Transactions), nodes.Length);
        for (var source = 0; source < nodes.Length; source++)
        {
            for (var edge = FirstEdge(nodes[source]); edge < EndOfEdges(nodes[source]); edge++)
            {
                var target = Array.BinarySearch(nodes, Target(edge));
                if (target >= 0)
                {
                    builder.Add(source, target, Kind(edge), Key(edge));
                }
            }
        }

        return builder.Build();
    }

    /// <summary>Collects edges.</summary>
    internal sealed class Builder(int transactions, int nodes)
    {
        private readonly List<int> _sources = [];
        private readonly List<int> _targets = [];
        private readonly List<int> _labels = [];
        private int _nodes = nodes;

        public int AddHelper() => _nodes++;

        public void Add(int source, int target, EdgeKind kind, int key = 0)
        {
            _sources.Add(source);
            _targets.Add(target);
            _labels.Add(key << 3 | (int)kind);
        }

        public DependencyGraph Build() =>
            new(transactions, _nodes, CollectionsMarshal.AsSpan(_sources), CollectionsMarshal.AsSpan(_targets), CollectionsMarshal.AsSpan(_labels));
    }
}
