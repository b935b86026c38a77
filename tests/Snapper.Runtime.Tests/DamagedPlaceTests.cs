using System.Diagnostics;
using System.Text;
using Snapper.Actors.Generated;
using Snapper.Apps.ListAppend;
using Snapper.Cluster.Membership;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Cluster;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// Something else lies in the place of one actor's state. A worker sets it aside while it runs; a restart and
/// a take-over need it no more than that, and lose nothing of it (L8, R4).
/// </summary>
public sealed class DamagedPlaceTests
{
    private static readonly ActorKey A = new("Box", "a");

    [Fact]
    public async Task A_worker_starts_without_the_actor_and_serves_it_again_when_its_changes_are_stored()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await rig.Pact("a", ["a", "b"], Step.Add(1), Step.Call("b", Step.Add(1))));
        Rig.Seen(await rig.Act("a", Step.Add(1)));
        rig.Storage.DamagedPlaces.Add(A);

        for (var restarts = 0; restarts < 2; restarts++)
        {
            await rig.Restart();
            Assert.Equal(1, await rig.Value("b"));
            foreach (var refused in (TransactionEnvelope[])[await rig.Act("a", Step.Add(1)),
                await rig.Pact("b", ["a", "b"], Step.Call("a", Step.Add(1)))])
            {
                Rig.Aborted(refused, AbortReason.Failure);
                Assert.Contains("Box/a", refused.Abort!.Message, StringComparison.Ordinal);
            }
        }

        // The place is good again, and what lies in it is older than the log.
        rig.Storage.DamagedPlaces.Clear();
        await Task.Delay(1.1 * Executor.ReloadEvery); // it would be read by now
        Rig.Aborted(await rig.Act("a", Step.Add(1)), AbortReason.Failure);
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(2, Rig.Seen(await Committed(() => rig.Act("a", Step.Get())))[0]);
        Rig.Seen(await rig.Act("a", Step.Add(1)));
        await rig.Restart();
        Assert.Equal((3, 1), (await rig.Value("a"), await rig.Value("b")));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task Others_take_a_dead_worker_over_but_for_the_actor()
    {
        await using var cluster = await TestCluster.Start(3, lease: TimeSpan.FromSeconds(1));
        var victim = cluster.Master == 2 ? 3 : 2;
        string a = cluster.IdAt(victim, "ListAppend"), b = cluster.IdAt(victim, "ListAppend", "b");
        Assert.NotEqual(Partition.Of(new("ListAppend", a)), Partition.Of(new("ListAppend", b)));
        foreach (var id in (string[])[a, b])
        {
            var appended = await TestCluster.SubmitTo(
                cluster[victim], "ListAppend", id, "Append", new { value = 1 }, null);
            Assert.True(appended.Outcome == Outcome.Committed, TestWorker.Describe(appended));
        }

        var damaged = cluster.Shared.Log(victim).DamagedPlaces;
        damaged.Add(new("ListAppend", a));
        await cluster.Kill(victim);
        await Rig.Until(() => cluster.Logged.Lines.Any(static line =>
            line.Id == 1034 && line.Text.Contains("The place of actor", StringComparison.Ordinal)), "it is told", 20);
        foreach (var living in Enumerable.Range(1, 3).Except([victim]))
        {
            var other = await TestCluster.SubmitTo(
                cluster[living], "ListAppend", b, "Append", new { value = living + 10 }, null);
            Assert.True(other.Outcome == Outcome.Committed, TestWorker.Describe(other));
        }

        var asked = await TestCluster.SubmitTo(
            cluster[1], "ListAppend", a, "Append", new { value = 2 }, null, timeoutMs: 300);
        Assert.NotEqual(Outcome.Committed, asked.Outcome);

        damaged.Clear();
        Assert.Equal("[1]", await Read(cluster, a));
        Assert.Empty(cluster.Unexpected);
    }

    /// <summary>
    /// What was read once stays true while no other life opens the log; a try is no reason to read it.
    /// </summary>
    [Fact]
    public async Task The_log_of_a_dead_worker_is_read_once_however_often_its_damaged_place_is_tried()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1));
        var a = cluster.IdAt(2, "ListAppend");
        var appended = await TestCluster.SubmitTo(cluster[2], "ListAppend", a, "Append", new { value = 1 }, null);
        Assert.True(appended.Outcome == Outcome.Committed, TestWorker.Describe(appended));
        var storage = cluster.Shared.Log(2);
        storage.DamagedPlaces.Add(new("ListAppend", a));
        await cluster.Kill(2);
        await Rig.Until(() => Told() > 0, "it is told", 20);
        var epoch = storage.Epoch;

        await Task.Delay(2.5 * TakeOvers.TriedAgain);
        Assert.Equal((epoch, 1), (storage.Epoch, Told()));

        storage.DamagedPlaces.Clear();
        Assert.Equal("[1]", await Read(cluster, a));
        Assert.Equal(epoch, storage.Epoch);
        Assert.Equal(1, cluster.OwnerOf("ListAppend", a).Worker.Options.Number);
        Assert.Empty(cluster.Unexpected);

        int Told() => cluster.Logged.Lines.Count(static line => line.Id == 1034);
    }

    [Fact]
    public async Task A_dead_worker_that_comes_back_keeps_the_actor()
    {
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1));
        string a = cluster.IdAt(2, "ListAppend"), b = cluster.IdAt(2, "ListAppend", "b");
        await TestCluster.SubmitTo(cluster[2], "ListAppend", a, "Append", new { value = 1 }, null);
        await TestCluster.SubmitTo(cluster[2], "ListAppend", b, "Append", new { value = 1 }, null);
        var damaged = cluster.Shared.Log(2).DamagedPlaces;
        damaged.Add(new("ListAppend", a));
        await cluster.Kill(2);
        await Rig.Until(() => cluster.Logged.Lines.Any(static line => line.Id == 1034), "it is taken over", 20);
        await cluster.Open(2).WaitAsync(TimeSpan.FromSeconds(15));
        Assert.Equal(2, cluster.OwnerOf("ListAppend", a).Worker.Options.Number);
        var refused = await TestCluster.SubmitTo(cluster[1], "ListAppend", a, "Read", null, null);
        Assert.True(refused.Outcome == Outcome.Aborted
            && refused.Abort!.Reason == AbortReason.Failure, TestWorker.Describe(refused));

        damaged.Clear();
        await cluster[2].Worker.Checkpoints.CheckpointNow();
        Assert.Equal(("[1]", "[1]"), (await Read(cluster, a), await Read(cluster, b)));
        Assert.Empty(cluster.Unexpected);
    }

    /// <summary>
    /// A worker voted for an ACT, which is committed, and dies before it hears so. One of the two actors that the ACT
    /// has changed there cannot be read: the change is kept for it, and made once.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_was_in_doubt_on_the_actor_and_is_committed_is_kept_for_it(bool comesBack)
    {
        await using var cluster = await TestCluster.Start(
            3, lease: TimeSpan.FromSeconds(comesBack ? 10 : 1), types: static _ => SnapperRuntimeTestsActors.All);
        var victim = cluster.Master == 2 ? 3 : 2;
        string near = cluster.IdAt(1, "Box"), a = cluster.IdAt(victim, "Box"), b = cluster.IdAt(victim, "Box", "b");
        Assert.NotEqual(Partition.Of(new("Box", a)), Partition.Of(new("Box", b)));
        Rig.Seen(await Run(a, Step.Add()));
        await cluster[victim].Worker.Checkpoints.CheckpointNow();
        using var gate = new Gate();
        var answer = Run(near, Step.Call(a, Step.Add()), Step.Call(b, Step.Add()), Step.Wait(gate));
        await gate.Reached();
        cluster.Logs[1]!.Hold();
        gate.Open();
        await Rig.Until(
            () => cluster[victim].Worker.Acts.Values.Any(static act => act.IsPrepared) && cluster.Logs[1]!.Held > 0,
            "it is about to be committed");
        await Task.Delay(200); // the vote is there, and a flush for whatever else has come to the log
        cluster.Cut(1, victim);
        var damaged = cluster.Shared.Log(victim).DamagedPlaces;
        damaged.Add(new("Box", a));
        cluster.Logs[1]!.Release();
        await Rig.Until(() => answer.IsCompleted, "it is answered");
        await cluster.Kill(victim);
        Rig.Seen(await answer);
        cluster.Heal();
        if (comesBack)
        {
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        Assert.Equal(1, await Value(b));
        var refused = await Ask(a, 500, Step.Get());
        Assert.NotEqual(Outcome.Committed, refused.Outcome);
        Assert.Equal(1, cluster.Shared.Log(victim).States[new("Box", a)].Version);
        Assert.True(await HasUnversioned(cluster.Shared.Log(victim)), "it was in doubt");

        damaged.Clear();
        if (comesBack)
        {
            await cluster[victim].Worker.Checkpoints.CheckpointNow();
        }

        Assert.Equal(2, await Value(a));
        Rig.Seen(await Committed(() => Run(a, Step.Add())));
        if (comesBack)
        {
            await cluster.Kill(victim);
            await cluster.Open(victim).WaitAsync(TimeSpan.FromSeconds(15));
        }

        Assert.Equal((3, 1), (await Value(a), await Value(b)));
        Assert.Empty(cluster.Unexpected);

        async Task<int> Value(string id) => Rig.Seen(await Committed(() => Ask(id, 2_000, Step.Get())))[0];

        Task<TransactionEnvelope> Ask(string id, int timeoutMs, params Step[] steps) => TestCluster.SubmitTo(
            cluster[1], "Box", id, "Run", new Script(steps), null, timeoutMs: timeoutMs);

        Task<TransactionEnvelope> Run(string id, params Step[] steps) => Ask(id, 10_000, steps);
    }

    /// <summary>
    /// A worker that ran alone has changes in its log that are in no state: no other worker may be given the actor.
    /// </summary>
    [Fact]
    public async Task The_first_division_gives_no_other_worker_the_actor()
    {
        var shared = new MemoryCluster(TimeProvider.System, new ClusterOptions { Lease = TimeSpan.FromSeconds(1) });
        var owners = PartitionDivision.Evenly([new Incarnation(1, 1), new Incarnation(2, 1)]);
        var a = Enumerable.Range(0, 100).Select(static i => "a" + i)
            .First(id => owners[Partition.Of(new("ListAppend", id)).Number].Worker == 2);
        var storage = shared.Log(1);
        var alone = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Name = "w1", Number = 1 },
                Time = TimeProvider.System,
                ActorTypes = [.. SnapperAppsListAppendActors.All],
                Log = new MemoryTransactionLog(storage),
                Store = new MemoryStateStore(storage, TimeProvider.System, new StateStoreOptions()),
                Logger = new LogLines(),
                Failed = static _ => { },
            },
            CancellationToken.None);
        await Append(alone, 1);
        await alone.Worker.Checkpoints.CheckpointNow();
        await Append(alone, 2);
        storage.DamagedPlaces.Add(new("ListAppend", a));
        await alone.Kill();

        var refused = await Assert.ThrowsAsync<CorruptLogException>(
            () => TestCluster.Start(1, lease: TimeSpan.FromSeconds(1), shared: shared));
        Assert.Contains($"ListAppend/{a}", refused.Message, StringComparison.Ordinal);

        storage.DamagedPlaces.Clear();
        await using var cluster = await TestCluster.Start(2, lease: TimeSpan.FromSeconds(1), shared: shared);
        Assert.Equal(2, cluster.OwnerOf("ListAppend", a).Worker.Options.Number);
        Assert.Equal("[1,2]", await Read(cluster, a));

        async Task Append(WorkerHost host, int value)
        {
            var appended = await TestCluster.SubmitTo(host, "ListAppend", a, "Append", new { value }, null);
            Assert.True(appended.Outcome == Outcome.Committed, TestWorker.Describe(appended));
        }
    }

    private static async Task<bool> HasUnversioned(MemoryStorage storage)
    {
        var has = false;
        var opening = new LogOpening(storage.Epoch, storage.NextSequence, storage.FirstSequence, storage.Watermarks);
        await foreach (var record in LogRecovery.ReadAll(new MemoryTransactionLog(storage), opening, default))
        {
            has |= record is ActEnded { Committed: true } marker && marker.Versions.Contains(InDoubt.NoVersion);
        }

        return has;
    }

    private static async Task<string> Read(TestCluster cluster, string id)
    {
        var read = await Committed(
            () => TestCluster.SubmitTo(cluster[1], "ListAppend", id, "Read", null, null, timeoutMs: 2_000));
        return Encoding.UTF8.GetString(read.Result.Span);
    }

    /// <summary>Asks until it is committed, since a damaged actor is read again only now and then.</summary>
    private static async Task<TransactionEnvelope> Committed(Func<Task<TransactionEnvelope>> ask)
    {
        var started = Stopwatch.GetTimestamp();
        while (true)
        {
            var answer = await ask();
            if (answer.Outcome == Outcome.Committed)
            {
                return answer;
            }

            Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(20), TestWorker.Describe(answer));
            await Task.Delay(20);
        }
    }
}
