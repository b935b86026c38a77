using System.Diagnostics;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Telemetry;

/// <summary>What two workers behind real sidecars tell a collector.</summary>
public sealed class TelemetryTests
{
    private const string Trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    private const string Caller = "00f067aa0ba902b7";

    [SystemFact]
    public async Task A_transaction_over_two_workers_is_one_trace_below_its_callers_span()
    {
        using var collector = new FakeCollector();
        var options = UpOptions.Random(embedded: false, 1, 2, 10, 11) with
        {
            More = ["--workers", "2"],
            Environment = new Dictionary<string, string>
            {
                ["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.Url,
                ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf",
                ["OTEL_BSP_SCHEDULE_DELAY"] = "200",
                ["OTEL_METRIC_EXPORT_INTERVAL"] = "500",
                ["OTEL_TRACES_SAMPLER_ARG"] = "0",
            },
        };
        List<string> clients;
        await using (var up = await SnapperProcess.Start(options))
        {
            using var http = new HttpClient();
            var worker = up.Worker.Url;
            var (here, there) = await OnBothWorkers(http, worker);
            Assert.Equal("committed", await Transfer(http, up.Worker.Sidecar, here, there, "pact", sampled: true));
            Assert.Equal("committed", await Transfer(http, up.Worker.Sidecar, here, there, "act", sampled: true));
            Assert.Equal("committed", await Transfer(http, up.Worker.Sidecar, here, there, "pact", sampled: false));
            clients = await ByTypedClient(up.Worker.Sidecar, here, there);

            await Until(collector, () => Of(collector, "transaction").Count == 2 + clients.Count
                && Of(collector, "branch").Count >= 2
                && Documented().All(one => collector.Metrics.ContainsKey(one.Name)));
            await up.Stop();
        }

        Assert.Empty(collector.Problems);
        Assert.All(collector.Spans, span => Assert.Equal((Trace, "snapper"), (span.TraceId, span.Service)));
        var roots = Of(collector, "transaction");
        // The caller that was not sampled decided for its transaction, too.
        Assert.Equal(new[] { Caller, Caller }.Concat(clients).Order(StringComparer.Ordinal),
            roots.Select(root => root.ParentId).Order(StringComparer.Ordinal));
        foreach (var root in roots)
        {
            Assert.Equal("transaction Account.Transfer", root.Name);
            Assert.Equal("committed", root.Tags["snapper.transaction.outcome"]);
            var below = collector.Spans.Where(span => span.ParentId == root.SpanId && span.Instance == root.Instance).ToArray();
            Assert.Equal(["commit", "execute", "wait"], below.Where(span => span.Tags.ContainsKey("snapper.phase")).Select(span => span.Name).Order());
            var call = Assert.Single(below, span => span.Name == "call Account.Transfer");
            Assert.Contains(collector.Spans, span => span.ParentId == call.SpanId && span.Name.StartsWith("call Account.", StringComparison.Ordinal));
        }

        Assert.Equal(["act", "act", "act", "act", "pact"],
            roots.Select(root => root.Tags["snapper.transaction.mode"]).Order());
        Assert.All(Of(collector, "branch"), branch => Assert.DoesNotContain(roots, root => root.Instance == branch.Instance && root.Tags["snapper.request.id"] == branch.Tags["snapper.request.id"]));
        Assert.Equal("s", collector.Metrics["snapper.transaction.duration"]);
        foreach (var (name, unit) in Documented())
        {
            Assert.Equal((name, unit), (name, collector.Metrics[name]));
        }

        Directory.Delete(options.Data, recursive: true);
    }

    /// <summary>Metrics that the table in docs/telemetry.md has by OTLP.</summary>
    private static IEnumerable<(string Name, string Unit)> Documented()
    {
        foreach (var line in File.ReadLines(Path.Combine(Repository.Root, "docs", "telemetry.md")))
        {
            var cells = line.Split('|', StringSplitOptions.TrimEntries);
            if (cells.Length > 5 && cells[2].StartsWith("`snapper.", StringComparison.Ordinal))
            {
                yield return (cells[2].Trim('`'), cells[4].Trim('`'));
            }
        }
    }

    private static List<ReceivedSpan> Of(FakeCollector collector, string verb) => [.. collector.Spans.Where(span => span.Name.StartsWith(verb + " ", StringComparison.Ordinal))];

    private static async Task<(string Here, string There)> OnBothWorkers(HttpClient http, Uri worker)
    {
        var found = new Dictionary<string, string>();
        for (var i = 0; found.Count < 2; i++)
        {
            using var answer = JsonDocument.Parse(await http.GetStringAsync(new Uri(worker, $"v1/directory?actor=Account/told-{i}")));
            found.TryAdd(answer.RootElement.GetProperty("worker").GetString()!, $"told-{i}");
        }

        return (found["w1"], found["w2"]);
    }

    private static async Task<string?> Transfer(HttpClient http, Uri sidecar, string from, string to, string mode, bool sampled)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(sidecar, "v1.0/invoke/snapper/method/v1/transactions"));
        request.Headers.Add("traceparent", $"00-{Trace}-{Caller}-0{(sampled ? 1 : 0)}");
        var access = mode == "pact" ? $$""","access":{"Account":["{{from}}","{{to}}"]}""" : string.Empty;
        request.Content = new StringContent($$"""{"actor":{"type":"Account","id":"{{from}}"},"method":"Transfer","mode":"{{mode}}","input":{"to":"{{to}}","amount":1}{{access}}}""", Encoding.UTF8);
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        using var response = await http.SendAsync(request);
        using var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return answer.RootElement.GetProperty("outcome").GetString();
    }

    /// <summary>
    /// Three transactions at once that share a request, each below a span of its own; their spans' ids.
    /// </summary>
    private static async Task<List<string>> ByTypedClient(Uri sidecar, string from, string to)
    {
        var spans = new List<string>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == Client.SnapperClient.ActivitySourceName,
            Sample = static (ref ActivityCreationOptions<ActivityContext> it) => it.Parent.TraceId.ToString() == Trace
                ? ActivitySamplingResult.AllDataAndRecorded
                : ActivitySamplingResult.None,
            ActivityStarted = span =>
            {
                lock (spans) spans.Add(span.SpanId.ToString());
            },
        };
        ActivitySource.AddActivityListener(listener);
        await using var snapper = new Client.SnapperClient(
            new Client.SnapperClientOptions { Sidecar = sidecar, MaxConcurrentRequests = 1 });
        using var caller = new Activity("caller");
        caller.SetParentId(
            ActivityTraceId.CreateFromString(Trace), ActivitySpanId.CreateFromString(Caller),
                ActivityTraceFlags.Recorded);
        caller.Start();
        await Task.WhenAll(Enumerable.Range(0, 3).Select(_ =>
            snapper.Actor<IAccount>(from).Act(account => account.Transfer(new(to, 1)))));
        spans.Sort(StringComparer.Ordinal);
        return spans;
    }

    private static async Task Until(FakeCollector collector, Func<bool> reached)
    {
        for (var i = 0; i < 600; i++)
        {
            if (reached())
            {
                return;
            }

            await Task.Delay(50);
        }

        Assert.Fail($"Received: {string.Join(", ", collector.Spans.Select(span => $"{span.Instance}: {span.Name}"))}; {string.Join(", ", collector.Metrics.Keys)}");
    }
}
