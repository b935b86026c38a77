using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Configuration;
using Snapper.Dashboard.Hosting;

namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>The dashboard in this process, at a free port of loopback. Only tests of warming up have it warm up.</summary>
internal sealed class RunningDashboard : IAsyncDisposable
{
    private readonly WebApplication _app;

    private RunningDashboard(WebApplication app) => _app = app;

    public string Url => _app.Urls.First();

    public IEnumerable<string> Urls => _app.Urls;

    public IServiceProvider Services => _app.Services;

    public static Task<RunningDashboard> Start(params Uri[] workers) => Start([], workers);

    public static Task<RunningDashboard> Start(Dictionary<string, string?> configuration, params Uri[] workers) => Start(new DashboardSettings(workers, null, 0, false, 0), configuration);

    public static async Task<RunningDashboard> Start(
        DashboardSettings settings, Dictionary<string, string?> configuration, bool warmsUp = false)
    {
        var dashboard = new RunningDashboard(
            DashboardProgram.Build(settings with { WarmsUp = warmsUp }, more => more.AddInMemoryCollection(configuration)));
        await dashboard._app.StartAsync();
        return dashboard;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();
}
