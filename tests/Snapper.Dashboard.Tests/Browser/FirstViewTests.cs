using System.Diagnostics;
using System.Globalization;
using Snapper.Dashboard.Tests.Fakes;
using Xunit.Abstractions;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>
/// How long somebody waits who has never been there: each visit is a browser window that knows nothing yet, and ends when the page shows figures of the running system and draws by itself. The times are told, not judged:
/// they are those of this machine. <c>SNAPPER_FIRST_VIEW=http://127.0.0.1:8080</c> names a dashboard that is up, with whatever load it has, and visits each page five times; without it one page of
/// a dashboard of its own is visited once.
/// </summary>
public sealed class FirstViewTests(Chromium chromium, ITestOutputHelper output) : IClassFixture<Chromium>
{
    private const int Visits = 5;

    private static readonly (string Page, string Figures)[] s_pages =
    [
        ("/", "main table tbody tr >> nth=0"),
        ("/hot", ".heat .cells >> nth=0"),
        ("/batches", "main table tbody tr >> nth=0"),
        ("/transactions", "main table tbody tr >> nth=0"),
        ("/aborts", "main table tbody tr >> nth=0"),
        ("/ring", ".ringpic >> nth=0"),
        ("/workers", "main table tbody tr >> nth=0"),
        ("/health", "main table tbody tr >> nth=0"),
    ];

    [Fact]
    public async Task Who_has_never_been_there_sees_figures()
    {
        if (Environment.GetEnvironmentVariable("SNAPPER_FIRST_VIEW") is { Length: > 0 } named)
        {
            // The browser runs already when somebody comes.
            await using (var own = await chromium.Open(named)) await own.Page.GotoAsync("/healthz");
            for (var visit = 0; visit < Visits; visit++)
            {
                foreach (var (page, figures) in s_pages) await See(named, page, figures);
            }

            return;
        }

        // A worker that plays its part: this only keeps the measuring from rotting; that pages show running systems is tested elsewhere.
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await See(dashboard.Url, "/workers", "main table tbody tr >> nth=0");
    }

    private async Task See(string dashboard, string page, string figures)
    {
        await using var visit = await chromium.Open(dashboard);
        await visit.Page.AddInitScriptAsync($$"""
            new MutationObserver((_, self) => {
              if (!document.querySelector('{{figures.Replace(" >> nth=0", "", StringComparison.Ordinal)}}')) return;
              window.figuresAt = performance.now();
              self.disconnect();
            }).observe(document, { childList: true, subtree: true });
            """);
        var began = Stopwatch.GetTimestamp();
        await visit.Page.GotoAsync(page);
        await visit.Page.Locator(figures).WaitForAsync();
        await Visit.Connected(visit.Page);
        var connected = Stopwatch.GetElapsedTime(began).TotalMilliseconds;

        // From when the browser went there: figures are seen when they are there and something is painted.
        var seen = await visit.Page.EvaluateAsync<double>("() => Math.max(window.figuresAt, performance.getEntriesByName('first-contentful-paint')[0].startTime)");
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{page,-16} figures seen after {seen,5:0} ms, connected after {connected,5:0} ms"));
    }
}
