using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>The actor door: the same failures, as envelopes.</summary>
public sealed class ActorEndpointTests
{
    [Fact]
    public async Task A_call_runs_with_the_addressed_actor_as_its_root()
    {
        var door = new FakeTransactionService();

        var answer = await Call(door, """{"method":"Transfer","access":{"Account":{"a/b||c":1}},"id":"order-1"}""", id: "a/b||c");

        Assert.Equal("committed", answer.GetProperty("outcome").GetString());
        Assert.True(door.Requests.TryDequeue(out var request));
        Assert.Equal("a/b||c", request.Actor.Id);
        Assert.Equal("shop", request.Caller);
        Assert.Null(request.TraceParent);
    }

    [Fact]
    public async Task An_address_with_an_id_that_cannot_be_decoded_is_rejected_with_a_problem()
    {
        var door = new FakeTransactionService();
        var host = new AspNetCore.Hosting.SidecarActorHost("w1", ["Account"], door, new ApiOptions(), new AspNetCore.Hosting.MailboxEndpoint(null));

        var reply = await host.Invoke(
            new Sidecar.Hosting.ActorCall { ActorType = "Account", ActorId = "%ff", IdIsUnreadable = true, Method = "StartTransaction", Body = "{}"u8.ToArray() }, default);

        using var answer = JsonDocument.Parse(reply.Body);
        AssertRejected(answer.RootElement, 400);
        Assert.Contains("%ff", answer.RootElement.GetProperty("problem").GetProperty("detail").GetString(), StringComparison.Ordinal);
        Assert.Empty(door.Requests);
    }

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("""{"method":"M","actor":{"type":"Account","id":"bob"}}""")]
    [InlineData("""{"transactions":[{"method":"M"}]}""")]
    [InlineData("""{"method":"M","access":{"Account":["bob"]}}""")]
    public async Task What_cannot_be_a_transaction_is_rejected_with_a_problem(string body)
    {
        var door = new FakeTransactionService();

        AssertRejected(await Call(door, body), 400);
        Assert.Equal(0, door.Submitted);
    }

    [Fact]
    public async Task The_header_is_the_requests_id_and_must_not_differ_from_its_own()
    {
        var door = new FakeTransactionService();

        Assert.Equal("k1", (await Call(door, """{"method":"M"}""", key: "k1")).GetProperty("id").GetString());
        Assert.Equal("k1",
            (await Call(door, """{"method":"M","id":"k1"}""", key: "\"k1\"")).GetProperty("id").GetString());
        AssertRejected(await Call(door, """{"method":"M","id":"other"}""", key: "k1"), 400);
        AssertRejected(await Call(door, """{"method":"M"}""", key: ""), 400);
        Assert.Equal(2, door.Submitted);
    }

    [Fact]
    public async Task A_wrong_address_is_rejected()
    {
        AssertRejected(await Call(new FakeTransactionService(), """{"method":"M"}""", type: "Acc ount"), 400);
        AssertRejected(await Call(new FakeTransactionService(), """{"method":"M"}""", id: "a\0b"), 400);
        AssertRejected(await Call(new FakeTransactionService(), """{"method":"M"}""", id: "\ud800"), 400);
        AssertRejected(await Call(new FakeTransactionService(), """{"method":"M"}""", id: ""), 400);
        AssertRejected(await Call(new FakeTransactionService(), """{"method":"M"}""", id: "pA", doubtful: true), 400);
    }

    [Fact]
    public async Task A_body_over_the_limit_is_rejected_whoever_notices()
    {
        AssertRejected(await Call(new FakeTransactionService(), "", tooLarge: true), 413);
        AssertRejected(await Call(new FakeTransactionService(), new string(' ', 1024 * 1024 + 1)), 413);
        AssertRejected(await Call(new FakeTransactionService(), StatusTableTests.WithActors(300), id: "a0"), 422);
    }

    [Theory]
    [InlineData(RejectionKind.NotFound, 404)]
    [InlineData(RejectionKind.IdConflict, 409)]
    [InlineData(RejectionKind.Overloaded, 429)]
    [InlineData(RejectionKind.Unavailable, 503)]
    public async Task What_the_worker_rejects_carries_its_status(RejectionKind kind, int status) =>
        AssertRejected(await Call(FakeTransactionService.Rejecting(kind), """{"method":"M"}"""), status);

    [Fact]
    public async Task An_abort_is_an_envelope_like_any_other()
    {
        var answer = await Call(FakeTransactionService.Aborting(AbortReason.Application), """{"method":"M","id":"order-1"}""");

        Assert.Equal("aborted", answer.GetProperty("outcome").GetString());
        Assert.Equal("application", answer.GetProperty("abort").GetProperty("reason").GetString());
        Assert.False(answer.TryGetProperty("problem", out _));
    }

    private static async Task<JsonElement> Call(
        ITransactionService door, string body, string type = "Account", string id = "alice", bool tooLarge = false,
            bool doubtful = false, string? key = null)
    {
        var answer = await ActorEndpoint.Call(
            door, new ApiOptions(), type, id, doubtful, Encoding.UTF8.GetBytes(body), tooLarge,
                RequestOrigin.Of("shop", "garbage"), null, null, key, default);
        return JsonDocument.Parse(answer).RootElement;
    }

    private static void AssertRejected(JsonElement answer, int status)
    {
        Assert.Equal("rejected", answer.GetProperty("outcome").GetString());
        var problem = answer.GetProperty("problem");
        Assert.Equal(status, problem.GetProperty("status").GetInt32());
        Assert.NotEmpty(problem.GetProperty("title").GetString()!);
        Assert.NotEmpty(problem.GetProperty("detail").GetString()!);
    }
}
