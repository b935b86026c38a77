using System.Text.Json;
using Microsoft.Playwright;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>What pages say when there is nothing, nothing yet, nothing any more, or something wrong.</summary>
public sealed class StateTests(Chromium chromium) : IClassFixture<Chromium>
{
    private static readonly string[] Pages = ["/", "/hot", "/batches", "/ring", "/aborts", "/transactions", "/actor", "/types", "/access", "/workers", "/migrations", "/health", "/audit"];

    [Fact]
    public async Task A_worker_of_an_older_version_leaves_no_page_broken()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await Rows.All(Pages, async page =>
        {
            await visit.Go(page);
            await Assertions.Expect(visit.Main.Locator(".loading")).ToHaveCountAsync(0);
            await Assertions.Expect(visit.Page.Locator("#blazor-error-ui")).ToBeHiddenAsync();
            await visit.Check();
        });
    }

    [Fact]
    public async Task A_worker_that_goes_is_named_with_the_time_of_its_last_answer_and_comes_back()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await Assertions.Expect(visit.Page.Locator(".fleet")).ToHaveTextAsync("1 worker answers");
        worker.Silent = true;
        await Assertions.Expect(visit.Main.Locator(".note.stale")).ToContainTextAsync("w1 does not answer: 503: starting. Its figures are as of");
        await Assertions.Expect(visit.Page.Locator(".fleet")).ToHaveTextAsync("0 of 1 worker answer");
        await visit.Picture("state-stale");
        await visit.Check();
        worker.Silent = false;
        await Assertions.Expect(visit.Main.Locator(".note.stale")).ToHaveCountAsync(0);
        await Assertions.Expect(visit.Main).ToContainTextAsync("w1 answers again");
    }

    [Fact]
    public async Task A_redis_that_fills_up_is_told_long_before_it_is_full()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/health");
        var row = visit.Main.Locator("tr", new() { HasText = "redis memory" });

        // What one row shows is no part of what the row before it shows: so each is waited for.
        (long Used, long Most, long System, string Shown, string Cure)[] rows =
        [
            (740, 1000, 800, "740 MiB of 1000 MiB", ""),
            (740, 0, 1000, "740 MiB, no limit is set; its machine has 1000 MiB", ""),
            (760, 0, 0, "760 MiB, no limit is set", ""),
            (760, 1000, 1600, "760 MiB of 1000 MiB", "A full Redis refuses writes"),
            (760, 0, 1000, "760 MiB, no limit is set; its machine has 1000 MiB", "Without a limit Redis is ended by its machine"),
        ];
        await Rows.All(rows, async one =>
        {
            var redis = new { usedBytes = one.Used << 20, maxBytes = one.Most << 20, systemBytes = one.System << 20 };
            worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, redis });
            await Assertions.Expect(row).ToContainTextAsync(one.Shown);
            if (one.Cure.Length > 0) await Assertions.Expect(row).ToContainTextAsync(one.Cure);
            else await Assertions.Expect(row).Not.ToContainTextAsync("nothing commits");
        });
    }

    [Fact]
    public async Task Where_no_worker_has_ever_answered_the_overview_says_what_to_do()
    {
        await using var dashboard = await RunningDashboard.Start(new Uri($"http://127.0.0.1:{Snapper.Live.Harness.FreePorts.Base([0])}"));
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await Assertions.Expect(visit.Main.Locator(".note.failed")).ToContainTextAsync("./snapper up");
        await visit.Picture("state-failed");
        await visit.Check();
    }

    [Fact]
    public async Task An_unknown_address_is_a_page_that_says_so_and_a_404()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        var response = await visit.Page.GotoAsync("/no/such/page?x=1");
        Assert.Equal(404, response!.Status);
        await Assertions.Expect(visit.Main.Locator("h1")).ToHaveTextAsync("There is no such page");
        await Assertions.Expect(visit.Page).ToHaveTitleAsync("No such page – Snapper");
        visit.Forgive("404");
        await visit.Check();
        await visit.Main.GetByRole(AriaRole.Link, new() { Name = "To the overview" }).ClickAsync();
        await Assertions.Expect(visit.Main.Locator("h1")).ToHaveTextAsync("Overview");

        // Programs get the status alone.
        using var http = new HttpClient();
        using var plain = await http.GetAsync(dashboard.Url + "/no/such/file.js");
        Assert.Equal(404, (int)plain.StatusCode);
        Assert.Equal("", await plain.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task Paused_figures_stand_still_and_go_on_afterwards()
    {
        await using var worker = await ScriptedWorker.Start();
        var flying = 1;
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 1000 + flying, inFlight = Interlocked.Increment(ref flying) });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/workers");
        var cell = visit.Main.Locator("table").First.Locator("tbody tr td").Nth(6);
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Pause" }).ClickAsync();
        await Assertions.Expect(visit.Page.Locator(".asof")).ToContainTextAsync("paused");
        var shown = await cell.TextContentAsync();
        var before = Volatile.Read(ref flying);
        await Snapper.Live.Harness.Eventually.Holds("three more looks at the worker", TimeSpan.FromSeconds(20), () => Task.FromResult(Volatile.Read(ref flying) >= before + 3 ? null : "not yet"));
        Assert.Equal(shown, await cell.TextContentAsync());
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Go on" }).ClickAsync();
        await Assertions.Expect(cell).Not.ToHaveTextAsync(shown!);
    }

    [Fact]
    public async Task A_table_is_saved_as_json_and_csv()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/audit", () => new { worker = "w1", entries = (object[])[new { atMs = 1_795_350_000_000.0, who = "=cmd", role = "admin", action = "migrate", target = "a, \"b\"", reason = "hot", outcome = "202", from = "127.0.0.1" }] });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/audit");
        await visit.Main.GetByText("=cmd").WaitForAsync();
        var json = await Save(visit, "Audit: save as JSON");
        Assert.Equal("=cmd", JsonDocument.Parse(json).RootElement[0].GetProperty("who").GetString());
        var csv = await Save(visit, "Audit: save as CSV");
        Assert.StartsWith("At,Who,Role,Action,Target,Reason,Outcome,From,Worker\r\n", csv, StringComparison.Ordinal);
        Assert.Contains(",'=cmd,admin,migrate,\"a, \"\"b\"\"\",hot,202,127.0.0.1,w1\r\n", csv, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_open_is_asked_for_and_what_is_closed_is_not()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        var feeds = (Feeds)dashboard.Services.GetService(typeof(Feeds))!;
        await using (var visit = await chromium.Open(dashboard.Url))
        {
            await visit.Go("/hot");
            await Snapper.Live.Harness.Eventually.Holds("the page to ask for hot actors", TimeSpan.FromSeconds(20), () => Task.FromResult(worker.Asked.Contains("/v1/hot?limit=50") ? null : "not yet"));
            await visit.Page.GetByRole(AriaRole.Link, new() { Name = "Audit" }).ClickAsync();
            await Snapper.Live.Harness.Eventually.Holds("the next page to ask for the audit", TimeSpan.FromSeconds(20), () => Task.FromResult(worker.Asked.Contains("/v1/audit?limit=500") ? null : "not yet"));
            await Snapper.Live.Harness.Eventually.Holds("only the audit to be watched", TimeSpan.FromSeconds(20), () => Task.FromResult(feeds.Count == 1 ? null : $"{feeds.Count} are"));

            // What was on its way then has come when it looks once more.
            worker.Asked.Clear();
            await Snapper.Live.Harness.Eventually.Holds("one more look", TimeSpan.FromSeconds(20), () => Task.FromResult(worker.Asked.Contains("/v1/status") ? null : "not yet"));
            worker.Asked.Clear();
            await Snapper.Live.Harness.Eventually.Holds("two more looks", TimeSpan.FromSeconds(20), () => Task.FromResult(worker.Asked.Count(one => one == "/v1/status") >= 2 ? null : "not yet"));
            Assert.DoesNotContain("/v1/hot?limit=50", worker.Asked);
        }
    }

    [Fact]
    public async Task The_keyboard_reaches_everything_in_order_and_the_theme_is_remembered()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/health");
        await visit.Page.EvaluateAsync("() => document.activeElement.blur()");
        await visit.Page.EvaluateAsync("() => { const s = document.querySelector('.skip'); s.focus(); }");
        Assert.Equal("Skip to the content", await Focused(visit));
        string[] order = ["Snapper", "Pause", "Switch between light and dark", "Overview", "Hot actors", "Batches", "Ring", "Aborts"];
        foreach (var name in order)
        {
            await visit.Page.Keyboard.PressAsync("Tab");
            Assert.Equal(name, await Focused(visit));
        }

        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Switch between light and dark" }).PressAsync("Enter");
        await Assertions.Expect(visit.Page.Locator("html")).ToHaveAttributeAsync("data-theme", "dark");
        await visit.Go("/audit");
        await Assertions.Expect(visit.Page.Locator("html")).ToHaveAttributeAsync("data-theme", "dark");
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

    private static Task<string> Focused(Visit visit) => visit.Page.EvaluateAsync<string>("() => (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()");

    private static async Task<string> Save(Visit visit, string button)
    {
        var download = await visit.Page.RunAndWaitForDownloadAsync(() => visit.Page.GetByRole(AriaRole.Button, new() { Name = button }).ClickAsync());
        return await File.ReadAllTextAsync(await download.PathAsync());
    }
}
