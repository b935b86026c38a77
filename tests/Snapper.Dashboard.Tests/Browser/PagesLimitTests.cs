using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>A page whose WebSocket is refused, because there are as many as there may be, is drawn all the same: its browser polls.</summary>
public sealed class PagesLimitTests(Chromium chromium) : IClassFixture<Chromium>
{
    [Fact]
    public async Task A_page_beyond_the_limit_polls()
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(new DashboardSettings([worker.Url], null, 0, false, 0) { PagesMax = 1 }, []);

        // Until it is ready it visits itself, by the one WebSocket that there is.
        using (var http = new HttpClient()) Assert.Equal("ok", await http.GetStringAsync(new Uri(dashboard.Url + "/healthz")));
        await using var first = await chromium.Open(dashboard.Url);
        await first.Go("/");
        await using var second = await chromium.Open(dashboard.Url);
        var polls = 0;
        second.Page.Request += (_, request) => polls += request.Url.Contains("/_blazor?id=", StringComparison.Ordinal) && request.ResourceType != "websocket" ? 1 : 0;
        await second.Go("/workers");
        await Assertions.Expect(second.Page.Locator(".fleet")).ToHaveTextAsync("1 worker answers");
        await Assertions.Expect(first.Page.Locator(".fleet")).ToHaveTextAsync("1 worker answers");
        Assert.True(polls > 0, "the second page has a WebSocket, too");
    }
}
