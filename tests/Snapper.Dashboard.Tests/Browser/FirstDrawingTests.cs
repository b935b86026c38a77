using System.Net;
using Bunit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Playwright;
using Snapper.Dashboard.Layout;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>What a browser loads first has figures in it already, and they stay when it is connected; who answers late, and who comes in crowds, holds up nobody.</summary>
public sealed class FirstDrawingTests(Chromium chromium) : IClassFixture<Chromium>
{
    [Theory]
    [InlineData("/", "Account/hottest")]
    [InlineData("/hot", "Account/hottest")]
    [InlineData("/workers", "4711")]
    [InlineData("/aborts?reason=conflict", "Account/met-on-the-way")]
    public async Task What_is_loaded_first_has_figures_in_it(string page, string figure)
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        using var http = new HttpClient();
        using var response = await http.GetAsync(new Uri(dashboard.Url + page));
        var html = WebUtility.HtmlDecode(await response.Content.ReadAsStringAsync());
        Assert.Contains(figure, html, StringComparison.Ordinal);
        Assert.Contains("connecting, as of", html, StringComparison.Ordinal);
        Assert.DoesNotContain("Asking the workers", html, StringComparison.Ordinal);
        Assert.Contains("no-store", response.Headers.CacheControl!.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_worker_that_hangs_is_waited_for_only_a_little()
    {
        await using var worker = await Scripted();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var http = new HttpClient();
        Assert.Equal("ok", await http.GetStringAsync(new Uri(dashboard.Url + "/healthz")));
        worker.Hangs = true;

        // A worker has 5 s for an answer, after which the page would say that there was none.
        Assert.Contains("Asking the workers", await http.GetStringAsync(new Uri(dashboard.Url + "/batches")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Beyond_the_limit_pages_come_without_figures()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        var places = dashboard.Services.GetRequiredService<FirstLooks>();
        using var http = new HttpClient();
        for (var i = 0; i <= FirstLooks.Most; i++) Assert.Contains("<main", await Html(), StringComparison.Ordinal);

        // A place is given back after its answer was sent.
        for (var i = 0; i < FirstLooks.Most; i++) await Eventually.Holds("all places to be free", TimeSpan.FromSeconds(20), () => Task.FromResult(places.TryTake() ? null : "not yet"));
        Assert.False(places.TryTake());
        Assert.DoesNotContain("<main", await Html(), StringComparison.Ordinal);
        await using (var visit = await chromium.Open(dashboard.Url))
        {
            await visit.Go("/workers");
            await Assertions.Expect(visit.Main).ToContainTextAsync("4711");
        }

        for (var i = 0; i < FirstLooks.Most; i++) places.Give();
        Assert.Contains("<main", await Html(), StringComparison.Ordinal);

        Task<string> Html() => http.GetStringAsync(new Uri(dashboard.Url + "/workers"));
    }

    [Fact]
    public async Task Figures_stay_when_the_browser_is_connected()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Page.AddInitScriptAsync("new MutationObserver(() => { if (document.querySelector('.shell')) window.drawn = true; if (document.querySelector('.loading')) window.asked = true; }).observe(document, { childList: true, subtree: true })");
        foreach (var page in (string[])["/hot", "/aborts?reason=conflict"])
        {
            await visit.Go(page);
            Assert.True(await visit.Page.EvaluateAsync<bool>("() => window.drawn === true && window.asked !== true"), page);
            await Assertions.Expect(visit.Page.Locator(".asof")).ToContainTextAsync("live, as of");
        }
    }

    [Fact]
    public async Task Until_then_nothing_can_be_pressed_and_links_lead_on()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Page.RouteAsync("**/_blazor/**", route => route.AbortAsync());
        await visit.Page.GotoAsync("/workers");
        await Assertions.Expect(visit.Page.Locator(".asof")).ToContainTextAsync("connecting, as of");
        Assert.Equal("none", await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Pause" }).EvaluateAsync<string>("e => getComputedStyle(e).pointerEvents"));
        await visit.Page.GetByRole(AriaRole.Link, new() { Name = "Hot actors" }).ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("Account/hottest");
    }

    [Fact]
    public async Task Nothing_is_taken_that_would_be_lost_and_the_menu_opens()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url, 360);
        await visit.Page.RouteAsync("**/_blazor/**", route => route.AbortAsync());
        await visit.Page.GotoAsync("/aborts");
        var search = visit.Main.GetByLabel("Actor, method or id");
        await search.FocusAsync();
        await visit.Page.Keyboard.TypeAsync("alice");
        Assert.Equal("", await search.InputValueAsync());
        await visit.Page.Keyboard.PressAsync("Tab");
        Assert.NotEqual("INPUT", await visit.Page.EvaluateAsync<string>("() => document.activeElement.tagName"));
        var menu = visit.Page.GetByRole(AriaRole.Button, new() { Name = "Menu" });
        await Assertions.Expect(visit.Page.Locator("nav")).ToBeHiddenAsync();
        await menu.ClickAsync();
        await Assertions.Expect(menu).ToHaveAttributeAsync("aria-expanded", "true");
        await visit.Page.GetByRole(AriaRole.Link, new() { Name = "Hot actors" }).ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("Account/hottest");
    }

