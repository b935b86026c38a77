using System.Diagnostics;
using System.Globalization;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>
/// Pages that are left open, with everything on them changing all the time, keep server and browser flat. Three at once for
/// twenty seconds; <c>SNAPPER_SOAK_MINUTES=30</c> makes it as long as wanted.
/// </summary>
[Trait("Lane", "nightly")]
public sealed class SoakTests(Chromium chromium) : IClassFixture<Chromium>
{
    private const int Rows = 200;
    private const double Slack = 1.25;
    private const double SlackBytes = 6 * 1024 * 1024;

    [Fact]
    public async Task Pages_left_open_keep_server_and_browser_flat()
    {
        var length = Environment.GetEnvironmentVariable("SNAPPER_SOAK_MINUTES") is { Length: > 0 } minutes
            ? TimeSpan.FromMinutes(double.Parse(minutes, CultureInfo.InvariantCulture))
            : TimeSpan.FromSeconds(20);
        await using var telling = await Busy(EventsOf.Views);
        await using var asked = await Busy(EventsOf.Nothing);
        await using var byStream = await RunningDashboard.Start(telling.Url);
        await using var byRequest = await RunningDashboard.Start(asked.Url);
        await using var overview = await chromium.Open(byStream.Url);
        await using var actor = await chromium.Open(byStream.Url);
        await using var older = await chromium.Open(byRequest.Url);
        (string Page, Visit Visit, ScriptedWorker Worker)[] open =
        [
            ("/", overview, telling), ("/actor?type=Account&id=hot", actor, telling), ("/", older, asked),
        ];
        foreach (var one in open) await one.Visit.Go(one.Page);
        await Task.Delay(length / 3);
        var before = await Measure();
        await Task.Delay(length * 2 / 3);
        var after = await Measure();
        Assert.True(after.Server < (before.Server * Slack) + SlackBytes, $"server: {before.Server} then {after.Server}");
        for (var i = 0; i < open.Length; i++)
        {
            var (from, to, page) = (before.Pages[i], after.Pages[i], $"{open[i].Page} of {open[i].Worker.Events}");
            Assert.True(to.Heard > from.Heard, $"{page} hears nothing any more");
            Assert.True(to.Browser < (from.Browser * Slack) + SlackBytes, $"browser with {page}: {from} then {to}");
            Assert.True(to.Elements < (from.Elements * Slack) + 200, $"elements of {page}: {from} then {to}");
        }

        async Task<(double Server, (double Browser, double Elements, long Heard)[] Pages)> Measure()
        {
            var pages = new List<(double, double, long)>();
            foreach (var (_, visit, worker) in open) pages.Add(await Look(visit, worker));
            return (GC.GetTotalMemory(forceFullCollection: true), [.. pages]);
        }
    }

    private static async Task<(double Browser, double Elements, long Heard)> Look(Visit visit, ScriptedWorker worker)
    {
        var browser = await visit.Page.Context.NewCDPSessionAsync(visit.Page);
        await browser.SendAsync("HeapProfiler.collectGarbage");
        await browser.DetachAsync();
        var heap = await visit.Page.EvaluateAsync<double>("performance.memory.usedJSHeapSize");
        var elements = await visit.Page.EvaluateAsync<double>("document.querySelectorAll('*').length");
        return (heap, elements, worker.Asked.Count + worker.Looks);
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
