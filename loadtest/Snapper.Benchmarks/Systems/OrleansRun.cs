namespace Snapper.Benchmarks.Systems;

/// <summary>What a silo is asked to do, and how.</summary>
public enum OrleansWork
{
    /// <summary>Transfers of plain grains, without transactions.</summary>
    Plain,

    /// <summary>Transfers in transactions; the deposits at the same time, as the product's method makes them.</summary>
    Parallel,

    /// <summary>Transfers in transactions, one account after another in the order of all grains.</summary>
    Sorted,

    /// <summary>Hot lists, the operations one after another as they were drawn.</summary>
    Lists,

    /// <summary>Hot lists, by list in the order of all grains, and else as they were drawn.</summary>
    SortedLists,

    /// <summary>The same, and on each list the appends before the reads.</summary>
    AppendsFirst,
}

/// <summary>A load that runs in a silo's own process.</summary>
/// <param name="Work">What it does.</param>
/// <param name="Accounts">Accounts of transfers.</param>
/// <param name="Zipf">Skew of transfers; 0 is uniform.</param>
/// <param name="Loops">Closed loops.</param>
/// <param name="Warmup">Seconds of load before it is measured.</param>
/// <param name="Measured">Seconds that are measured.</param>
/// <param name="Seed">Decides all random choices.</param>
/// <param name="Others">Ids of the other silos' processes, whose CPU time counts as well.</param>
public sealed record OrleansRun(
    OrleansWork Work, int Accounts, double Zipf, int Loops, double Warmup, double Measured, ulong Seed,
    IReadOnlyList<int> Others);
