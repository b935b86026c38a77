using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
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

    [Fact]
    public async Task A_master_that_is_stopped_while_the_last_vote_is_on_its_way_does_not_fail()
    {
        await using var cluster = await TestCluster.Start(2, new WorkerOptions { Executors = 1 });
        var master = cluster.Master;
        var other = 3 - master;
        string here = cluster.IdAt(master, "Account"), there = cluster.IdAt(other, "Account");
        await cluster.Total(here);
        await cluster.Total(there);
        cluster.Logs[other]!.Hold();
        _ = TestCluster.SubmitTo(
            cluster[other], "Account", there, "Transfer", new { to = here, amount = 1 },
            [new(new ActorKey("Account", there), 1), new(new ActorKey("Account", here), 1)]);
        var node = cluster[master].Worker.Cluster!;
        await Rig.Until(
            () => cluster.Logs[other]!.Held > 0
                && node.Ask(() => cluster[master].Worker.Commits.Open.Any(IsPrepared)).Result,
            "the master has its own part");

        // While it stops, the last vote waits for an executor that is busy, and the lease's thread for the store.
        using var busy = new ManualResetEventSlim();
        var renewal = new TaskCompletionSource();
        cluster[master].Worker.Executors[0].PostRun(busy.Wait);
        cluster.StoreOf(master).Before = name => name == FaultyStore.LeaseRenewed ? renewal.Task : Task.CompletedTask;
        await Task.Delay(cluster.Options.Lease / 2);
        cluster.Logs[other]!.Release();
        await Rig.Until(() => cluster[other].Worker.Cluster!.Gate.Hub.QueuedBytes(master) == 0, "the vote is there");
        var stopping = Task.Run(cluster[master].Stop);
        await Rig.Until(
            () => node.Gate.Hub.Deliver(default).Span.SequenceEqual(MailboxHub.NotReady.Span),
            "it takes nothing any more");
        busy.Set();
        await Task.Delay(200);
        renewal.SetResult();
        await stopping.WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Null(cluster[master].Failure);
    }

    private static bool IsPrepared(Batch batch) => batch.PartState == PartState.Prepared;
}
