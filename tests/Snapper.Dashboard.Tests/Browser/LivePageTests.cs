using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Playwright;
using Snapper.Contracts;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>Every page against a running system with load: what it says is what the workers say, and it can be read by all. Pictures are kept.</summary>
[Collection(OnLiveSystem.Name)]
public sealed class LivePageTests(Chromium chromium, LiveSystem system)
{
    // Page, its address, and what must have appeared on it before it is looked at.
    private static readonly (string Name, string Address, string Awaited)[] s_pages =
    [
        ("overview", "/?window=1", "main table tbody tr a[href^='/actor'] >> nth=0"),
        ("hot", "/hot", ".heat .cells >> nth=0"),
        ("batches", "/batches", ".lanes li >> nth=5"),
        ("ring", "/ring", ".ringpic >> nth=1"),
        ("aborts", "/aborts?reason=application", "[data-story=application]"),
        ("transactions", "/transactions", "main table tbody tr >> nth=3"),
        ("actor", "/actor?type=Account&id=acc-0&window=5000", ".lanes li >> nth=3"),
        ("types", "/types?type=Account", "main table tbody tr >> nth=3"),
        ("access", "/access", ".access .bar >> nth=0"),
        ("workers", "/workers?worker=w1", "section[aria-label=Directory] .bar"),
        ("migrations", "/migrations", "main details"),
        ("health", "/health", "main table tbody tr >> nth=5"),
        ("audit", "/audit", "main h1"),
    ];

