namespace Snapper.Server.Hosting;

/// <summary>The composition root of one worker process.</summary>
internal static class WorkerHost
{
    /// <summary>Serves until cancelled, then drains and returns.</summary>
    /// <param name="settings">What this worker is.</param>
    /// <param name="cancellation">SIGTERM or SIGINT: stop taking requests, finish those under way, return within 10 s.</param>
    /// <returns>The process' exit code.</returns>
    public static async Task<int> Run(WorkerSettings settings, CancellationToken cancellation)
    {
        var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.Logging.ClearProviders().AddSimpleConsole(o => o.SingleLine = true).SetMinimumLevel(LogLevel.Warning);
        builder.WebHost.ConfigureKestrel(k =>
        {
            k.ListenLocalhostOnly(settings.ListenPort);
            if (settings.SidecarKind == SidecarKind.Embedded) k.ListenLocalhostOnly(settings.SidecarPort);
        });
        var app = builder.Build();
        var started = Environment.TickCount64;
        app.MapGet("/healthz", () => Results.Ok());
        app.MapGet("/readyz", () => Results.Ok());
        app.MapGet("/dapr/config", () => Results.Json(new { entities = new[] { $"Account@{settings.Name}" } }));
        object Status() => new
        {
            worker = settings.Name,
            pid = Environment.ProcessId,
            sidecarPid = settings.SidecarPid,
            redisPid = settings.RedisPid,
            uptimeMs = Environment.TickCount64 - started,
        };
        app.MapGet("/v1/status", () => Results.Json(Status()));
        app.MapGet("/v1.0/invoke/snapper/method/v1/status", () => Results.Json(Status()));
        await app.RunAsync(cancellation);
        return 0;
    }

    private static void ListenLocalhostOnly(this Microsoft.AspNetCore.Server.Kestrel.Core.KestrelServerOptions kestrel, int port) =>
        kestrel.Listen(System.Net.IPAddress.Loopback, port);
}
