using System.Text.Json;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Snapper.Contracts;
using Snapper.Dashboard.Hosting;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Dashboard.Workers;
using Snapper.Security;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>The code of all pages is run before the dashboard says that it is ready, and nobody notices; when that fails it starts all the same.</summary>
public sealed class WarmUpTests
{
    [Fact]
    public async Task All_pages_are_drawn_and_the_first_one_visited()
    {
        // On a busy machine the code of even one page may not be compiled in the time that warming up has.
        await using var spare = Unstarted();
        await WarmUp.Draw(spare.Services, WarmUp.Addresses[0]);
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await Start(worker.Url);
        var warmUp = dashboard.Services.GetRequiredService<WarmUp>();
        await warmUp.ExecuteTask!.WaitAsync(TimeSpan.FromSeconds(60));
        Assert.InRange(WarmUp.Addresses.Count, 14, 100);
        Assert.Equal("/", WarmUp.Addresses[0]);
        Assert.InRange(warmUp.Pages, 1, WarmUp.Addresses.Count); // as far as it came in its time
        using var http = new HttpClient();
        Assert.Equal("ok", await http.GetStringAsync(new Uri(dashboard.Url + "/healthz")));

        // Of the real one only what its first page shows, once, as for anybody who comes.
        Assert.DoesNotContain(worker.Asked, path => path is not ("/v1/status" or "/v1/workers" or "/v1/migrations" or "/readyz" or "/v1/hot?limit=20" or "/v1/ring") && !path.StartsWith("/v1/events?", StringComparison.Ordinal));
        dashboard.Services.GetRequiredService<Handover>().Dispose();
        Assert.Equal(0, dashboard.Services.GetRequiredService<Fleet>().Viewers);
        Assert.Equal(0, dashboard.Services.GetRequiredService<Feeds>().Count);
    }

    [Fact]
    public async Task Each_page_can_be_drawn_from_made_up_answers()
    {
        await using var spare = Unstarted();
        foreach (var page in WarmUp.Addresses)
        {
            var html = await WarmUp.Draw(spare.Services, page);
            Assert.True(html.Contains("<h1", StringComparison.Ordinal) && html.Contains("1 worker answers", StringComparison.Ordinal), $"{page}: {html}");
        }

        Assert.Contains("Made/up", await WarmUp.Draw(spare.Services, "/batches"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task One_that_fails_is_a_warning_and_nothing_else()
    {
        await using var dashboard = await Start(new Uri("http://127.0.0.1:1"));
        var log = new Kept();
        using var warmUp = Of(dashboard, log, page => page == "/hot" ? throw new InvalidOperationException("planned") : Task.CompletedTask);
        await warmUp.StartAsync(default);
        await warmUp.ExecuteTask!.WaitAsync(TimeSpan.FromSeconds(60));
        Assert.True(warmUp.Done.IsCompletedSuccessfully);
        Assert.Equal((LogLevel.Warning, "planned"), Assert.Single(log.Lines));
        using var http = new HttpClient();
        Assert.Equal("ok", await http.GetStringAsync(new Uri(dashboard.Url + "/healthz")));
    }

    [Fact]
    public async Task One_that_hangs_is_not_waited_for()
    {
        await using var dashboard = await Start(new Uri("http://127.0.0.1:1"));
        var hangs = new TaskCompletionSource();
        using var warmUp = Of(dashboard, new Kept(), _ => hangs.Task);
        await warmUp.StartAsync(default);
        await warmUp.Done.WaitAsync(TimeSpan.FromSeconds(60));
        Assert.False(warmUp.ExecuteTask!.IsCompleted);
        hangs.SetResult();
        await warmUp.ExecuteTask.WaitAsync(TimeSpan.FromSeconds(60));
        Assert.Equal(1, warmUp.Pages);
    }

    [Fact]
    public void Made_up_answers_are_read_as_those_of_workers_are()
    {
        var batches = WorkerApi.Read<BatchesView>(200, "/v1/batches", JsonSerializer.SerializeToUtf8Bytes(PrerenderSamples.Of(typeof(BatchesView))));
        Assert.Null(batches.Problem);
        Assert.Equal((2, "Made/up", 3), (batches.Data!.Batches.Count, batches.Data.Batches[0].LastActor, batches.Data.Batches[0].QueuedMs));
    }

    private static Task<RunningDashboard> Start(Uri worker) =>
        RunningDashboard.Start(new DashboardSettings([worker], null, 0, false, 0), [], warmsUp: true);

    private static Microsoft.AspNetCore.Builder.WebApplication Unstarted() =>
        DashboardProgram.Build(new DashboardSettings([new Uri("http://127.0.0.1:1")], null, 0, false, 0));

    private static WarmUp Of(RunningDashboard dashboard, Kept log, Func<string, Task> instead) =>
        new(dashboard.Services.GetRequiredService<DashboardSettings>(), dashboard.Services.GetRequiredService<KnownTokens>(), dashboard.Services.GetRequiredService<IServer>(),
            dashboard.Services.GetRequiredService<IHostApplicationLifetime>(), log)
        {
            Instead = instead,
        };

    private sealed class Kept : ILogger<WarmUp>
    {
        public List<(LogLevel Level, string? Problem)> Lines { get; } = [];

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) => Lines.Add((logLevel, exception?.Message));
    }
}
