using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>A worker that has no room for a request says so at once, also through another one.</summary>
public sealed class FullWorkersTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_refusal_of_the_owner_is_the_answer_of_a_worker_that_passes_the_request_on(bool isStoreFull)
    {
        var options = new WorkerOptions { Executors = 2, MaxRequestIds = isStoreFull ? 10 : 1 };
        await using var cluster = await TestCluster.Start(
            2, options, types: static _ => [HeapActorDescriptor.Instance]);
        string here = cluster.IdAt(1, "Heap"), there = cluster.IdAt(2, "Heap");
        Assert.Equal(Outcome.Committed, (await Take(here, "w")).Outcome);
        Assert.Equal(Outcome.Committed, (await Take(there, "x")).Outcome);
        foreach (var worker in isStoreFull ? [1, 2] : Array.Empty<int>())
        {
            cluster[worker].Worker.NoteStoreMemory(new StoreMemory(90, 100));
        }

        var refused = await Take(there, isStoreFull ? null : "y"); // what is passed on gets an id
        Rig.Rejected(refused, RejectionKind.Full);
        Assert.Contains(isStoreFull ? "may write" : "request ids", refused.Rejection!.Detail, StringComparison.Ordinal);
        Assert.Equal(Outcome.Committed, (await Take(there, "x")).Outcome);
        Assert.Empty(cluster.Unexpected);

        Task<TransactionEnvelope> Take(string root, string? id) => Rig.Within(
            TestCluster.SubmitTo(cluster[1], "Heap", root, "Take", "text", null, id), "the answer", seconds: 5);
    }
}
