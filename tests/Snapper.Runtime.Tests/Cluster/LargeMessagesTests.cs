using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>What is too large for a message between workers ends its transaction, and no worker.</summary>
public sealed class LargeMessagesTests
{
    private const int TooLong = 4 << 20;
    private const int Long = (2 << 20) - 2;

    [Theory]
    [InlineData("TextOf", true)]
    [InlineData("TextOf", false)]
    [InlineData("SendTo", true)]
    [InlineData("SendTo", false)]
    public async Task A_call_of_another_worker_with_a_large_input_or_result_ends_its_transaction_alone(
        string method, bool pact)
    {
        await using var cluster = await Start();
        string from = cluster.IdAt(1, "Heap"), to = cluster.IdAt(2, "Heap");
        DeclaredAccess[]? access = pact ? [new(new("Heap", from), 1), new(new("Heap", to), 1)] : null;
        foreach (var length in new[] { TooLong, Long })
        {
            var answer = await Rig.Within(
                TestCluster.SubmitTo(cluster[1], "Heap", from, method, new Letter(to, length), access), "the answer");
            Look(answer, length);
        }

        Assert.Empty(cluster.Unexpected);
    }

    [Fact]
    public async Task A_large_result_of_a_request_that_was_passed_on_is_answered()
    {
        await using var cluster = await Start();
        var there = cluster.IdAt(2, "Heap");
        foreach (var length in new[] { TooLong, Long })
        {
            var answer = await Rig.Within(
                TestCluster.SubmitTo(cluster[1], "Heap", there, "Text", length, null), "the answer");
            Look(answer, length);
        }

        Assert.Empty(cluster.Unexpected);
    }

    [Fact]
    public async Task A_result_that_was_not_kept_is_told_by_a_worker_that_passes_the_request_on()
    {
        await using var cluster = await Start();
        var there = cluster.IdAt(2, "Heap");
        foreach (var isAgain in new[] { false, true })
        {
            var answer = await Rig.Within(
                TestCluster.SubmitTo(cluster[1], "Heap", there, "Text", 100_000, null, "x"), "the answer");
            Assert.Equal(
                (Outcome.Committed, isAgain, isAgain), (answer.Outcome, answer.IsResultDropped, answer.Result.IsEmpty));
        }

        var found = await cluster[1].Door.Find("x", default);
        Assert.Equal((Outcome.Committed, true), (found!.Outcome, found.IsResultDropped));
    }

    private static Task<TestCluster> Start()
    {
        var options = new WorkerOptions { Executors = 2, MaxResultBytes = 8 << 20 };
        return TestCluster.Start(2, options, types: static _ => [HeapActorDescriptor.Instance]);
    }

    private static void Look(TransactionEnvelope answer, int length)
    {
        if (length == Long)
        {
            Assert.True(answer.Outcome == Outcome.Committed, TestWorker.Describe(answer));
            return;
        }

        Rig.Aborted(answer, AbortReason.Application);
        Assert.Contains("the limit is 2097152", answer.Abort!.Message, StringComparison.Ordinal);
    }
}
