using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Judging.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>A load on several workers, from when it is under way to its end.</summary>
internal static class ClusterLoad
{
    // Longer than the timeout of a request, of which a caller hears at the latest.
    private static readonly TimeSpan s_longest = TimeSpan.FromSeconds(100);

    /// <summary>Waits until more than so many transactions have ended.</summary>
    public static async Task UnderWay(this TestCluster cluster, ListAppendLoad load, int transactions, ITestOutputHelper output)
    {
        try
        {
            await Rig.Until(() => load.History.Count > transactions, "the load is under way", 20);
        }
        catch (TimeoutException)
        {
            output.WriteLine(await cluster.Describe());
            throw;
        }
    }

    /// <summary>Waits for the end of a load, says what came of it, and judges what its clients saw.</summary>
    /// <param name="cluster">The workers.</param>
    /// <param name="load">The load.</param>
    /// <param name="running">Its run.</param>
    /// <param name="output">Where to say it.</param>
    /// <param name="evicted">The one worker that failed, for it was fenced; null: none failed that was not killed.</param>
    public static async Task End(this TestCluster cluster, ListAppendLoad load, Task running, ITestOutputHelper output, int? evicted = null)
    {
        try
        {
            if (await Task.WhenAny(running, Task.Delay(s_longest)) != running)
            {
                output.WriteLine(await cluster.Describe());
                Assert.Fail("The load does not come to its end.");
            }

            await running;
        }
        finally
        {
            foreach (var (outcome, count) in load.Outcomes.OrderBy(o => o.Key))
            {
                output.WriteLine($"{outcome}: {count}");
            }

            foreach (var (worker, failure) in cluster.Failures)
            {
                output.WriteLine($"w{worker} failed: {failure}");
            }
        }

        if (evicted is null)
        {
            Assert.Empty(cluster.Unexpected);
        }
        else
        {
            var (worker, fenced) = Assert.Single(cluster.Failures);
            Assert.Equal(evicted, worker);
            Assert.IsType<LogLostFailure>(fenced); // at its lease, at its log, or told by another: whichever is first
        }

        var report = SerializabilityChecker.Check(load.History);
        Assert.True(report.Passed, report.ToString());
    }
}