    [Fact]
    public async Task A_wrong_value_in_an_address_breaks_no_page()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        (string Page, string Title)[] rows =
        [
            ("/?window=abc", "Overview"),
            ("/batches?batch=2,639&limit=x", "Batches"),
            ("/aborts?tx=99999999999999999999", "Aborts"),
            ("/actor?type=Account&id=a&window=zz", "Account/a"),
            ("/actor?type=..&id=status", "../status"),
            ("/transactions?id=..", "Request .."),
        ];
        await Rows.All(rows, async row =>
        {
            await screen.Go(row.Page);
            screen.Holds(() => Assert.Equal(row.Title, Screen.Text(screen.All("main h1")[0])));
        });
        Assert.DoesNotContain(worker.Asked, asked => asked.EndsWith("/schedule", StringComparison.Ordinal) && !asked.StartsWith("/v1/actors/", StringComparison.Ordinal));
    }

    [Fact]
    public async Task What_is_no_number_of_a_batch_is_told_and_can_be_mended()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var screen = Screen.Open(dashboard, "/batches?batch=many");
        screen.Shows("many is no number of a batch.", "main [role=alert]");
        screen.One("input[placeholder=number]").Change("2,639");
        screen.Holds(() => Assert.Contains("batch=2", screen.Address, StringComparison.Ordinal));
        screen.Holds(() => Assert.DoesNotContain(
            "is no number of a batch", screen.One("main").TextContent, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Without_scripts_a_page_shows_figures_that_stand_still_and_says_so()
    {
        await using var worker = await Scripted();
        await using var dashboard = await Patient(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url, scripts: false);
        await visit.Page.GotoAsync("/hot");
        await Assertions.Expect(visit.Main).ToContainTextAsync("Account/hottest");
        await Assertions.Expect(visit.Page.GetByText("Without JavaScript what is shown stands still")).ToBeVisibleAsync();
    }

    // However busy this machine is, what is told is waited for.
    private static Task<RunningDashboard> Patient(Uri worker) => RunningDashboard.Start(new DashboardSettings([worker], null, 0, false, 0) { FirstAnswersMax = TimeSpan.FromSeconds(60) }, []);

    private static async Task<ScriptedWorker> Scripted()
    {
        var now = (double)DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        var worker = await ScriptedWorker.Start();
        worker.On("/v1/hot", () => new { worker = "w1", sampledOneIn = 1, actors = (object[])[new { actor = "Account/hottest", transactions = 7 }] });
        worker.On("/v1/aborts", () => new { aborts = (object[])[new { atMs = now, id = "r1", transaction = 5, mode = "act", root = "Account/a", method = "Transfer", reason = "conflict", message = "locked", repeated = false }] });

        // What is asked for only when the aborts are known.
        worker.On("/v1/traces/r1", () => new { worker = "w1", traces = (object[])[new
        {
            request = "r1", transaction = 5, worker = "w1", mode = "act", root = "Account/a", method = "Transfer", outcome = "aborted", receivedAtMs = now, startedAtMs = now, endedAtMs = now + 1,
            calls = (object[])[new { actor = "Account/met-on-the-way", method = "Deposit", parent = -1, askedAtMs = now, startedAtMs = now, endedAtMs = now + 1 }],
        }] });
        return worker;
    }
}
