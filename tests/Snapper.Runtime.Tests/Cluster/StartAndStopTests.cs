using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
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
}
