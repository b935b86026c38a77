using System.Text.Json;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Cluster;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>An abort that the application has given a code keeps it, wherever it is told.</summary>
public sealed class TypedAbortTests
{
    private const string Details = """{"needed":10,"available":3}""";

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Code_and_details_are_told_at_once_again_by_id_and_after_a_restart(bool pact)
    {
        await using var worker = await TestWorker.Start(null, DebtActorDescriptor.Instance);
        DeclaredAccess[]? access = pact ? [new(new ActorKey("Debt", "a"), 1), new(new ActorKey("Debt", "b"), 1)] : null;
        Task<TransactionEnvelope> Ask() => worker.Submit("Debt", "a", "AskDenied", new Owe("b", 10), access, key: "k1");

        for (var i = 0; i < 2; i++)
        {
            IsInsufficient(await Ask());
            IsInsufficient(await Ask());
            IsInsufficient(await worker.Host.Door.Find("k1", CancellationToken.None));
            await worker.Restart();
        }

        Assert.Equal("0",
            System.Text.Encoding.UTF8.GetString((await worker.Act("Debt", "a", "Owed", null)).Result.Span));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Also_when_the_abort_is_on_another_worker_than_the_root_and_asked_for_at_a_third(bool pact)
    {
        await using var cluster = await TestCluster.Start(
            3, new WorkerOptions { Executors = 1 }, types: static _ => [DebtActorDescriptor.Instance]);
        string root = cluster.IdAt(1, "Debt", "r"), other = cluster.IdAt(2, "Debt", "o");
        var asked = new TransactionRequest
        {
            Actor = new ActorKey("Debt", root),
            Method = "AskDenied",
            Input = JsonSerializer.SerializeToUtf8Bytes(new Owe(other, 10)),
            Mode = pact ? TransactionMode.Pact : TransactionMode.Act,
            Access = pact ? [new(new ActorKey("Debt", root), 1), new(new ActorKey("Debt", other), 1)] : null,
            Id = "k1",
        };

        IsInsufficient(await cluster[3].Door.Submit(asked, CancellationToken.None));
        IsInsufficient(await cluster[3].Door.Submit(asked, CancellationToken.None));
        IsInsufficient(await cluster[2].Door.Find("k1", CancellationToken.None));
    }

    [Theory]
    [InlineData(0, "not_now", "not_now")]
    [InlineData(1, null, "An abort's code is 1 to 64 lower-case letters, digits or '_'.")]
    [InlineData(2, null, "The details of an abort have at most 4096 bytes as JSON.")]
    [InlineData(3, null, "a message\uFFFDthat_is_no_code\uFFFD{}")]
    public async Task What_is_no_code_is_said_in_the_message(int how, string? code, string words)
    {
        await using var worker = await TestWorker.Start(null, DebtActorDescriptor.Instance);
        for (var i = 0; i < 2; i++)
        {
            var abort = (await worker.Submit("Debt", "a", "Deny", how, null, key: "k1")).Abort!;
            Assert.Equal((AbortReason.Application, code, null), (abort.Reason, abort.Code?.Code, abort.Code?.Details));
            Assert.Contains(words, abort.Message, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("", null, null)]
    [InlineData("why", null, null)]
    [InlineData("why", "a", null)]
    [InlineData("why\0not", "a_1", "{}")]
    public void One_text_has_all_of_it(string message, string? code, string? details)
    {
        var known = code is null ? null : new AbortCode(code, details);
        Assert.Equal((AbortCode.WithoutSeparator(message), known), AbortCode.Split(AbortCode.Join(message, known)));
    }

    [Theory]
    [InlineData("a message of before")]
    [InlineData("a\0b")]
    [InlineData("a\0No Code\0{}")]
    public void What_an_earlier_version_wrote_is_the_message(string text) =>
        Assert.Equal((text, null), AbortCode.Split(text));

    private static void IsInsufficient(TransactionEnvelope? envelope)
    {
        Assert.Equal(Outcome.Aborted, envelope?.Outcome);
        Assert.Equal(AbortReason.Application, envelope!.Abort!.Reason);
        Assert.Equal("not enough", envelope.Abort.Message);
        Assert.Equal(new AbortCode("insufficient_funds", Details), envelope.Abort.Code);
    }
}
