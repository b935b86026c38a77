using System.Diagnostics;
using System.Globalization;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>
/// A page that is left open, with everything on it changing all the time, keeps server and browser flat. Twenty seconds each; <c>SNAPPER_SOAK_MINUTES=30</c> makes it as long as wanted.
/// </summary>
public sealed class SoakTests(Chromium chromium) : IClassFixture<Chromium>
{
    private const int Rows = 200;
    private const double Slack = 1.25;
    private const double SlackBytes = 6 * 1024 * 1024;

    [Theory]
    [InlineData("/", true)]
    [InlineData("/", false)]
    [InlineData("/actor?type=Account&id=hot", true)]
    public async Task A_page_left_open_keeps_server_and_browser_flat(string page, bool isTold)
    {
        var length = Environment.GetEnvironmentVariable("SNAPPER_SOAK_MINUTES") is { Length: > 0 } minutes ? TimeSpan.FromMinutes(double.Parse(minutes, CultureInfo.InvariantCulture)) : TimeSpan.FromSeconds(20);
        await using var worker = await Busy(isTold ? EventsOf.Views : EventsOf.Nothing);
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        var browser = await visit.Page.Context.NewCDPSessionAsync(visit.Page);
        await visit.Go(page);
        await Task.Delay(length / 3);
        var before = await Measure(visit, browser, worker);
        await Task.Delay(length * 2 / 3);
        var after = await Measure(visit, browser, worker);
        Assert.True(after.Asked > before.Asked, "the page went on hearing");
        Assert.True(after.Server < (before.Server * Slack) + SlackBytes, $"server: {before} then {after}");
        Assert.True(after.Browser < (before.Browser * Slack) + SlackBytes, $"browser: {before} then {after}");
        Assert.True(after.Elements < (before.Elements * Slack) + 200, $"elements: {before} then {after}");
    }

    private static async Task<(double Server, double Browser, double Elements, long Asked)> Measure(Visit visit, Microsoft.Playwright.ICDPSession browser, ScriptedWorker worker)
    {
        await browser.SendAsync("HeapProfiler.collectGarbage");
        var heap = await visit.Page.EvaluateAsync<double>("performance.memory.usedJSHeapSize");
        var elements = await visit.Page.EvaluateAsync<double>("document.querySelectorAll('*').length");
        return (GC.GetTotalMemory(forceFullCollection: true), heap, elements, worker.Asked.Count + worker.Looks);
    }

    /// <summary>A worker whose every answer is long, and different each time.</summary>
    private static async Task<ScriptedWorker> Busy(EventsOf events)
    {
        var worker = await ScriptedWorker.Start(events: events);
        var n = 0L;
        long Next() => Interlocked.Add(ref n, Rows);
        double Now() => (DateTimeOffset.UtcNow - DateTimeOffset.UnixEpoch).TotalMilliseconds;
        var began = Stopwatch.GetTimestamp();
        worker.On("/v1/status", () =>
        {
            var count = Next();
            var latency = new { count, p50Ms = 1.5 + (count % 7), p90Ms = 3.0, p99Ms = 9.0 + (count % 5), p999Ms = 12.0, maxMs = 20.0 };
            return new
            {
                worker = "w1", pid = 1, epoch = 1, uptimeMs = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds, committed = count, committedPact = count / 2, committedAct = count / 2, aborted = count / 10,
                abortsByReason = new Dictionary<string, long> { ["application"] = count / 20, ["conflict"] = count / 30 }, repeatsByReason = new Dictionary<string, long> { ["conflict"] = count / 9 },
                inFlight = count % 13, latency = new { pact = latency, act = latency },
            };
        });
        worker.On("/v1/hot", () => new { worker = "w1", nowAtMs = Now(), watchedSinceAtMs = Now() - 9000, sampledOneIn = 1, actors = Rowed(i => new { actor = $"Account/a{Next() + i}", transactions = 100 - (i % 100), waitingMs = 1.5, executingMs = 2.5, conflicts = i % 3, perSecond = new long[60] }) });
        worker.On("/v1/aborts", () => new { aborts = Rowed(i => new { atMs = Now() - i, id = $"r{Next() + i}", transaction = Next() + i, mode = "act", root = "Account/hot", method = "Transfer", reason = "conflict", message = "locked", repeated = true, actors = new[] { "Account/hot" }, blocker = i, floor = 0, ceil = 0 }) });
        worker.On("/v1/actor-types", () => new { types = new[] { new { type = "Account", methods = Array.Empty<object>() } } });
        worker.On("/v1/actors/Account/hot", () => new { type = "Account", id = "hot", state = new { checking = Next() }, version = Next(), lastBatch = Next(), worker = "w1", resident = true });
        worker.On("/v1/actors/Account/hot/schedule", () => new { type = "Account", id = "hot", entries = Rowed(i => new { kind = "pact", transaction = Next() + i, batch = Next(), state = "waiting", calls = 0, declared = 1, ahead = 0, behind = 0 }) });
        worker.On("/v1/actors/Account/hot/timeline", () => new
        {
            type = "Account", id = "hot", worker = "w1", nowAtMs = Now(), watchedSinceAtMs = Now() - 9000, dropped = Next(),
            entries = Rowed(i => new { transaction = Next() + i, batch = Next() + (i / 10), mode = "pact", request = $"r{Next()}", root = "Account/hot", method = "Transfer", arrivedAtMs = Now() - 3000 + i, startedAtMs = Now() - 2990 + i, executedAtMs = Now() - 2980 + i, endedAtMs = Now() - 2900 + i, outcome = "committed", calls = 1, declared = 1 }),
        });
        return worker;
    }

    private static object[] Rowed(Func<int, object> row) => [.. Enumerable.Range(0, Rows).Select(row)];
}
