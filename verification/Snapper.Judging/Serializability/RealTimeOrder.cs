using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// Adds "acknowledged before invoked" for all pairs at once: a sweep over all times with one helper node (a barrier) per run of completions,
/// chained. At most three edges per transaction, and exactly the pairs wanted: a transaction enters the chain behind the place where it leaves it.
/// </summary>
internal static class RealTimeOrder
{
    public static void Add(History history, VersionOrder order, DependencyGraph.Builder graph)
    {
        var (times, events) = Events(history, order);
        Array.Sort(times, events);
        var chain = -1;
        var open = -1;
        for (var start = 0; start < events.Length;)
        {
            var end = start;
            while (end < events.Length && times[end] == times[start])
            {
                end++;
            }

            // Equal times order nothing, so the invocations of an instant come before its completions.
            for (var index = start; index < end; index++)
            {
                if ((events[index] & 1) == 0)
                {
                    (chain, open) = (open >= 0 ? open : chain, -1);
                    if (chain >= 0)
                    {
                        graph.Add(chain, events[index] >> 1, EdgeKind.Continue);
                    }
                }
            }

            for (var index = start; index < end; index++)
            {
                if ((events[index] & 1) != 0)
                {
                    open = open >= 0 ? open : NextBarrier(graph, chain);
                    graph.Add(events[index] >> 1, open, EdgeKind.RealTime);
                }
            }

            start = end;
        }
    }

    private static int NextBarrier(DependencyGraph.Builder graph, int chain)
    {
        var barrier = graph.AddHelper();
        if (chain >= 0)
        {
            graph.Add(chain, barrier, EdgeKind.Continue);
        }

        return barrier;
    }

    /// <summary>Event 2t is the invocation of transaction t, 2t + 1 its completion. Only what was answered has a completion.</summary>
    private static (long[] Times, int[] Events) Events(History history, VersionOrder order)
    {
        var times = new List<long>(2 * history.Count);
        var events = new List<int>(2 * history.Count);
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            if (!order.Counts[transaction])
            {
                continue;
            }

            times.Add(history.Invoked[transaction]);
            events.Add(2 * transaction);
            if (history.IsAnswer(transaction))
            {
                times.Add(history.Completed[transaction]);
                events.Add(2 * transaction + 1);
            }
        }

        return ([.. times], [.. events]);
    }
}
