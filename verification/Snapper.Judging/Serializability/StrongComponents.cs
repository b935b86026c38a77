namespace Snapper.Judging.Serializability;

/// <summary>Tarjan's strongly connected components without recursion, in O(nodes + edges).</summary>
internal static class StrongComponents
{
    /// <summary>Components of more than one node, their nodes in rising order. In a graph without self-edges these are exactly the places where cycles are.</summary>
    /// <param name="graph">Looked at.</param>
    /// <param name="mask">Edges to follow, see <see cref="DependencyGraph.Mask"/>.</param>
    public static List<int[]> Find(DependencyGraph graph, int mask)
    {
        var components = new List<int[]>();
        var number = new int[graph.Nodes];       // order of discovery from 1; 0: not seen
        var low = new int[graph.Nodes];
        var nextEdge = new int[graph.Nodes];
        var open = new bool[graph.Nodes];
        var members = new Stack<int>();
        var path = new Stack<int>();
        var discovered = 0;
        for (var root = 0; root < graph.Nodes; root++)
        {
            if (number[root] != 0)
            {
                continue;
            }

            path.Push(root);
            while (path.TryPeek(out var node))
            {
                if (number[node] == 0)
                {
                    number[node] = low[node] = ++discovered;
                    nextEdge[node] = graph.FirstEdge(node);
                    open[node] = true;
                    members.Push(node);
                }

                if (Descend(graph, mask, node, number, low, nextEdge, open) is var child and >= 0)
                {
                    path.Push(child);
                    continue;
                }

                path.Pop();
                if (path.TryPeek(out var parent))
                {
                    low[parent] = Math.Min(low[parent], low[node]);
                }

                if (low[node] == number[node])
                {
                    Close(node, members, open, components);
                }
            }
        }

        return components;
    }

    /// <summary>Follows edges of a node until one leads to a node not seen yet; -1 when all are followed.</summary>
    private static int Descend(DependencyGraph graph, int mask, int node, int[] number, int[] low, int[] nextEdge, bool[] open)
    {
        for (var end = graph.EndOfEdges(node); nextEdge[node] < end;)
        {
            var edge = nextEdge[node]++;
            if (!graph.Allowed(edge, mask))
            {
                continue;
            }

            var target = graph.Target(edge);
            if (number[target] == 0)
            {
                return target;
            }

            if (open[target])
            {
                low[node] = Math.Min(low[node], number[target]);
            }
        }

        return -1;
    }

    private static void Close(int root, Stack<int> members, bool[] open, List<int[]> components)
    {
        if (members.Peek() == root)
        {
            open[members.Pop()] = false;
            return;
        }

        var component = new List<int>();
        int node;
        do
        {
            node = members.Pop();
            open[node] = false;
            component.Add(node);
        }
        while (node != root);
        component.Sort();
        components.Add([.. component]);
    }
}
