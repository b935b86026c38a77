namespace Snapper.Judging.Serializability;

/// <summary>One step of a cycle between two transactions; the nodes are those of the graph searched.</summary>
internal readonly record struct CycleStep(int From, int To, EdgeKind Kind, int Key);

/// <summary>Searches a graph for short cycles. Length counts transactions; helper nodes are free.</summary>
internal sealed class CycleSearch(DependencyGraph graph, long budget)
{
    private readonly int[] _arrivedBy = new int[graph.Nodes];
    private readonly int[] _arrivedFrom = new int[graph.Nodes];
    private readonly int[] _visitedIn = new int[graph.Nodes];
    private int _search;
    private long _left;

    /// <summary>The shortest cycle found along the edges of the mask, or null when there is none at all.</summary>
    public List<CycleStep>? AnyCycle(int mask)
    {
        List<CycleStep>? shortest = null;
        _left = budget;
        foreach (var component in StrongComponents.Find(graph, mask))
        {
            foreach (var node in component)
            {
                if (node >= graph.Transactions || (shortest is not null && _left <= 0) || shortest?.Count == 2)
                {
                    break;
                }

                // Every node of a component lies on a cycle, so the first search finds one, budget or not.
                if (Reach(node, node, mask, shortest is not null))
                {
                    Keep(ref shortest, PathTo(node));
                }
            }
        }

        return shortest;
    }

    /// <summary>The shortest cycle found of one anti-dependency edge and a way back along the edges of the mask; null when none was found.</summary>
    /// <param name="wayBack">A mask without anti-dependencies.</param>
    /// <param name="promise">How likely an anti-dependency from one transaction to another closes a short cycle; lower is tried first.</param>
    public List<CycleStep>? CycleWithOneAntiDependency(int wayBack, Func<int, int, long> promise)
    {
        var candidates = new List<(long Promise, int Source, int Edge)>();
        for (var source = 0; source < graph.Transactions; source++)
        {
            for (var edge = graph.FirstEdge(source); edge < graph.EndOfEdges(source); edge++)
            {
                if (graph.Kind(edge) == EdgeKind.ReadWrite)
                {
                    candidates.Add((graph.Target(edge) < graph.Transactions ? promise(source, graph.Target(edge)) : long.MinValue, source, edge));
                }
            }
        }

        candidates.Sort();
        List<CycleStep>? shortest = null;
        _left = budget;
        foreach (var (_, source, edge) in candidates)
        {
            if (_left <= 0 || shortest?.Count == 2)
            {
                break;
            }

            if (Reach(graph.Target(edge), source, wayBack, bounded: true))
            {
                Keep(ref shortest, Steps([(source, edge), .. EdgesTo(graph.Target(edge), source)]));
            }
        }

        return shortest;
    }

    private static void Keep(ref List<CycleStep>? shortest, List<CycleStep> found) =>
        shortest = shortest is null || found.Count < shortest.Count ? found : shortest;

    /// <summary>Breadth first by transactions: helper nodes belong to the level of the node that leads to them.</summary>
    private bool Reach(int start, int goal, int mask, bool bounded)
    {
        _search++;
        var level = new List<int> { start };
        while (level.Count > 0)
        {
            var next = new List<int>();
            for (var index = 0; index < level.Count; index++)
            {
                var node = level[index];
                for (var edge = graph.FirstEdge(node); edge < graph.EndOfEdges(node); edge++)
                {
                    if (--_left <= 0 && bounded)
                    {
                        return false;
                    }

                    var target = graph.Target(edge);
                    if (!graph.Allowed(edge, mask) || _visitedIn[target] == _search)
                    {
                        continue;
                    }

                    _visitedIn[target] = _search;
                    _arrivedBy[target] = edge;
                    _arrivedFrom[target] = node;
                    if (target == goal)
                    {
                        return true;
                    }

                    (target < graph.Transactions ? next : level).Add(target);
                }
            }

            level = next;
        }

        return false;
    }

    private List<CycleStep> PathTo(int startAndGoal) => Steps(EdgesTo(startAndGoal, startAndGoal));

    private List<(int Source, int Edge)> EdgesTo(int start, int goal)
    {
        var edges = new List<(int Source, int Edge)>();
        for (var node = goal; edges.Count == 0 || node != start; node = _arrivedFrom[node])
        {
            edges.Add((_arrivedFrom[node], _arrivedBy[node]));
        }

        edges.Reverse();
        return edges;
    }

    /// <summary>Checkpoints the ways through helper nodes into one step each.</summary>
    private List<CycleStep> Steps(List<(int Source, int Edge)> edges)
    {
        var steps = new List<CycleStep>();
        var begun = edges[0];
        foreach (var (source, edge) in edges)
        {
            begun = source < graph.Transactions ? (source, edge) : begun;
            if (graph.Target(edge) < graph.Transactions)
            {
                steps.Add(new CycleStep(begun.Source, graph.Target(edge), graph.Kind(begun.Edge), graph.Key(begun.Edge)));
            }
        }

        return steps;
    }
}
