using System.Net;
using AngleSharp.Dom;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Pages;

/// <summary>What pages say when there is nothing, nothing yet, nothing any more, or something wrong.</summary>
public sealed class StateTests
{
    private static readonly string[] s_pages =
    [
        "/", "/hot", "/batches", "/ring", "/aborts", "/transactions", "/actor", "/types", "/access", "/workers",
        "/migrations", "/health", "/audit",
    ];

    [Fact]
    public async Task A_worker_of_an_older_version_leaves_no_page_broken()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        await Rows.All(s_pages, async page =>
        {
            await screen.Go(page);
            screen.Holds(() => Assert.Empty(screen.All(".loading")));
            Assert.NotEqual("This page has failed", Screen.Text(screen.One("main h1")));
            screen.Shows("1 worker answers", ".fleet");
        });
    }

    [Fact]
    public async Task A_worker_that_goes_is_named_with_the_time_of_its_last_answer_and_comes_back()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        screen.Shows("1 worker answers", ".fleet");
        worker.Silent = true;
        screen.Shows("w1 does not answer: 503: starting. Its figures are as of", ".note.stale");
        screen.Shows("0 of 1 worker answer", ".fleet");
        worker.Silent = false;
        screen.Holds(() => Assert.Empty(screen.All(".note.stale")));
        screen.Shows("w1 answers again");
    }

    [Fact]
    public async Task A_redis_that_fills_up_is_told_long_before_it_is_full()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/health");

        // What one row shows is no part of what the row before it shows: so each is waited for.
        (long Used, long Most, long System, string Shown, string Cure)[] rows =
        [
            (740, 1000, 800, "740 MiB of 1000 MiB", ""),
            (740, 0, 1000, "740 MiB, no limit is set; its machine has 1000 MiB", ""),
            (760, 0, 0, "760 MiB, no limit is set", ""),
            (760, 1000, 1600, "760 MiB of 1000 MiB", "A full Redis refuses writes"),
            (760, 0, 1000, "760 MiB, no limit is set; its machine has 1000 MiB", "Without a limit Redis is ended by its machine"),
        ];
        await Rows.All(rows, one =>
        {
            var redis = new { usedBytes = one.Used << 20, maxBytes = one.Most << 20, systemBytes = one.System << 20 };
            worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, redis });
            screen.Holds(() => Assert.Contains(one.Shown, Row(), StringComparison.Ordinal));
            if (one.Cure.Length > 0) Assert.Contains(one.Cure, Row(), StringComparison.Ordinal);
            else Assert.DoesNotContain("nothing commits", Row(), StringComparison.Ordinal);
            return Task.CompletedTask;
        });

        string Row() => Screen.Text(screen.All("tr").Single(row =>
            row.TextContent.Contains("redis memory", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Where_no_worker_has_ever_answered_the_overview_says_what_to_do()
    {
        await using var dashboard = await RunningDashboard.Start(
            new Uri($"http://127.0.0.1:{Snapper.Live.Harness.FreePorts.Base([0])}"));
        await using var screen = Screen.Open(dashboard, "/");
        screen.Shows("./snapper up", ".note.failed");
    }

    [Theory]
    [InlineData(403, null, "the dashboard has no token of its own with the right to view")]
    [InlineData(401, "snapper_unknown", "the dashboard's own token has not the right to view, or is not known there")]
    public async Task A_dashboard_without_a_token_of_its_own_says_so(int status, string? token, string said)
    {
        await using var worker = await ScriptedWorker.Start();
        worker.Status = status;
        worker.Refuses = _ => status == 403
            ? "anonymous has the role anonymous, which has not the right to view."
            : "The Authorization header shows no token that is known here.";
        await using var dashboard = await RunningDashboard.Start(
            new DashboardSettings([worker.Url], token, 0, false, 0), []);
        await using var screen = Screen.Open(dashboard, "/");
        foreach (var text in (string[])
            ["The worker answers, and", said, "set SNAPPER_TOKEN", "docs/dashboard.md#signing-in"])
        {
            screen.Shows(text, ".note.failed");
        }

        Assert.DoesNotContain("Is the system up?", screen.One(".note.failed").TextContent, StringComparison.Ordinal);
        Assert.DoesNotContain("..", screen.One(".note.failed").TextContent, StringComparison.Ordinal);
        await screen.Go("/hot");
        screen.Shows($"{status}: ", ".note.failed");
        Assert.DoesNotContain("..", screen.One(".note.failed").TextContent, StringComparison.Ordinal);
        await screen.Go("/health");
        screen.Holds(() => Assert.Contains(screen.All("tr"), row =>
            row.TextContent.Contains("lets the dashboard look", StringComparison.Ordinal)
                && row.TextContent.Contains("SNAPPER_TOKEN", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task An_unknown_address_is_a_page_that_says_so_and_a_404()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var http = new HttpClient();
        using var page = await http.GetAsync(dashboard.Url + "/no/such/page?x=1");
        Assert.Equal(HttpStatusCode.NotFound, page.StatusCode);
        var html = WebUtility.HtmlDecode(await page.Content.ReadAsStringAsync());
        Assert.Contains("There is no such page</h1>", html, StringComparison.Ordinal);
        Assert.Contains("<title>No such page – Snapper</title>", html, StringComparison.Ordinal);
        Assert.Contains("<a href=\"/\">To the overview</a>", html, StringComparison.Ordinal);

        // Programs get the status alone.
        using var plain = await http.GetAsync(dashboard.Url + "/no/such/file.js");
        Assert.Equal(HttpStatusCode.NotFound, plain.StatusCode);
        Assert.Equal("", await plain.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task Paused_figures_stand_still_and_go_on_afterwards()
    {
        await using var worker = await ScriptedWorker.Start();
        var flying = 1;
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 1000 + flying, inFlight = Interlocked.Increment(ref flying) });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/workers");
        screen.Press("Pause");
        screen.Shows("paused", ".asof");
        var shown = Cell();
        var before = Volatile.Read(ref flying);
        await Snapper.Live.Harness.Eventually.Holds(
            "three more looks at the worker", TimeSpan.FromSeconds(20),
            () => Task.FromResult(Volatile.Read(ref flying) >= before + 3 ? null : "not yet"));
        Assert.Equal(shown, Cell());
        screen.Press("Go on");
        screen.Holds(() => Assert.NotEqual(shown, Cell()));

        string Cell() => Screen.Text(screen.One("table tbody tr td:nth-child(7)"));
    }

    [Fact]
    public async Task What_is_open_is_asked_for_and_what_is_closed_is_not()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        var feeds = dashboard.Services.GetRequiredService<Feeds>();
        await using var screen = Screen.Open(dashboard, "/hot");
        await Holds("the page to ask for hot actors", () => worker.Asked.Contains("/v1/hot?limit=50"));
        await screen.Go("/audit");
        await Holds("the next page to ask for the audit", () => worker.Asked.Contains("/v1/audit?limit=500"));
        await Holds("only the audit to be watched", () => feeds.Count == 1);

        // What was on its way then has come when it looks once more.
        worker.Asked.Clear();
        await Holds("one more look", () => worker.Asked.Contains("/v1/status"));
        worker.Asked.Clear();
        await Holds("two more looks", () => worker.Asked.Count(one => one == "/v1/status") >= 2);
        Assert.DoesNotContain("/v1/hot?limit=50", worker.Asked);

        static Task Holds(string what, Func<bool> holds) => Snapper.Live.Harness.Eventually.Holds(
            what, TimeSpan.FromSeconds(20), () => Task.FromResult(holds() ? null : "not yet"));
    }

    [Fact]
    public async Task Pages_of_others_and_other_names_of_this_machine_are_refused()
    {
        await using var dashboard = await RunningDashboard.Start(new Uri("http://127.0.0.1:9"));
        using var http = new HttpClient();
        async Task<int> Status(string? host, string? origin, string path = "/healthz", string? site = null, string destination = "document")
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, dashboard.Url + path);
            request.Headers.Host = host;
            if (site is not null)
            {
                request.Headers.Add("Sec-Fetch-Site", site);
                request.Headers.Add("Sec-Fetch-Mode", destination == "image" ? "no-cors" : "navigate");
                request.Headers.Add("Sec-Fetch-Dest", destination);
            }

            if (origin is not null) request.Headers.Add("Origin", origin);
            using var response = await http.SendAsync(request);
            return (int)response.StatusCode;
        }

        Assert.Equal(200, await Status(null, null));
        Assert.Equal(200, await Status(null, dashboard.Url));
        Assert.Equal(403, await Status("evil.example", null));
        Assert.Equal(403, await Status(null, "https://evil.example"));
        Assert.Equal(403, await Status(null, "null"));
        Assert.Equal(403, await Status(null, null, site: "cross-site", destination: "image"));
        Assert.Equal(403, await Status(null, null, site: "same-site", destination: "iframe"));
        Assert.Equal(200, await Status(null, null, site: "cross-site"));
        Assert.Equal(200, await Status(null, null, site: "same-origin", destination: "image"));
        Assert.Equal(400, await Status(null, null, "/audit?q=snapper_abc"));
    }
}
