using System.Text;
using System.Text.Json;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Hosting;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>
/// A call of a method by its own name, as the proxies of Dapr's SDKs make it: recorded bytes of each.
/// </summary>
public sealed class MethodEndpointTests
{
    private const string Wrapped = $$$"""{"value":{"input":{{{Input}}}}}""";
    private const string Input = """{"to":"bob","amount":10}""";

    [Theory]
    [InlineData("untyped .NET, Go, Java, Python", Input, false, Input)]
    [InlineData("JavaScript", $"[{Input}]", false, Input)]
    [InlineData("JavaScript, of a list", "[[1,2]]", false, "[1,2]")]
    [InlineData("two arguments stay what they are", "[1,2]", false, "[1,2]")]
    [InlineData("no argument", "", false, "")]
    [InlineData("JavaScript without arguments", "null", false, "null")]
    [InlineData("typed .NET", Wrapped, true, Input)]
    [InlineData("typed .NET, spaces", """ { "value" : { "amount" : 7 } } """, true, "7")]
    [InlineData("typed .NET without parameter", """{"value":{}}""", true, "")]
    [InlineData("typed .NET without parameter, null", """{"value":null}""", true, "")]
    [InlineData("typed .NET without body", "", true, "")]
    public async Task The_argument_is_the_input(string sdk, string body, bool remoting, string input)
    {
        var door = new FakeTransactionService();

        var reply = await Call(door, body.TrimStart(), remoting);

        Assert.True(reply.Status == 200, sdk);
        Assert.True(door.Requests.TryDequeue(out var request));
        Assert.Equal(AccessSource.Open, request.AccessSource);
        Assert.Equal(("Account/alice", "Transfer", input),
            ($"{request.Actor}", request.Method, Encoding.UTF8.GetString(request.Input.Span)));
        Assert.Equal(remoting ? """{"value":{"retVal":{"left":90}}}""" : """{"left":90}""",
            Encoding.UTF8.GetString(reply.Body.Span));
        Assert.Null(reply.ErrorHeader);
    }

    [Theory]
    [InlineData("[7]", "[7]")]
    [InlineData("[7,8]", "[7,8]")]
    [InlineData("[]", "[]")]
    [InlineData("[[7]]", "[7]")]
    public async Task An_input_that_is_an_array_is_not_taken_for_a_list_of_arguments(string body, string input)
    {
        var door = new FakeTransactionService();

        await Call(door, body, method: "Sum");

        Assert.True(door.Requests.TryDequeue(out var request));
        Assert.Equal(input, Encoding.UTF8.GetString(request.Input.Span));
    }

    [Theory]
    [InlineData("""[{"to":"bob"},10]""", "Transfer", "The call has 2 arguments, ")]
    [InlineData("[1,2,3]", "Transfer", "The call has 3 arguments, ")]
    [InlineData("[1]", "Transfer", null)]
    [InlineData("[1,2]", "Sum", null)]
    public async Task Several_arguments_that_are_no_input_are_counted(string body, string method, string? words)
    {
        var door = FakeTransactionService.Rejecting(RejectionKind.Invalid);

        using var json = JsonDocument.Parse((await Call(door, body, method: method)).Body);

        var detail = json.RootElement.GetProperty("detail").GetString()!;
        Assert.Equal(words is not null, detail.StartsWith(words ?? "The call", StringComparison.Ordinal));
        Assert.Equal(400, json.RootElement.GetProperty("status").GetInt32());
    }

    [Fact]
    public async Task A_method_without_result_answers_a_typed_proxy_with_nothing()
    {
        var door =
            FakeTransactionService.Answering(request =>
            FakeTransactionService.Committed(request) with { Result = "null"u8.ToArray() });

        Assert.Equal(0, (await Call(door, "", remoting: true, method: "Void")).Body.Length);
        Assert.Equal("null", Encoding.UTF8.GetString((await Call(door, "", method: "Void")).Body.Span));
    }

