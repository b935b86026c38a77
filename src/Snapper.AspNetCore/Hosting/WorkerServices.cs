using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Access;
using Snapper.Protocol.Channels;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Security;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What a worker's HTTP consists of: who is let in, and what is served, as services of its process.</summary>
internal static class WorkerServices
{
    /// <summary>Adds them. <see cref="WorkerSettings"/> and <see cref="WorkerParts"/> must be there, too.</summary>
    public static void Add(IServiceCollection services)
    {
        services.AddSingleton(static its =>
        {
            var settings = its.GetRequiredService<WorkerSettings>();
            return Security(its.GetRequiredService<IConfiguration>(), settings.AppApiToken, settings.Actors);
        });
        services.AddSingleton(static its => WorkerConfiguration.Worker(
            its.GetRequiredService<IConfiguration>(), its.GetRequiredService<WorkerSettings>()));
        services.AddSingleton(static its =>
        {
            var security = its.GetRequiredService<SecuritySettings>();
            return new RequestLimits(
                security.RatePerSecond, security.Burst,
                security.Tokens.Principals.Any(principal => principal.RatePerSecond is not null));
        });
        services.AddSingleton(static its => new RequestPlaces(
            its.GetRequiredService<WorkerOptions>().MaxInFlight, its.GetRequiredService<SecuritySettings>().Share));
        services.AddSingleton(static its => new ByteBudget(WorkerConfiguration.HeldBytes(
            its.GetRequiredService<WorkerOptions>(), GC.GetGCMemoryInfo().TotalAvailableMemoryBytes)));
        services.AddSingleton(static its => new MemoryHeadroom(
            its.GetRequiredService<ByteBudget>(), Log(its, "Snapper.Worker")));
        services.AddSingleton(static its => new AuditLog(
            its.GetRequiredService<WorkerSettings>().AuditFile, its.GetRequiredService<SecuritySettings>().Tokens,
            Log(its, "Snapper.Audit"), TimeProvider.System));
        services.AddSingleton(static its => WorkerConfiguration.Hosts(its.GetRequiredService<IConfiguration>()));
        services.AddSingleton(OptionsOf);
        services.AddSingleton(GateOf);
    }

    /// <summary>Maps the worker's addresses, which say what right each needs.</summary>
    /// <param name="endpoints">Where to.</param>
    /// <param name="isGuest">
    /// The application has addresses of its own: of those that are not ours nothing is said, and where both have one
    /// that is common among applications, as <c>/healthz</c>, theirs is served.
    /// </param>
    public static void Map(IEndpointRouteBuilder endpoints, bool isGuest)
    {
        var services = endpoints.ServiceProvider;
        var settings = services.GetRequiredService<WorkerSettings>();
        var (door, inspection, mailbox) = services.GetRequiredService<WorkerParts>();
        var options = services.GetRequiredService<ApiOptions>();
        inspection.Memory = services.GetRequiredService<MemoryHeadroom>().View;
        SnapperApi.Map(endpoints, door, inspection, options, () => inspection.Control, isGuest);
        var sidecar = endpoints.MapGroup("");
        sidecar.RequireRight(Right.Channel, Reach.Common);
        var gate = services.GetRequiredService<AuthorizationMiddleware>();
        sidecar.MapDaprActorHost(
            new SidecarActorHost(
                settings.Name, settings.Actors.Types, door, options, mailbox, gate, settings.Actors.HasResult,
                settings.Actors.TakesList),
            new DaprHostOptions
            {
                MapHealth = false,
                BesideOthers = isGuest,
                AppApiToken = "", // the gate has looked
                MaxBodyBytes = Math.Max(options.TransactionBodyBytesMax, new ChannelLimits().LargestPacket),
            });
        AuthorizationMiddleware.Verify(endpoints);
    }

    /// <summary>Who is let in, with what of it needs the sidecar's token.</summary>
    /// <exception cref="UsageException">It does, and there is none.</exception>
    /// <exception cref="FormatException">A setting is wrong.</exception>
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
            throw new UsageException(
                "Tokens are configured, and APP_API_TOKEN is not set: the sidecar has no other way to show who it is, "
                + "and without it anyone who reaches the port could call actors as the sidecar does. Set it for the "
                + "worker and its sidecar.");
        }

        return appApiToken is null && security.Methods.NamesApps
            ? throw new UsageException(
                "Rules of Snapper:Security:Methods name Dapr apps (app:...), and APP_API_TOKEN is not set: without it "
                + "anyone who reaches the port could claim to be one of them. Set it for the worker and its sidecar.")
            : security;
    }

    private static ApiOptions OptionsOf(IServiceProvider services)
    {
        var security = services.GetRequiredService<SecuritySettings>();
        var limits = services.GetRequiredService<RequestLimits>();
        var looks = security.TenantsApart || !security.Methods.IsEmpty || security.Tokens.Count > 0;
        return new ApiOptions
        {
            Rights = looks ? new TransactionAuthorization(security.Methods, security.TenantsApart) : null,
            Audit = services.GetRequiredService<AuditLog>(),
            Limits = limits.AreOff ? null : limits,
            Places = services.GetRequiredService<RequestPlaces>(),
            Bytes = new ByteShares(
                services.GetRequiredService<ByteBudget>(), security.Share, 2 * new ApiOptions().BatchBodyBytesMax),
        };
    }

    private static AuthorizationMiddleware GateOf(IServiceProvider services)
    {
        var security = services.GetRequiredService<SecuritySettings>();
        var options = services.GetRequiredService<ApiOptions>();
        return new AuthorizationMiddleware(
            security.Tokens, services.GetRequiredService<WorkerSettings>().AppApiToken,
            services.GetRequiredService<RequestLimits>(), options.Audit!, options.Rights is not null,
            security.SidecarMayTransact);
    }

    private static ILogger Log(IServiceProvider services, string category) =>
        services.GetRequiredService<ILoggerFactory>().CreateLogger(category);
}
