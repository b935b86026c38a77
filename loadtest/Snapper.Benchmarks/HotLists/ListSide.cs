using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;

namespace Snapper.Benchmarks.HotLists;

/// <summary>Makes a side of a comparison from the workload of hot lists.</summary>
public static class ListSide
{
    /// <summary>Each of its runs has lists of its own, and is checked at its end.</summary>
    /// <param name="name">What the tables call it.</param>
    /// <param name="shape">How many loops.</param>
    /// <param name="prefix">Begins the names of the next run's lists.</param>
    /// <param name="pipeline">Makes a loop over the lists of a run.</param>
    /// <param name="read">Reads a list at the end.</param>
    /// <param name="processes">Whose CPU time counts besides this one's.</param>
    public static Side Of(
        string name,
        LoadShape shape,
        Func<string> prefix,
        Func<ListRun, ulong, IPipeline> pipeline,
        Func<string, Task<IReadOnlyList<long>>> read,
        IReadOnlyList<MeasuredProcess> processes)
    {
        var made = 0;
        ListRun? run = null;
        return new Side(name, [shape], Next, processes) { Check = () => run!.Check(read) };

        // The first loop of a run begins it.
        IPipeline Next(LoadShape loops, ulong seed)
        {
            run = made++ % loops.Pipelines == 0 ? new ListRun(prefix()) : run;
            return pipeline(run!, seed);
        }
    }
}
