using Snapper.AspNetCore;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Security;

namespace Snapper.Server.Hosting;

/// <summary>The web application of a worker: who is let in, and what is served.</summary>
internal static class WorkerWeb
{
    /// <summary>Puts it together; it listens when it is started.</summary>
    /// <param name="settings">What this worker is.</param>
    /// <param name="door">Where transactions go.</param>
    /// <param name="inspection">What can be seen.</param>
    /// <param name="mailbox">Where packets of other workers go.</param>
    /// <param name="configure">Adds configuration to the files and the environment; null: none.</param>
    /// <exception cref="FormatException">A setting is wrong; the message names it. Also <see cref="UsageException"/>.</exception>
    public static WebApplication Build(WorkerSettings settings, LifecycleGate door, InspectionSwitch inspection, MailboxEndpoint mailbox, Action<IConfigurationBuilder>? configure = null)
    {
        var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        configure?.Invoke(builder.Configuration);
        SnapperSettings.CheckSections(builder.Configuration);
        builder.Logging.ClearProviders().AddSimpleConsole(console =>
        {
            console.SingleLine = true;
            console.UseUtcTimestamp = true;
            console.TimestampFormat = "yyyy-MM-ddTHH:mm:ss.fffZ ";
        });
        builder.Logging.SetMinimumLevel(LogLevel.Warning).AddFilter("Snapper", LogLevel.Information)
            .AddFilter("Microsoft.Extensions.Hosting.Internal.Host", LogLevel.None) // It prints the trace of what we say in words.
            .AddFilter(SilentConnections.RefusedLog, LogLevel.Error);
        builder.Services.AddSingleton(ServerActors.SmallBank(builder.Configuration));
        builder.Services.AddSingleton(settings);
        builder.Services.AddSingleton(new WorkerParts(door, inspection, mailbox));
        WorkerServices.Add(builder.Services);
        builder.WebHost.ConfigureKestrel(server =>
        {
            new ApiListener().ApplyLimits(server, new ApiOptions());
            ApiListener.Listen(server, settings.ListenAddress, settings.ListenPort);
            if (settings.AppPort > 0)
            {
                ApiListener.ListenToSidecar(server, settings.AppPort, settings.AppProtocol);
            }

            if (settings.MetricsPort > 0)
            {
                ApiListener.Listen(server, settings.ListenAddress, settings.MetricsPort);
            }
        });
        var app = builder.Build();
        app.Services.GetRequiredService<HostRules>().Use(app);
        MetricsPort.Use(app, settings.MetricsPort);
        var retryAfter = app.Services.GetRequiredService<ApiOptions>().RetryAfter;
        app.Services.GetRequiredService<RequestPlaces>().Use(app, settings.AppPort, retryAfter);
        app.Services.GetRequiredService<AuthorizationMiddleware>().Use(app);
        WorkerServices.Map(app, isGuest: false);
        return app;
    }
}
