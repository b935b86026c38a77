using System.Text;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>The header <c>Idempotency-Key</c> is the request's id.</summary>
public sealed class IdempotencyKeyTests
{
    private const string Bare = """{"actor":{"type":"Account","id":"alice"},"method":"M"}""";
    private const string WithId = """{"actor":{"type":"Account","id":"alice"},"method":"M","id":"order-1"}""";
    private const string Batch = $$"""{"transactions":[{{WithId}}]}""";

    [Theory]
    [InlineData(Bare, "order-1")]
    [InlineData(Bare, "\"order-1\"")]
    [InlineData(WithId, "order-1")]
    public async Task It_is_the_id_bare_or_in_quotes(string body, string key)
    {
        var (status, answer, seen) = await Post(body, key);
        Assert.Equal((200, "order-1"), (status, Assert.Single(seen)));
        Assert.Equal("order-1", answer.String("id"));
    }

    [Theory]
    [InlineData(WithId, "order-2", "Idempotency-Key and the field \"id\" differ")]
    [InlineData(Batch, "order-1", "each of a batch has a field \"id\" of its own")]
    [InlineData(Bare, "\"\"", "has 1 to 128 printable characters, once")]
    public async Task What_is_no_id_or_another_one_is_refused_and_nothing_runs(string body, string key, string why)
    {
        var (status, answer, seen) = await Post(body, key);
        Assert.Equal(400, status);
        Assert.Contains(why, answer.String("detail"), StringComparison.Ordinal);
        Assert.Equal("rejected", answer.String("outcome"));
        Assert.Empty(seen);
    }

    [Fact]
    public async Task One_that_is_too_long_is_refused()
    {
        var (status, _, seen) = await Post(Bare, new string('x', 129));
        Assert.Equal(400, status);
        Assert.Empty(seen);
    }

    private static async Task<(int Status, Answer Answer, List<string?> Seen)> Post(string body, string key)
    {
        var seen = new List<string?>();
        var door = new FakeTransactionService
        {
            OnSubmit = (request, _) =>
            {
                seen.Add(request.Id);
                return Task.FromResult(FakeTransactionService.Committed(request));
            },
        };
        await using var host = await ApiHost.Start(door);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/v1/transactions")
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json"),
        };
        request.Headers.TryAddWithoutValidation("Idempotency-Key", key);
        using var response = await host.Client.SendAsync(request);
        return ((int)response.StatusCode, await Answer.Of(response), seen);
    }
}
