using Snapper.Cluster;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Where those go on whose answers wait for the log to say whose it is.</summary>
public sealed class RefusalThreadsTests
{
    [Fact]
    public async Task A_caller_that_was_refused_does_not_hold_up_the_log()
    {
        await using var cluster = await TestCluster.Start(
            2, new WorkerOptions { MaxInFlight = 1 }, types: _ => SnapperRuntimeTestsActors.All);
        using var gate = new Gate();
        var id = cluster.IdAt(1, "Box");
        var busy = TestCluster.SubmitTo(cluster[1], "Box", id, "Run", new Script([Step.Wait(gate)]), null);
        await gate.Reached();
        cluster.Logs[1]!.Hold();
        var refused = TestCluster.SubmitTo(cluster[1], "Box", id, "Run", new Script([Step.Add()]), null, key: "k");
        using var heard = new ManualResetEventSlim();
        var caller = refused.ContinueWith(
            _ => heard.Wait(TimeSpan.FromSeconds(20)), default,
            TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        await Rig.Until(() => cluster.Logs[1]!.Held > 0, "the log is asked");
        cluster.Logs[1]!.Release();
        await Rig.Until(() => refused.IsCompleted, "it is refused");
        Assert.Equal(RejectionKind.Overloaded, (await refused).Rejection?.Kind);

        gate.Open();
        Assert.Equal(Outcome.Committed, (await Rig.Within(busy, "a commit beside that caller", 5)).Outcome);
        heard.Set();
        Assert.True(await caller);
    }
}
