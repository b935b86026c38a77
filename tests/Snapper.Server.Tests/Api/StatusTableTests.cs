using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>Every row of the contract's status table at the service and direct doors.</summary>
public sealed class StatusTableTests
{
    private const string Unnamed = """{"actor":{"type":"Account","id":"alice"},"method":"M"}""";
    private const string Transfer = """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","access":{"Account":["alice","bob"]},"id":"order-1"}""";

    [Fact]
    public async Task A_committed_transaction_answers_200_with_its_envelope()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        var answer = await host.Post(Transfer);

        Assert.Equal(200, answer.Status);
        Assert.Equal("application/json", answer.MediaType);
        Assert.Equal(
            """{"id":"order-1","outcome":"committed","mode":"pact","transaction":9137,"batch":9120,"attempts":1,"result":{"left":90}}""",
            answer.Text);
    }

    [Theory]
    [InlineData("{", "readable JSON")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":17}""", "method must be a string")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","access":{"Account":["bob"]}}""", "must contain the root")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","access":{"Account":{"alice":0}}}""", "whole number of calls")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","id":""}""", "id")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","timeoutMs":0}""", "timeoutMs")]
    [InlineData("""{"actor":{"type":"Account","id":"alice"},"method":"Transfer","timeoutMs":300001}""", "timeoutMs")]
    public async Task A_malformed_request_answers_400_and_is_not_executed(string body, string names)
    {
        var door = new FakeTransactionService();
        await using var host = await ApiHost.Start(door);

        var answer = await host.Post(body);

        AssertProblem(answer, 400, "rejected");
        Assert.Contains(names, answer.String("detail"), StringComparison.Ordinal);
        Assert.Equal(0, door.Submitted);
    }

    [Theory]
    [InlineData(RejectionKind.Invalid, 400)]
    [InlineData(RejectionKind.NotFound, 404)]
    [InlineData(RejectionKind.IdConflict, 409)]
    [InlineData(RejectionKind.TooLarge, 413)]
    [InlineData(RejectionKind.TooMany, 422)]
    public async Task What_the_worker_rejects_answers_the_status_of_its_kind(RejectionKind kind, int status)
    {
        await using var host = await ApiHost.Start(FakeTransactionService.Rejecting(kind));

        var answer = await host.Post(Transfer);

        AssertProblem(answer, status, "rejected");
        Assert.Equal("order-1", answer.String("id"));
        Assert.Equal("because", answer.String("detail"));
        Assert.Null(answer.RetryAfter);
    }

    [Theory]
    [InlineData(RejectionKind.Overloaded, 429, 2_500, "3")]
    [InlineData(RejectionKind.Overloaded, 429, null, "1")]
    [InlineData(RejectionKind.Unavailable, 503, 10, "1")]
    [InlineData(RejectionKind.Full, 503, 10_000, "10")]
    [InlineData(RejectionKind.Unavailable, 503, null, "1")]
    public async Task What_passes_with_time_says_when_to_come_back(RejectionKind kind, int status, int? retryAfterMs, string header)
    {
        TimeSpan? retryAfter = retryAfterMs is { } ms ? TimeSpan.FromMilliseconds(ms) : null;
        await using var host = await ApiHost.Start(FakeTransactionService.Rejecting(kind, retryAfter));

        var answer = await host.Post(Transfer);

        AssertProblem(answer, status, "rejected");
        Assert.Equal(header, answer.RetryAfter);
        Assert.Equal(retryAfterMs ?? 1_000, answer.Json.GetProperty("retryAfterMs").GetInt32());
    }

    [Theory]
    [InlineData(AbortReason.Application, "application")]
    [InlineData(AbortReason.Conflict, "conflict")]
    [InlineData(AbortReason.Deadlock, "deadlock")]
    [InlineData(AbortReason.Serializability, "serializability")]
    [InlineData(AbortReason.Undeclared, "undeclared")]
    [InlineData(AbortReason.Timeout, "timeout")]
    [InlineData(AbortReason.Migration, "migration")]
    [InlineData(AbortReason.Cancelled, "cancelled")]
    [InlineData(AbortReason.Failure, "failure")]
    public async Task An_aborted_transaction_answers_409_and_says_whether_to_try_again(AbortReason reason, string name)
    {
        var retryable = reason == AbortReason.Failure;
        await using var host = await ApiHost.Start(FakeTransactionService.Aborting(reason, retryable));

        var answer = await host.Post(Transfer);

        AssertProblem(answer, 409, "aborted");
        var abort = answer.Json.GetProperty("abort");
        Assert.Equal(name, abort.GetProperty("reason").GetString());
        Assert.Equal(retryable, abort.GetProperty("retryable").GetBoolean());
        Assert.Equal("bob", abort.GetProperty("actor").GetProperty("id").GetString());
    }

    [Fact]
    public async Task An_abort_by_overload_answers_429_with_retry_after()
    {
        await using var host = await ApiHost.Start(FakeTransactionService.Aborting(AbortReason.Overloaded, retryable: true));

        var answer = await host.Post(Transfer);

        AssertProblem(answer, 429, "aborted");
        Assert.Equal("1", answer.RetryAfter);
    }

    [Theory]
    [InlineData(Outcome.InDoubt, "inDoubt")]
    [InlineData(Outcome.Running, "running")]
    public async Task An_outcome_that_is_not_known_yet_answers_504(Outcome outcome, string name)
    {
        await using var host = await ApiHost.Start(FakeTransactionService.Answering(request =>
            new TransactionEnvelope { Id = request.Id!, Outcome = outcome, Mode = request.Mode }));

        var answer = await host.Post(Transfer);

        AssertProblem(answer, 504, name);
        Assert.Equal("order-1", answer.String("id"));
    }

    [Fact]
    public async Task A_transaction_over_the_body_limit_answers_413()
    {
        var door = new FakeTransactionService();
        await using var host = await ApiHost.Start(door);

        var answer = await host.Post($$"""{"actor":{"type":"Account","id":"alice"},"method":"M","input":"{{new string('x', 1024 * 1024)}}"}""");

        AssertProblem(answer, 413, "rejected");
        Assert.Equal(0, door.Submitted);
    }

    [Fact]
    public async Task The_body_limit_is_configurable()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), options: new ApiOptions { TransactionBodyBytesMax = Transfer.Length });

        Assert.Equal(200, (await host.Post(Transfer)).Status);
        Assert.Equal(413, (await host.Post(Transfer + " ")).Status);
    }

    [Fact]
    public async Task An_access_set_of_257_actors_answers_422_and_one_of_256_is_accepted()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService());

        AssertProblem(await host.Post(WithActors(257)), 422, "rejected");
        Assert.Equal(200, (await host.Post(WithActors(256))).Status);
    }

    [Fact]
    public async Task While_the_worker_starts_requests_answer_503_and_are_not_executed()
    {
        var behind = new FakeTransactionService();
        var door = new LifecycleGate();
        await using var host = await ApiHost.Start(door);

        var starting = await host.Post(Unnamed);
        var find = await host.Get("/v1/transactions/order-1");
        door.Open(behind);
        var open = await host.Post(Unnamed);

        AssertProblem(starting, 503, "rejected");
        Assert.Contains("starting", starting.String("detail"), StringComparison.Ordinal);
        Assert.Equal("1", starting.RetryAfter);
        AssertProblem(find, 503, "rejected");
        Assert.Equal(200, open.Status);
        Assert.Equal(1, behind.Submitted);
    }

    /// <summary>The worker may have run it before it was started again.</summary>
    [Fact]
    public async Task While_the_worker_starts_an_id_is_in_doubt()
    {
        await using var host = await ApiHost.Start(new LifecycleGate());

        var starting = await host.Post(Transfer);
        var batch = await host.Post($"{{\"transactions\":[{Transfer}]}}");

        AssertProblem(starting, 504, "inDoubt");
        Assert.Contains("starting", starting.String("detail"), StringComparison.Ordinal);
        var answer = batch.Json.GetProperty("results")[0];
        Assert.Equal("inDoubt", answer.GetProperty("outcome").GetString());
    }

    [Fact]
    public async Task A_refused_request_without_an_id_has_none_in_its_answer()
    {
        await using var host = await ApiHost.Start(new LifecycleGate());

        var answer = await host.Post(Unnamed);

        Assert.Equal(System.Text.Json.JsonValueKind.Null, answer.Json.GetProperty("id").ValueKind);
    }

    [Fact]
    public async Task A_door_that_throws_answers_500_and_the_next_request_is_served()
    {
        var door = new FakeTransactionService { OnSubmit = (_, _) => throw new InvalidOperationException("a bug") };
        await using var host = await ApiHost.Start(door);

        var answer = await host.Post(Transfer);
        door.OnSubmit = (request, _) => Task.FromResult(FakeTransactionService.Committed(request));

        Assert.Equal(500, answer.Status);
        Assert.Equal("application/problem+json", answer.MediaType);
        Assert.DoesNotContain("a bug", answer.Text, StringComparison.Ordinal);
        Assert.Equal(200, (await host.Post(Transfer)).Status);
    }

    internal static string WithActors(int count)
    {
        var body = new StringBuilder("""{"actor":{"type":"Account","id":"a0"},"method":"M","access":{"Account":[""");
        for (var i = 0; i < count; i++)
        {
            body.Append(i == 0 ? "" : ",").Append("\"a").Append(i).Append('"');
        }

        return body.Append("]}}").ToString();
    }

    internal static void AssertProblem(Answer answer, int status, string outcome)
    {
        Assert.True(status == answer.Status, $"Expected {status}, got {answer.Status}: {answer.Text}");
        Assert.Equal("application/problem+json", answer.MediaType);
        Assert.Equal(status, answer.Json.GetProperty("status").GetInt32());
        Assert.StartsWith("urn:snapper:", answer.String("type"), StringComparison.Ordinal);
        Assert.NotEmpty(answer.String("title"));
        Assert.NotEmpty(answer.String("detail"));
        Assert.Equal(outcome, answer.String("outcome"));
        Assert.True(answer.Json.TryGetProperty("id", out _));
    }
}
