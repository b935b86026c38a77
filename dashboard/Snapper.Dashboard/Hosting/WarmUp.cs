using System.Diagnostics;
using System.Reflection;
using System.Security.Claims;
using System.Text.Json;
using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Authorization;
using Microsoft.AspNetCore.Components.Routing;
using Microsoft.AspNetCore.Components.Web;
using Microsoft.AspNetCore.Hosting.Server;
using Snapper.Contracts;
using Snapper.Dashboard.Access;
using Snapper.Dashboard.Layout;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Workers;
using Snapper.Security;

namespace Snapper.Dashboard.Hosting;

/// <summary>
/// Runs the code of all pages once before the dashboard says that it is ready, so that whoever comes first does not wait for it to be compiled. The pages are drawn by a second, unstarted
/// dashboard in this process, from answers that are made up: no worker is asked, and nobody signs in. Only the first page is asked for as a browser does it, of this dashboard, with what the workers
/// answer. Whatever goes wrong is a warning and nothing else.
/// </summary>
internal sealed partial class WarmUp(DashboardSettings settings, KnownTokens tokens, IServer server, IHostApplicationLifetime lifetime, ILogger<WarmUp> log) : BackgroundService
{
    /// <summary>The dashboard is ready after this time at the latest, whatever is not warm by then.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(2);

    private static readonly Uri s_nobody = new("http://127.0.0.1:1");

    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _pages;

    /// <summary>It is over, well or not. Never fails.</summary>
    public Task Done => _done.Task;

    /// <summary>Pages that were drawn with answers.</summary>
    public int Pages => Volatile.Read(ref _pages);

    /// <summary>Addresses of all pages, the first one first.</summary>
    public static IReadOnlyList<string> Addresses { get; } =
        [.. typeof(WarmUp).Assembly.GetTypes().SelectMany(type => type.GetCustomAttributes<RouteAttribute>()).Select(route => route.Template).OrderBy(path => path.Length).ThenBy(path => path, StringComparer.Ordinal)];

    /// <summary>What tests put in the place of drawing a page; null: nothing.</summary>
    internal Func<string, Task>? Instead { get; init; }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        if (!settings.WarmsUp)
        {
            _done.TrySetResult();
            return;
        }

        var started = Stopwatch.GetTimestamp();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stoppingToken);
        ending.CancelAfter(Longest);
        using var late = ending.Token.Register(() => _done.TrySetResult());
        try
        {
            await Started(stoppingToken).ConfigureAwait(false);
            await Task.WhenAll(OwnVisit.Make(server, SignIn.IsOn(tokens), ending.Token), DrawAll(ending.Token)).ConfigureAwait(false);
            Warm(Pages, Addresses.Count, (long)Stopwatch.GetElapsedTime(started).TotalMilliseconds);
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // Its time is over, or the dashboard ends: how far it came is all there is to say.
            Warm(Pages, Addresses.Count, (long)Stopwatch.GetElapsedTime(started).TotalMilliseconds);
        }
#pragma warning disable CA1031 // Whatever a page throws, the dashboard starts all the same.
        catch (Exception problem)
#pragma warning restore CA1031
        {
            Cold(problem);
        }
        finally
        {
            _done.TrySetResult();
        }
    }

    private async Task DrawAll(CancellationToken cancellation)
    {
        var spare = DashboardProgram.Build(
            settings with { Workers = [s_nobody], Port = 0, BeyondLoopback = false, ParentPid = 0 }, more => more.AddInMemoryCollection([new("Logging:LogLevel:Default", "None")]));
        await using (spare.ConfigureAwait(false))
        {
            foreach (var page in Addresses)
            {
                if (cancellation.IsCancellationRequested) break;
                await (Instead?.Invoke(page) ?? Draw(spare.Services, page)).ConfigureAwait(false);
                Interlocked.Increment(ref _pages);
            }
        }
    }

    // It listens from then on.
    private Task Started(CancellationToken cancellation)
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lifetime.ApplicationStarted.Register(started.SetResult);
        return started.Task.WaitAsync(cancellation);
    }

    /// <summary>Draws a page as the dashboard that is not started would show it.</summary>
    internal static async Task<string> Draw(IServiceProvider services, string page)
    {
        var scope = services.CreateAsyncScope();
        await using (scope.ConfigureAwait(false))
        {
            var provider = scope.ServiceProvider;
            ((IHostEnvironmentNavigationManager)provider.GetRequiredService<NavigationManager>()).Initialize("http://127.0.0.1/", "http://127.0.0.1" + page);
            if (provider.GetService<AuthenticationStateProvider>() is IHostEnvironmentAuthenticationStateProvider who) who.SetAuthenticationState(Task.FromResult(new AuthenticationState(new ClaimsPrincipal(new ClaimsIdentity()))));
            var renderer = new HtmlRenderer(provider, provider.GetRequiredService<ILoggerFactory>());
            await using (renderer.ConfigureAwait(false))
            {
                var html = await renderer.Dispatcher.InvokeAsync(async () =>
                {
                    // As in a browser: first without answers, then with them, which may lead to further questions.
                    Tell(provider, "/v1/status", typeof(WorkerStatus));
                    using var added = new SemaphoreSlim(0);
                    void OnAdded() => added.Release();
                    var feeds = provider.GetRequiredService<Feeds>();
                    feeds.Added += OnAdded;
                    try
                    {
                        var root = renderer.BeginRenderingComponent<Routes>();
                        while (!root.QuiescenceTask.IsCompleted)
                        {
                            foreach (var (path, answer) in feeds.Watched) Tell(provider, path, answer);
                            await Task.WhenAny(root.QuiescenceTask, added.WaitAsync());
                        }

                        await root.QuiescenceTask;
                        var pulse = provider.GetRequiredService<RefreshTimer>();
                        pulse.Pause(true);
                        pulse.Pause(false);
                        return root.ToHtmlString();
                    }
                    finally
                    {
                        feeds.Added -= OnAdded;
                    }
                }).ConfigureAwait(false);
                if (html.Contains("This page has failed", StringComparison.Ordinal)) throw new InvalidOperationException($"The page {page} cannot be drawn from made up answers.");
                return html;
            }
        }
    }

    private static void Tell(IServiceProvider provider, string path, Type answer) =>
        ((IListener)provider.GetRequiredService<Streams>()).Told(s_nobody, path, 200, JsonSerializer.SerializeToUtf8Bytes(PrerenderSamples.Of(answer), WorkerApi.Json));

    [LoggerMessage(EventId = 4011, Level = LogLevel.Information, Message = "{Warm} of {All} pages were drawn once beforehand, in {Milliseconds} ms")]
    private partial void Warm(int warm, int all, long milliseconds);

    [LoggerMessage(EventId = 4012, Level = LogLevel.Warning, Message = "Pages could not be drawn beforehand; the first visit will take longer.")]
    private partial void Cold(Exception problem);
}
