using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>A worker may own actors of types that it does not host, while programs are replaced.</summary>
public sealed class UnknownTypeTests
{
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public async Task A_transaction_on_an_actor_whose_owner_does_not_host_its_type_ends_and_stops_no_worker(
        bool pact, bool calls)
    {
        await using var cluster = await TestCluster.Start(
            2, types: static worker => worker == 1 ? [BoxActorDescriptor.Instance] : []);
        string near = cluster.IdAt(1, "Box"), far = cluster.IdAt(2, "Box");
        Step[] steps = calls ? [Step.Add(), Step.Call(far, Step.Add())] : [Step.Add()];
        DeclaredAccess[]? access = pact ? [new(new("Box", near), 1), new(new("Box", far), 1)] : null;

        var answer = await Rig.Within(Run(cluster, near, steps, access), "the answer", 20);

        Assert.Empty(cluster.Failures);
        if (calls)
        {
            Rig.Aborted(answer, AbortReason.Application);
            Assert.Contains("there is no Box.Run here", answer.Abort!.Message, StringComparison.Ordinal);
        }
        else
        {
            Assert.Equal(Outcome.Committed, answer.Outcome);
        }

        Assert.Equal(Outcome.Committed, (await Run(cluster, near, [Step.Add()], null)).Outcome);
    }

    private static Task<TransactionEnvelope> Run(
        TestCluster cluster, string id, Step[] steps, DeclaredAccess[]? access) =>
        TestCluster.SubmitTo(cluster[1], "Box", id, "Run", new Script(steps), access, timeoutMs: 5000);
}