    [Fact]
    public async Task Each_page_shows_the_running_system_to_everybody()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await Rows.All(s_pages, page => Shows(visit, page.Name, page.Address, page.Awaited));
    }

    private static async Task Shows(Visit visit, string name, string address, string awaited)
    {
        await visit.Page.SetViewportSizeAsync(1300, 900);
        await visit.Go(address);
        await visit.Page.Locator(awaited).WaitForAsync();
        await Assertions.Expect(visit.Main.Locator(".loading")).ToHaveCountAsync(0);
        await Assertions.Expect(visit.Page.Locator(".fleet")).ToHaveTextAsync("2 workers answer");
        await Assertions.Expect(visit.Main).Not.ToContainTextAsync("Asking the workers");
        await Look("light", 1300);

        await visit.Page.EmulateMediaAsync(new() { ColorScheme = ColorScheme.Dark });
        await Assertions.Expect(visit.Page.Locator("html")).ToHaveAttributeAsync("data-theme", "dark");
        await Look("dark", 1300);

        await visit.Page.EmulateMediaAsync(new() { ColorScheme = ColorScheme.Light });
        await visit.Page.SetViewportSizeAsync(360, 900);
        await Assertions.Expect(visit.Page.Locator("html")).ToHaveAttributeAsync("data-theme", "light");
        await Look("light", 360);

        async Task Look(string theme, int width)
        {
            await visit.Picture($"{name}-{theme}-{width}");
            await visit.Check();
        }
    }

    [Fact]
    public async Task What_an_actor_page_says_of_the_state_is_what_its_worker_says()
    {
        await using var dashboard = await RunningDashboard.Start([.. system.Snapper.Ready.Workers.Select(one => one.Url)]);
        await using var screen = Screen.Open(dashboard, "/actor?type=Account&id=never-used");
        screen.Shows("It was never written.");
        await screen.Go("/actor?type=Account&id=acc-0");
        screen.Holds(() => Assert.Matches("\"checking\": [0-9.]+", screen.All("main pre")[0].TextContent));
        screen.Shows("batch ", ".lanes li .group");
    }

    [Fact]
    public async Task The_figures_of_the_workers_page_lie_between_two_answers_of_the_worker()
    {
        await using var dashboard = await RunningDashboard.Start([.. system.Snapper.Ready.Workers.Select(one => one.Url)]);
        await using var screen = Screen.Open(dashboard, "/workers");
        const string First = "table tbody tr";
        screen.Shows("w1", First);
        var pid = (await system.Ask(0, "/v1/status")).GetProperty("pid").GetInt32();
        screen.Shows(pid.ToString(CultureInfo.InvariantCulture), First);

        // Of a rate: what the counter says over some seconds, by the factor of two that such a short look may be off.
        var before = (await system.Ask(0, "/v1/status")).GetProperty("committedPact").GetInt64();
        var started = Environment.TickCount64;
        var rates = new List<double>();
        await Eventually.Holds("six figures", TimeSpan.FromSeconds(60), () =>
        {
            var rate = Screen.Text(screen.One(First + " td:nth-child(4)")).Replace("–", "0", StringComparison.Ordinal);
            rates.Add(double.Parse(rate, CultureInfo.InvariantCulture));
            return Task.FromResult(Environment.TickCount64 - started > 8000 ? null : "not yet");
        });
        var counted = ((await system.Ask(0, "/v1/status")).GetProperty("committedPact").GetInt64() - before) * 1000.0 / (Environment.TickCount64 - started);
        Assert.InRange(rates.Average(), counted / 2, counted * 2);
    }

    [Fact]
    public async Task An_abort_of_the_running_system_is_explained_two_clicks_from_the_overview()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        foreach (var reason in (string[])["application", "undeclared"])
        {
            await visit.Go("/");
            await visit.Main.Locator($".reasons a[data-reason={reason}]").ClickAsync();
            await visit.Main.Locator($"[data-story={reason}]").WaitForAsync();
            await visit.Main.Locator("table tbody tr").Nth(2).Locator("a").First.ClickAsync();
            await Assertions.Expect(visit.Page).ToHaveURLAsync(new Regex("tx=\\d+"));
            await Assertions.Expect(visit.Main.Locator($"[data-story={reason}] .message")).ToContainTextAsync(reason == "application" ? "insufficient funds" : "acc-");
        }
    }

    [Fact]
    public async Task A_transaction_is_found_by_its_id_and_its_actors_lead_on()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/transactions");
        var sampled = visit.Main.Locator("table tbody tr", new() { HasTextString = "committed" }).First.Locator("a[href*='id=load-']");
        await sampled.ClickAsync();
        await Assertions.Expect(visit.Main.Locator("section[aria-label=Outcome]")).ToContainTextAsync("committed");
        await visit.Main.Locator(".lanes li").First.WaitForAsync();
        await visit.Picture("transaction-light-1300");
        await visit.Check();
        await visit.Main.Locator(".lanes li a").First.ClickAsync();
        await Assertions.Expect(visit.Main.Locator("h1")).ToContainTextAsync("Account/");
    }

    [Fact]
    public async Task Something_moves_after_a_dry_run_a_reason_and_a_typed_confirmation()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/migrations?actors=Account%2Fmoved-by-hand");
        await visit.Main.Locator("textarea").WaitForAsync();
        await Assertions.Expect(visit.Main.Locator("textarea")).ToHaveValueAsync("Account/moved-by-hand");
        var owner = (await system.Ask(0, "/v1/directory?actor=Account/moved-by-hand")).GetProperty("worker").GetString();
        var other = owner == "w1" ? "w2" : "w1";
        var dry = visit.Page.GetByRole(AriaRole.Button, new() { Name = "Dry run" });
        await Assertions.Expect(dry).ToBeDisabledAsync();
        await visit.Main.Locator("label", new() { HasTextRegex = new Regex("^\\s*To\\b") }).Locator("select").SelectOptionAsync(other);
        await dry.ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("Nothing has moved yet.");
        Assert.Equal(owner, (await system.Ask(0, "/v1/directory?actor=Account/moved-by-hand")).GetProperty("worker").GetString());

        var move = visit.Page.GetByRole(AriaRole.Button, new() { Name = "Move 1 key" });
        await Assertions.Expect(move).ToBeDisabledAsync();
        await visit.Page.GetByLabel("to confirm").FillAsync("move 1");
        await Assertions.Expect(move).ToBeDisabledAsync();
        await visit.Page.GetByLabel("Reason").FillAsync("a test of the dashboard");
        await visit.Picture("migration-confirm");
        await visit.Check();
        await move.ClickAsync();
        await Assertions.Expect(visit.Main.Locator("section h2 .tag")).ToHaveTextAsync("done");
        await Assertions.Expect(visit.Main).ToContainTextAsync("a test of the dashboard");
        await visit.Picture("migration-done");
        await visit.Check();
        Assert.Equal(other, (await system.Ask(0, "/v1/directory?actor=Account/moved-by-hand")).GetProperty("worker").GetString());
        await visit.Go("/");
        await Assertions.Expect(visit.Main).ToContainTextAsync($"from {owner} to {other}, done");
    }

    [Fact]
    public async Task Workers_tell_by_themselves_whatever_pages_show()
    {
        Uri[] workers = [.. system.Snapper.Ready.Workers.Select(worker => worker.Url)];
        await using var dashboard = await RunningDashboard.Start(workers);
        using var scope = dashboard.Services.CreateScope();
        var pulse = scope.ServiceProvider.GetRequiredService<RefreshTimer>();
        var (feeds, streams) = (dashboard.Services.GetRequiredService<Feeds>(), dashboard.Services.GetRequiredService<Streams>());
        var told = new List<(string Path, Func<bool> IsThere)>();
        void Show<T>(string path) where T : class
        {
            var watch = feeds.Watch<T>(path);
            told.Add((path, () => watch.Answers.Count == workers.Length && watch.Answers.All(answer => answer.Problem is null) && workers.All(worker => streams.Carry(worker, path))));
        }

        Show<HotView>("/v1/hot?limit=50");
        Show<RingView>("/v1/ring");
        Show<BatchesView>("/v1/batches?limit=256");
        Show<AbortsView>("/v1/aborts?limit=200");
        Show<TracesView>("/v1/traces?limit=200&reason=application");
        Show<TracesView>("/v1/traces/load-0-1");
        Show<EnvelopeView>("/v1/transactions/load-0-1");
        Show<AccessView>("/v1/access");
        Show<ActorTypesView>("/v1/actor-types");
        Show<ActorListView>("/v1/actors?type=Account&limit=100&search=acc-1");
        Show<ActorView>("/v1/actors/Account/acc-0");
        Show<ScheduleView>("/v1/actors/Account/acc-0/schedule");
        Show<TimelineView>("/v1/actors/Account/acc-0/timeline");
        Show<WorkersView>("/v1/workers");
        Show<MigrationsView>("/v1/migrations");
        Show<DirectoryView>("/v1/directory");
        Show<PlacementView>("/v1/directory?actor=Account%2Facc-0");
        Show<AuditView>("/v1/audit?limit=500");
        await Eventually.Holds("all of it to be told", TimeSpan.FromSeconds(60), () => Task.FromResult(told.Where(one => !one.IsThere()).Select(one => one.Path).ToArray() is { Length: > 0 } missing ? string.Join(", ", missing) : null));
        Assert.False(pulse.Paused);
    }

    [Fact]
    public async Task A_dashboard_that_dies_is_started_again_and_pages_come_back()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/health");
        var dashboard = system.Snapper.Processes().Single(process => File.ReadAllText($"/proc/{process.Pid}/cmdline").Contains("Snapper.Dashboard.dll", StringComparison.Ordinal));
        ProcessTable.Signal(dashboard.Pid, ProcessTable.Kill);
        await Assertions.Expect(visit.Page.Locator("#components-reconnect-modal")).ToBeVisibleAsync();
        await visit.Picture("state-reconnecting");
        await Eventually.Holds("the dashboard to be back", TimeSpan.FromSeconds(30), async () =>
        {
            try
            {
                await visit.Page.GotoAsync("/audit");
                return null;
            }
            catch (PlaywrightException refused)
            {
                return refused.Message;
            }
        });
        await visit.Main.Locator("h1").WaitForAsync();
    }
}
