using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>The beginning and the end of a worker's life, on the threads that it really has.</summary>
public sealed class StartAndStopTests
{
    [Fact]
    public async Task A_worker_that_fails_before_it_has_joined_has_started_and_failed()
    {
        await using var cluster = await TestCluster.Start(0);
        cluster.Workers = 2; // it waits for the other one
        var opening = cluster.Open(1);
        await Rig.Until(() => cluster.Members().Result.Count == 1, "it is a member");
        await Task.Delay(100);
        Assert.False(opening.IsCompleted);

        await new MemoryTransactionLog(cluster.Shared.Log(1)).Open(CancellationToken.None); // another life of it
        await opening.WaitAsync(TimeSpan.FromSeconds(10));
        Assert.IsType<LogLostFailure>(cluster[1].Failure);
        var refused = await TestCluster.SubmitTo(cluster[1], "Account", "a", "Balance", null, null);
        Assert.Equal(RejectionKind.Unavailable, refused.Rejection?.Kind);
    }

    [Fact]
    public async Task A_life_that_is_fenced_while_it_asks_what_is_in_doubt_ends()
    {
        await using var cluster = await TestCluster.Start(
            2, lease: TimeSpan.FromSeconds(5), patience: TimeSpan.FromSeconds(30),
            types: _ => SnapperRuntimeTestsActors.All);
        using var gate = new Gate();
        string near = cluster.IdAt(1, "Box"), far = cluster.IdAt(2, "Box", "far");
        var script = new Script([Step.Call(far, Step.Add()), Step.Wait(gate)]);
        _ = TestCluster.SubmitTo(cluster[1], "Box", near, "Run", script, null);
        await gate.Reached();
        cluster.CutCalls(2, 1);
        gate.Open();
        await Rig.Until(() => cluster[2].Worker.Acts.Values.Any(act => act.IsPrepared), "it has voted");
        await Task.Delay(200);
        await cluster.Kill(2);
        var opening = cluster.Open(2);
        await Task.Delay(500);
        Assert.False(opening.IsCompleted); // the root does not hear its question

        await new MemoryTransactionLog(cluster.Shared.Log(2)).Open(CancellationToken.None); // another took it for dead
        await Assert.ThrowsAsync<LogLostException>(() => opening.WaitAsync(TimeSpan.FromSeconds(10)));
    }
}
