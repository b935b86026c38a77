using System.Net;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Protocol.Channels;
using Snapper.Runtime.Door;
using Snapper.Security;
using Snapper.Sidecar.Hosting;

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
        var security = Security(builder.Configuration, settings.AppApiToken, settings.Actors);
        var limits = new RequestLimits(security.RatePerSecond, security.Burst, security.Tokens.Principals.Any(principal => principal.RatePerSecond is not null));
        builder.Services.AddSingleton(limits);

        var worker = WorkerConfiguration.Worker(builder.Configuration, settings);
        var places = new RequestPlaces(worker.MaxInFlight, security.Share);
        builder.Services.AddSingleton(places);
        var bytes = new ByteBudget(
            WorkerConfiguration.HeldBytes(worker, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes));
        builder.Services.AddSingleton(bytes);
        builder.Services.AddSingleton(services => new MemoryHeadroom(
            bytes, services.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Worker")));
        builder.Services.AddSingleton(services => new AuditLog(
            settings.AuditFile, security.Tokens, services.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Audit"), TimeProvider.System));
        builder.WebHost.ConfigureKestrel(server =>
        {
            new ApiListener().ApplyLimits(server, new ApiOptions());
            ApiListener.Listen(server, settings.ListenAddress, settings.ListenPort);
            if (settings.AppPort > 0)
            {
                ApiListener.Listen(server, IPAddress.Loopback, settings.AppPort);
            }

            if (settings.MetricsPort > 0)
            {
                ApiListener.Listen(server, settings.ListenAddress, settings.MetricsPort);
            }
        });
        var app = builder.Build();
        var options = new ApiOptions
        {
            Rights = security.TenantsApart || !security.Methods.IsEmpty || security.Tokens.Count > 0 ? new TransactionAuthorization(security.Methods, security.TenantsApart) : null,
            Audit = app.Services.GetRequiredService<AuditLog>(),
            Limits = limits.AreOff ? null : limits,
            Places = places,
            Bytes = new ByteShares(bytes, security.Share, 2 * new ApiOptions().BatchBodyBytesMax),
        };
        inspection.Memory = app.Services.GetRequiredService<MemoryHeadroom>().View;
        var gate = new AuthorizationMiddleware(security.Tokens, settings.AppApiToken, limits, options.Audit, options.Rights is not null, security.SidecarMayTransact);
        WorkerConfiguration.Hosts(app.Configuration).Use(app);
        MetricsPort.Use(app, settings.MetricsPort);
        places.Use(app, settings.AppPort, options.RetryAfter);
        gate.Use(app);
        SnapperApi.Map(app, door, inspection, options, () => inspection.Control);
        var sidecar = app.MapGroup("");
        sidecar.RequireRight(Right.Channel, Reach.Common);
        sidecar.MapDaprActorHost(
            new SidecarActorHost(settings.Name, settings.Actors.Types, door, options, mailbox, gate),
            new DaprHostOptions
            {
                MapHealth = false,
                AppApiToken = "", // the gate has looked
                MaxBodyBytes = Math.Max(options.TransactionBodyBytesMax, new ChannelLimits().LargestPacket),
            });
        AuthorizationMiddleware.Verify(app);
        return app;
    }

    /// <summary>Who is let in, with what of it needs the sidecar's token.</summary>
    /// <exception cref="UsageException">It does, and there is none. Also <see cref="FormatException"/>: a setting is wrong.</exception>
    internal static SecuritySettings Security(IConfiguration configuration, string? appApiToken, HostedActors actors)
    {
        var security = SecuritySettings.Read(configuration);
        var tokens = security.Tokens.Principals.Select(principal => principal.Name).ToHashSet(StringComparer.Ordinal);
        if (security.Methods.FindUnknown(actors.HasMethod, tokens) is { } unknown)
        {
            throw new UsageException($"{SecuritySettings.Section}:Methods: {unknown}");
        }

        if (appApiToken is null && security.Tokens.Count > 0)
        {
            throw new UsageException("Tokens are configured, and APP_API_TOKEN is not set: the sidecar has no other way to show who it is, and without it whoever reaches the port could call actors as the sidecar does. Set it for the worker and its sidecar.");
        }

        return appApiToken is null && security.Methods.NamesApps
            ? throw new UsageException("Rules of Snapper:Security:Methods name Dapr apps (app:...), and APP_API_TOKEN is not set: without it whoever reaches the port could say that he is one of them. Set it for the worker and its sidecar.")
            : security;
    }
}
