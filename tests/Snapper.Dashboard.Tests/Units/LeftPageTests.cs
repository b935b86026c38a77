using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Routing;
using Microsoft.AspNetCore.Components.Web;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Snapper.Contracts;
using Snapper.Dashboard.Hosting;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>A page that is left asks for nothing any more.</summary>
public sealed class LeftPageTests
{
    [Fact]
    public async Task A_beat_that_was_on_its_way_when_the_page_was_left_watches_nothing()
    {
        var settings = new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0) { FirstAnswersMax = TimeSpan.FromMilliseconds(1) };
        await using var dashboard = DashboardProgram.Build(settings);
        await using var scope = dashboard.Services.CreateAsyncScope();
        var services = scope.ServiceProvider;
        ((IHostEnvironmentNavigationManager)services.GetRequiredService<NavigationManager>()).Initialize("http://127.0.0.1/", "http://127.0.0.1/");
        await using var renderer = new HtmlRenderer(services, services.GetRequiredService<ILoggerFactory>());
        var (feeds, pulse) = (services.GetRequiredService<Feeds>(), services.GetRequiredService<RefreshTimer>());
        AskingPage page = null!;
        await renderer.Dispatcher.InvokeAsync(async () =>
        {
            await renderer.RenderComponentAsync<AskingPage>(ParameterView.FromDictionary(new Dictionary<string, object?> { [nameof(AskingPage.Made)] = (Action<AskingPage>)(made => page = made) }));
            page.Path = "/v1/seen";
            await Beat();
        });
        await renderer.Dispatcher.InvokeAsync(() => { });
        Assert.Contains("/v1/seen", feeds.Paths);

        await renderer.Dispatcher.InvokeAsync(async () =>
        {
            page.Path = "/v1/too-late";
            Beat().Wait(); // from elsewhere, while this turn goes on
            page.Dispose();
            await Task.CompletedTask;
        });
        await renderer.Dispatcher.InvokeAsync(() => { });
        Assert.DoesNotContain("/v1/too-late", feeds.Paths);

        Task Beat() => Task.Run(() => pulse.Pause(false));
    }

    private sealed class AskingPage : LivePage
    {
        public string Path { get; set; } = "/v1/first";

        [Parameter] public Action<AskingPage>? Made { get; set; }

        protected override void Look()
        {
            Made?.Invoke(this);
            Use<HotView>("one", Path);
        }
    }
}
