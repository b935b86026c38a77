using Bunit;
using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>What a page is there for is to be seen without scrolling sideways, with names as long as those of real loads.</summary>
public sealed class LayoutTests(Chromium chromium) : IClassFixture<Chromium>
{
    private static readonly int[] s_widths = [1300, 360];

    private const string Message = "Account/load-a343e7e0f4af-000004 is locked by an older transaction.";

    [Fact]
    public async Task Why_something_aborted_is_seen_beside_it()
    {
        await using var worker = await Scripted();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/aborts");
        var row = visit.Main.Locator("tbody tr").First;
        var message = row.Locator("td[data-label=Message]");
        await Assertions.Expect(message).ToHaveTextAsync(Message);
        foreach (var width in s_widths)
        {
            await visit.Page.SetViewportSizeAsync(width, 900);
            var box = (await message.BoundingBoxAsync())!;
            Assert.InRange(box.X + box.Width, 0, width - 20);
            Assert.InRange(box.Height, 0, 62);
            Assert.Equal(0, await visit.Main.Locator(".scroll").First.EvaluateAsync<int>(
                "e => e.scrollWidth - e.clientWidth"));
            await visit.Check();
        }

        // Its name is cut in the middle, and whole in the tip; what is left out comes with all columns, and with a narrow window's order.
        var request = row.Locator("td[data-label=Request]");
        await Assertions.Expect(request).ToHaveTextAsync("load-a343…af-t2104");
        await Assertions.Expect(request).ToHaveAttributeAsync("title", "load-a343e7e0f4af-t2104");
        await Assertions.Expect(row.Locator("td[data-label=Transaction]")).ToHaveCountAsync(0);
        var all = visit.Page.GetByRole(AriaRole.Button, new() { Name = "Recent aborts: all columns" });
        await all.ClickAsync();
        await Assertions.Expect(all).ToHaveAttributeAsync("aria-pressed", "true");
        await Assertions.Expect(row.Locator("td[data-label=Transaction]")).ToHaveTextAsync("4503599632064513");
        await visit.Check();
    }

    [Fact]
    public async Task A_table_is_ordered_by_a_choice()
    {
        await using var worker = await Scripted();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/aborts");
        screen.Shows("Transfer", "tbody tr td[data-label=Method]");
        screen.Field("Order by").Change(screen.All("label.order option").Single(one =>
            Screen.Text(one) == "Method").GetAttribute("value")!);
        screen.Shows("Balance", "tbody tr td[data-label=Method]");
    }

    [Fact]
    public async Task Phases_of_a_short_transaction_in_a_long_window_can_be_told_apart()
    {
        await using var worker = await Scripted();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/actor?type=Account&id=alice&window=30000");
        var phases = visit.Main.Locator(".lanes li").Last.Locator(".run i");
        await Assertions.Expect(phases).ToHaveCountAsync(3);
        foreach (var width in s_widths)
        {
            await visit.Page.SetViewportSizeAsync(width, 900);
            var wide = await Track();
            for (var i = 0; i < 3; i++)
            {
                var box = (await phases.Nth(i).BoundingBoxAsync())!;
                Assert.InRange(box.Width, 4.9f, 30f);
                Assert.InRange(box.X + box.Width, wide.X, wide.X + wide.Width + 0.5f);
            }
        }

        await Assertions.Expect(visit.Main.Locator(".lanes .axis .track span").First).ToHaveTextAsync(new System.Text.RegularExpressions.Regex(@"^\d\d:\d\d:\d\d$"));
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Each at full width" }).ClickAsync();
        await Assertions.Expect(visit.Main.Locator(".lanes .axis .track span")).ToHaveCountAsync(0);

        // 0.2, 0.3 and 1.5 ms of 2.
        var shares = new[] { 0.1, 0.15, 0.75 };
        foreach (var width in s_widths)
        {
            await visit.Page.SetViewportSizeAsync(width, 900);
            var wide = await Track();
            for (var i = 0; i < 3; i++)
            {
                Assert.Equal(shares[i], (await phases.Nth(i).BoundingBoxAsync())!.Width / wide.Width, 0.02);
            }

            await visit.Check();
        }

        async Task<LocatorBoundingBoxResult> Track() =>
            (await visit.Main.Locator(".lanes li .track").Last.BoundingBoxAsync())!;
    }

    [Fact]
    public async Task Rows_of_charts_are_even_at_every_width()
    {
        await using var worker = await Scripted();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        foreach (var width in (int[])[360, 800, 1000, 1100, 1200, 1300, 1400, 1500, 1700, 1920, 2560])
        {
            await visit.Page.SetViewportSizeAsync(width, 900);
            var tops = await visit.Main.Locator(".chart").EvaluateAllAsync<int[]>(
                "charts => charts.map(chart => Math.round(chart.getBoundingClientRect().top))");
            var rows = tops.GroupBy(top => top).Select(row => row.Count()).ToArray();
            Assert.True(rows.Length > 0 && rows.Distinct().Count() == 1, $"at {width}: rows of {string.Join(", ", rows)} charts");
            Assert.True(width < 1100 || rows[0] > 1, $"at {width}: charts below each other");
        }

    }

    private static async Task<ScriptedWorker> Scripted()
    {
        var now = (double)DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        var worker = await ScriptedWorker.Start();
        worker.On("/v1/aborts", () => new { aborts = (object[])[Abort("Transfer"), Abort("Balance")] });
        worker.On("/v1/actor-types", () => new { types = (object[])[new { type = "Account", methods = Array.Empty<object>() }] });
        worker.On("/v1/actors/Account/alice", () => new { type = "Account", id = "alice", worker = "w1", version = 3, resident = true, state = new { checking = 5 } });
        worker.On("/v1/actors/Account/alice/timeline", () => new { worker = "w1", nowAtMs = now, entries = (object[])[Entry(1, now - 25_000), Entry(2, now - 2)] });
        return worker;

        object Abort(string method) => new
        {
            atMs = now, id = "load-a343e7e0f4af-t2104", transaction = 4503599632064513L, mode = "act", root = "Account/load-a343e7e0f4af-000004", method, reason = "conflict", message = Message, repeated = true,
        };
        static object Entry(int number, double at) => new
        {
            transaction = number, mode = "act", request = $"r{number}", root = "Account/alice", method = "Transfer", outcome = "committed",
            arrivedAtMs = at, startedAtMs = at + 0.2, executedAtMs = at + 0.5, endedAtMs = at + 2,
        };
    }
}
