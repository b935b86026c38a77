using System.Text.Json;
using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>The browser's own part: keyboard, theme, saved files.</summary>
public sealed class ScriptTests(Chromium chromium) : IClassFixture<Chromium>
{
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

    private static Task<string> Focused(Visit visit) => visit.Page.EvaluateAsync<string>("() => (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()");

    private static async Task<string> Save(Visit visit, string button)
    {
        var download = await visit.Page.RunAndWaitForDownloadAsync(() => visit.Page.GetByRole(AriaRole.Button, new() { Name = button }).ClickAsync());
        return await File.ReadAllTextAsync(await download.PathAsync());
    }
}