    [Theory]
    [InlineData("{", false, "invalid-request")]
    [InlineData("[1", false, "invalid-request")]
    [InlineData("<a/>", false, "invalid-request")]
    [InlineData("<a xmlns=\"urn:actors\"/>", true, "unsupported-media-type")]
    [InlineData("""{"value":{"a":1,"b":2}}""", true, "invalid-request")]
    [InlineData("""{"value":[1]}""", true, "invalid-request")]
    [InlineData("""{"other":{"a":1}}""", true, "invalid-request")]
    [InlineData("""{"value":{"a":1}""", true, "invalid-request")]
    [InlineData("""{"value":{"a":1}} x""", true, "invalid-request")]
    public async Task A_body_that_cannot_be_read_is_refused_in_words(string body, bool remoting, string reason)
    {
        var door = new FakeTransactionService();

        AssertFailed(await Call(door, body, remoting), remoting, reason);

        Assert.Empty(door.Requests);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Every_other_outcome_than_a_commit_is_no_result(bool remoting)
    {
        foreach (var (door, reason) in ((FakeTransactionService, string)[])
        [
            (FakeTransactionService.Aborting(AbortReason.Application), "application"),
            (FakeTransactionService.Aborting(AbortReason.Conflict, retryable: true), "conflict"),
            (FakeTransactionService.Rejecting(RejectionKind.NotFound), "not-found"),
            (FakeTransactionService.Rejecting(RejectionKind.Unavailable), "unavailable"),
            (FakeTransactionService.Answering(request =>
                new TransactionEnvelope { Id = "g", Outcome = Outcome.InDoubt, Mode = request.Mode }), "in-doubt"),
            (FakeTransactionService.Answering(request =>
                FakeTransactionService.Committed(request) with { IsResultDropped = true }), "result-dropped"),
        ])
        {
            AssertFailed(await Call(door, remoting ? Wrapped : Input, remoting), remoting, reason);
        }
    }

    [Fact]
    public async Task An_abort_has_its_code_its_details_and_the_advice_to_repeat_it()
    {
        var abort = new AbortDetails(AbortReason.Conflict, "too late", true, null)
        {
            Code = new AbortCode("too_late", "{\"by\":3}"),
        };
        var door = FakeTransactionService.Answering(request =>
            FakeTransactionService.Committed(request) with { Outcome = Outcome.Aborted, Abort = abort, Result =
                default });

        var typed = await Call(door, Wrapped, remoting: true);
        Assert.Contains("conflict too_late: too late [retryable]", Encoding.UTF8.GetString(typed.Body.Span),
            StringComparison.Ordinal);
        using var json = JsonDocument.Parse((await Call(door, Input)).Body);
        Assert.Equal(
            """{"reason":"conflict","message":"too late","retryable":true,"code":"too_late","details":{"by":3}}""",
            json.RootElement.GetProperty("abort").GetRawText());
    }

    [Theory]
    [InlineData("$delete", "alice", null)]
    [InlineData("", "alice", null)]
    [InlineData("Transfer", "a\0", null)]
    [InlineData("Transfer", "alice", "")]
    [InlineData("Transfer", "alice", "a\u0001")]
    public async Task A_wrong_address_or_key_is_refused(string method, string id, string? key)
    {
        var door = new FakeTransactionService();

        AssertFailed(await Call(door, "", method: method, id: id, key: key), remoting: false, "invalid-request");

        Assert.Empty(door.Requests);
    }

    [Fact]
    public async Task The_key_is_the_requests_id_and_an_envelope_comes_where_it_is_asked_for()
    {
        var door = FakeTransactionService.Aborting(AbortReason.Application);

        var reply = await Call(door, Input, key: "\"order-1\"", envelope: true);

        Assert.Equal(200, reply.Status);
        using var json = JsonDocument.Parse(reply.Body);
        Assert.Equal(("order-1", "aborted"),
            (json.RootElement.GetProperty("id").GetString(), json.RootElement.GetProperty("outcome").GetString()));
        var refused = await Call(door, "{", envelope: true);
        using var rejected = JsonDocument.Parse(refused.Body);
        Assert.Equal((200, "rejected"), (refused.Status, rejected.RootElement.GetProperty("outcome").GetString()));
    }

    private static void AssertFailed(ActorReply reply, bool remoting, string reason)
    {
        if (remoting)
        {
            // How the SDK reads it: ActorSdkTests.
            Assert.Equal(200, reply.Status);
            Assert.Contains("ActorResponseMessageHeaders", reply.ErrorHeader, StringComparison.Ordinal);
            Assert.Contains(reason + ": ", Encoding.UTF8.GetString(reply.Body.Span), StringComparison.Ordinal);
            return;
        }

        Assert.Equal(("application/problem+json", (string?)null), (reply.ContentType, reply.ErrorHeader));
        using var json = JsonDocument.Parse(reply.Body);
        Assert.InRange(reply.Status, 400, 504);
        Assert.Equal(reply.Status, json.RootElement.GetProperty("status").GetInt32());
        Assert.Equal(reason, json.RootElement.GetProperty("reason").GetString());
    }

    private static async Task<ActorReply> Call(
        ITransactionService door, string body, bool remoting = false, string method = "Transfer", string id = "alice",
            string? key = null, bool envelope = false)
    {
        var host =
            new SidecarActorHost("w1", ["Account"], door, new ApiOptions(), new MailboxEndpoint(null),
            hasResult: (_, called) => called != "Void", takesList: (_, called) => called == "Sum");
        return await host.Invoke(
            new ActorCall
            {
                ActorType = "Account",
                ActorId = id,
                Method = method,
                Body = Encoding.UTF8.GetBytes(body),
                IsRemoting = remoting,
                IdempotencyKey = key,
                WantsEnvelope = envelope,
            },
            default);
    }
}
