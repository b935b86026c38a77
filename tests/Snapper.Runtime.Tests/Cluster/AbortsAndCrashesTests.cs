using Snapper.Cluster;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// H2, H7: what an ACT's own abort rests on stays as it was until the abort is decided, over a crash of a worker, too.
/// </summary>
public sealed class AbortsAndCrashesTests
{
    [Fact]
    public async Task An_abort_tells_nothing_that_no_order_of_the_committed_explains()
    {
        var options = new WorkerOptions { TurnBound = TimeSpan.FromSeconds(20) };
        await using var cluster = await TestCluster.Start(3, options, types: static _ => [BoxActorDescriptor.Instance]);
        var middle = cluster.Master;
        var (voter, root) = middle switch { 1 => (2, 3), 2 => (1, 3), _ => (1, 2) };
        string x = cluster.IdAt(voter, "Box", "x"), r = cluster.IdAt(root, "Box", "r");
        string v = cluster.IdAt(middle, "Box", "v"), w = cluster.IdAt(middle, "Box", "w");
        var z = cluster.IdAt(middle, "Box", "z");
        using var gate = new Gate();
        foreach (var box in new[] { x, w, z })
        {
            await Run(cluster, middle, box, [Step.Get()]);
        }

        // It stands ahead of the batch on w, and goes on to x behind the crash.
        var writer = Run(cluster, middle, w, [Step.Add(10), Step.Wait(gate), Step.Call(x, Step.Add())]);
        await gate.Reached();
        var batch = Run(cluster, middle, v, [Step.Call(z, Step.Add(5)), Step.Call(w, Step.Get())], v, z, w);

        // It has read x before the writer, and z behind the batch; x's worker votes, z's waits for the batch.
        var reader = Run(cluster, root, r, [Step.Call(x, Step.Get()), Step.Call(z, Step.Get()), Step.Tell()]);
        var parts = cluster[voter].Worker.Acts;
        await Rig.Until(() => parts.Values.Any(static act => act.IsPrepared), "the voter was asked");
        await cluster[voter].Worker.Log.Drain(CancellationToken.None);
        await Task.Delay(200);
        var (held, late) = (new TaskCompletionSource(), new TaskCompletionSource());
        cluster.StoreOf(root).Before = name => name == "Look" ? Hold() : Task.CompletedTask;
        await held.Task;
        var before = cluster[voter].Worker.Cluster!.Self;
        await cluster.Kill(voter);
        await cluster.Open(voter).WaitAsync(TimeSpan.FromSeconds(10));
        var (actor, directory) = (new ActorKey("Box", x), cluster[middle].Worker.Cluster!.Directory);
        await Rig.Until(() => directory.Resolve(actor).Epoch > before.Epoch, "its next life is known");
        gate.Open();
        Rig.Seen(await Rig.Within(writer, "the writer"));
        var seen = Rig.Seen(await Rig.Within(batch, "the batch"));
        Assert.Equal([10], seen); // the batch stands behind the writer
        await Task.Delay(200);
        late.SetResult();
        cluster.StoreOf(root).Before = null;

        var answer = await Rig.Within(reader, "the reader");
        Rig.Aborted(answer, AbortReason.Application);

        // x before the writer, and z behind the batch, which stands behind the writer
        Assert.NotEqual("saw 0 5", answer.Abort!.Message);

        Task Hold()
        {
            held.TrySetResult();
            return late.Task;
        }
    }

    private static Task<TransactionEnvelope> Run(
        TestCluster cluster, int worker, string box, Step[] steps, params string[] access)
    {
        DeclaredAccess[] declared = [.. access.Select(static id => new DeclaredAccess(new("Box", id), 1))];
        return TestCluster.SubmitTo(
            cluster[worker], "Box", box, "Run", new Script(steps), access.Length == 0 ? null : declared);
    }
}
