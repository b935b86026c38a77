namespace Snapper.Tests.Support;

/// <summary>What code allocates on the heap.</summary>
internal static class Allocations
{
    /// <summary>
    /// The bytes that <paramref name="action"/> allocates on this thread, the least of five runs: what the runtime adds
    /// once (a garbage collection, a method compiled again) is not in every run, what the code allocates is.
    /// </summary>
    public static long Of(Action action)
    {
        var least = long.MaxValue;
        for (var run = 0; run < 5; run++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            action();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        return least;
    }
}
