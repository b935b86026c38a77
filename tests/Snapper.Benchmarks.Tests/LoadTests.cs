using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class LoadTests
{
    private const string Item = """{"actor":{"id":"{0}"},"to":["{1}","{2}","{3}"],"access":{"Account":{"{0}":1,"{3}":1}}}""";
    private const string Committed = """{"id":"x","outcome":"committed","mode":"pact","result":1}""";

    private static readonly RunTimes Short = new(TimeSpan.FromMilliseconds(100), TimeSpan.FromMilliseconds(300));
    private static readonly Uri Nowhere = new("http://127.0.0.1:9");

    [Fact]
    public void A_request_carries_the_accounts_in_path_and_body_and_keeps_its_length()
    {
        var template = RequestTemplate.Single("PUT", Nowhere, "/actors/{0}/m", "X-A: b\r\n", Item, 4);
        var buffer = template.NewBuffer();
        template.Fill(buffer, [1, 22, 333, 999_999]);
        var text = Encoding.ASCII.GetString(buffer);
        Assert.StartsWith("PUT /actors/c000001/m HTTP/1.1\r\nHost: 127.0.0.1:9\r\nContent-Type: application/json\r\nX-A: b\r\nContent-Length: ", text, StringComparison.Ordinal);
        var body = text[(text.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..];
        Assert.Equal("""{"actor":{"id":"c000001"},"to":["c000022","c000333","c999999"],"access":{"Account":{"c000001":1,"c999999":1}}}""", body);
        Assert.Contains($"Content-Length: {body.Length}\r\n", text, StringComparison.Ordinal);

        template.Fill(buffer, [7, 8, 9, 10]);
        Assert.Equal(text.Length, buffer.Length);
        Assert.Contains("c000010", Encoding.ASCII.GetString(buffer), StringComparison.Ordinal);
        Assert.DoesNotContain("c000001", Encoding.ASCII.GetString(buffer), StringComparison.Ordinal);
    }

    [Fact]
    public void A_batch_gives_each_transaction_its_own_accounts()
    {
        var template = RequestTemplate.Batch(Nowhere, "/v1/transactions", "", Item, 3, 4);
        var buffer = template.NewBuffer();
        template.Fill(buffer, Enumerable.Range(0, 12).ToArray());
        var text = Encoding.ASCII.GetString(buffer);
        using var json = JsonDocument.Parse(text[(text.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]);
        var roots = json.RootElement.GetProperty("transactions").EnumerateArray().Select(each => each.GetProperty("actor").GetProperty("id").GetString());
        Assert.Equal(["c000000", "c000004", "c000008"], roots);
        Assert.Throws<ArgumentException>(() => RequestTemplate.Batch(Nowhere, "/", "", Item, 1, 2));
    }

    [Fact]
    public void A_transfer_has_four_different_accounts_and_any_of_them_pays()
    {
        var chooser = new TransferChooser(new ZipfSampler(5, 1.5), 4);
        var random = new FastRandom(1);
        var hotPays = 0;
        var hotIsIn = 0;
        var accounts = new int[4];
        for (var i = 0; i < 20_000; i++)
        {
            chooser.Draw(ref random, accounts);
            Assert.Equal(4, accounts.Distinct().Count());
            hotPays += accounts[0] == 0 ? 1 : 0;
            hotIsIn += accounts.Contains(0) ? 1 : 0;
        }

        // Otherwise the hot account would run dry and the load turn into refusals.
        Assert.InRange((double)hotPays / hotIsIn, 0.24, 0.26);
        Assert.Throws<ArgumentException>(() => new TransferChooser(new ZipfSampler(3, 0), 4));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(4000)]
    public async Task Answers_in_chunks_are_put_together(int size)
    {
        var body = string.Concat(Enumerable.Repeat(Committed, 50));
        await using var server = new TestHttpServer(_ =>
        {
            var text = new StringBuilder("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            foreach (var chunk in body.Chunk(size))
            {
                text.Append($"{chunk.Length:x}\r\n").Append(chunk).Append("\r\n");
            }

            return text.Append("0\r\n\r\n").ToString();
        });
        using var connection = await HttpConnection.OpenAsync(server.Address);
        for (var i = 0; i < 3; i++)
        {
            var answer = await connection.ExchangeAsync("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"u8.ToArray());
            Assert.Equal(200, answer.Status);
            Assert.Equal(body, Encoding.UTF8.GetString(answer.Body.Span));
        }
    }

    [Fact]
    public async Task A_run_counts_what_committed_and_how_long_it_took()
    {
        var bodies = new ConcurrentBag<string>();
        await using var server = new TestHttpServer(request =>
        {
            bodies.Add(request);
            return TestHttpServer.Json(200, Committed);
        });
        var run = await RunAsync(server, new EnvelopeAnswers());
        Assert.Null(run.Void);
        Assert.True(run.Committed > 0);
        Assert.Equal(run.Committed, run.Attempts);
        Assert.True(bodies.Count >= run.Committed);
        Assert.InRange(run.Seconds, 0.29, 5);
        Assert.True(run.P50 > 0 && run.P99 >= run.P50 && run.Max >= run.P99);
        Assert.Equal([CpuMeter.Generator], run.Cpu.Select(share => share.Role));
        Assert.True(run.CpuPerTransaction > 0);
    }

    [Theory]
    [InlineData(500, "boom")]
    [InlineData(503, """{"outcome":"rejected"}""")]
    [InlineData(200, """{"id":"x","outcome":"inDoubt"}""")]
    [InlineData(200, """{"id":"x","outcome":"rejected","problem":{"status":404}}""")]
    public async Task A_fast_run_with_wrong_answers_is_void(int status, string body)
    {
        var asked = 0;
        await using var server = new TestHttpServer(
            _ => Interlocked.Increment(ref asked) % 100 == 50 ? TestHttpServer.Json(status, body) : TestHttpServer.Json(200, Committed));
        var run = await RunAsync(server, new EnvelopeAnswers());
        Assert.True(run.Committed > 0);
        Assert.NotNull(run.Void);
        Assert.Contains($"HTTP {status}", run.Void, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_connection_that_breaks_makes_the_run_void_and_the_load_goes_on()
    {
        var asked = 0;
        await using var server = new TestHttpServer(_ => Interlocked.Increment(ref asked) == 20 ? "HTTP/1.1 200 OK\r\nConnection: close\r\n" : TestHttpServer.Json(200, Committed));
        var run = await RunAsync(server, new EnvelopeAnswers());
        Assert.True(run.Committed > 20);
        Assert.Contains("closed the connection", run.Void, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_system_that_is_not_there_is_void_and_not_zero_per_second()
    {
        var workload = new HttpWorkload(new Uri($"http://127.0.0.1:{Systems.Ports.Free()}"), Template(Nowhere), Chooser(), new EnvelopeAnswers());
        var run = await ClosedLoop.RunAsync([new HttpPipeline(workload, 1)], Short, []);
        Assert.NotNull(run.Void);
        Assert.Equal(0, run.Committed);
    }

    [Fact]
    public async Task Aborts_are_counted_by_reason_and_are_no_errors_where_they_are_allowed()
    {
        const string Aborted = """{"id":"x","outcome":"aborted","abort":{"reason":"conflict","message":"m","retryable":true}}""";
        var asked = 0;
        await using var server = new TestHttpServer(
            _ => Interlocked.Increment(ref asked) % 3 == 0 ? TestHttpServer.Json(409, Aborted) : TestHttpServer.Json(200, Committed));
        var run = await RunAsync(server, new EnvelopeAnswers());
        Assert.Null(run.Void);
        Assert.Equal(["conflict"], run.Aborts.Keys);
        Assert.Equal(run.Attempts, run.Committed + run.Aborts["conflict"]);
        Assert.Contains("conflict", run.WithoutAborts().Void, StringComparison.Ordinal);
    }

    [Fact]
    public void A_batch_is_counted_by_its_envelopes_and_a_missing_one_is_an_error()
    {
        const string Aborted = """{"outcome":"aborted","abort":{"reason":"timeout"}}""";
        var tally = new Tally();
        new EnvelopeAnswers().Read(Answer(200, $$"""{"results":[{{Committed}},{{Aborted}},{{Committed}}]}"""), 3, tally);
        Assert.Equal(2, tally.Committed);
        Assert.Equal(1, tally.Aborts["timeout"]);
        Assert.Empty(tally.Errors);

        new EnvelopeAnswers().Read(Answer(200, $$"""{"results":[{{Committed}}]}"""), 3, tally);
        Assert.Equal(2, tally.Errors.Values.Sum());
    }

    [Fact]
    public void Plain_answers_need_status_200_and_their_mark()
    {
        var tally = new Tally();
        var reader = new MarkedAnswers("\"balance\":");
        reader.Read(Answer(200, """{"balance":3}"""), 1, tally);
        Assert.Equal(1, tally.Committed);
        reader.Read(Answer(200, """{"error":"insufficient funds"}"""), 1, tally);
        reader.Read(Answer(500, """{"balance":3}"""), 1, tally);
        Assert.Equal(2, tally.Errors.Values.Sum());
    }

    [Fact]
    public async Task Loading_by_count_sends_exactly_that_many_requests()
    {
        var asked = 0;
        await using var server = new TestHttpServer(_ =>
        {
            Interlocked.Increment(ref asked);
            return TestHttpServer.Json(200, Committed);
        });
        var tally = await ClosedLoop.RunCountAsync(Pipelines(server, new EnvelopeAnswers()), 1, 100);
        Assert.Equal(100, asked);
        Assert.Equal(100, tally.Committed);
    }

    private static Task<RunResult> RunAsync(TestHttpServer server, IAnswerReader reader) => ClosedLoop.RunAsync(Pipelines(server, reader), Short, []);

    private static IPipeline[] Pipelines(TestHttpServer server, IAnswerReader reader)
    {
        var workload = new HttpWorkload(server.Address, Template(server.Address), Chooser(), reader);
        return [new HttpPipeline(workload, 1), new HttpPipeline(workload, 2), new HttpPipeline(workload, 3)];
    }

    private static RequestTemplate Template(Uri target) => RequestTemplate.Single("POST", target, "/v1/transactions", "", Item, 4);

    private static TransferChooser Chooser() => new(new ZipfSampler(100, 0), 4);

    private static HttpAnswer Answer(int status, string body) => new(status, Encoding.UTF8.GetBytes(body));
}
