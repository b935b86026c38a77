using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// L5: committed state that is shown over HTTP. A worker that stood still and was replaced must not show what it
/// finds when it wakes.
/// </summary>
public sealed class ReplacedWorkerShowsNothingTests
{
    [Fact]
    public async Task A_worker_whose_log_has_another_owner_shows_no_actor_and_stops()
    {
        await using var rig = await Rig.Start();
        var added = await rig.Act("a", Step.Add());
        Assert.True(added.Outcome == Outcome.Committed, TestWorker.Describe(added));
        Assert.NotNull(await rig.Host.Inspection.Actor(new ActorKey("Box", "a"), CancellationToken.None));
        await new MemoryTransactionLog(rig.Storage).Open(CancellationToken.None); // its next life begins
        await Assert.ThrowsAsync<StorageUnavailableException>(() => rig.Host.Inspection.Actor(new ActorKey("Box", "a"), CancellationToken.None));
        Assert.NotNull(rig.Host.Failure);
    }

    [Fact]
    public async Task Nor_does_it_list_any()
    {
        await using var rig = await Rig.Start();
        await rig.Act("a", Step.Add());
        await new MemoryTransactionLog(rig.Storage).Open(CancellationToken.None);
        await Assert.ThrowsAsync<StorageUnavailableException>(() => rig.Host.Inspection.Actors("Box", null, "", 10, CancellationToken.None));
    }
}
