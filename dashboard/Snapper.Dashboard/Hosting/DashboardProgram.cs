using System.Globalization;
using Microsoft.AspNetCore.Components.Endpoints;
using Microsoft.AspNetCore.DataProtection;
using Snapper.Dashboard.Access;
using Snapper.Dashboard.Actions;
using Snapper.Dashboard.Layout;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Workers;
using Snapper.Security;

namespace Snapper.Dashboard.Hosting;

/// <summary>Puts the parts together.</summary>
internal static class DashboardProgram
{
    /// <summary>Runs until told to stop; 0, or 2 when it refuses to start.</summary>
    public static async Task<int> Run(string[] arguments, TextWriter errors)
    {
        try
        {
            var settings = DashboardSettings.Read(arguments, Environment.GetEnvironmentVariable);
            await using var app = Build(settings);
            await app.StartAsync();
            errors.WriteLine($"snapper dashboard: {string.Join(", ", app.Urls)}, workers {string.Join(", ", settings.Workers)}");
            await app.WaitForShutdownAsync();
            return 0;
        }
        catch (Exception problem) when (problem is FormatException or IOException)
        {
            errors.WriteLine($"snapper dashboard: {problem.Message}");
            return 2;
        }
    }

    /// <summary>The server, not started.</summary>
    /// <param name="settings">What it is told.</param>
    /// <param name="configure">Adds configuration to the files and the environment; null: none.</param>
    /// <exception cref="FormatException">A setting is wrong, or it would be open to others without a sign-in.</exception>
    public static WebApplication Build(DashboardSettings settings, Action<IConfigurationBuilder>? configure = null)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        configure?.Invoke(builder.Configuration);
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Logging.AddFilter("Snapper.Dashboard", LogLevel.Information);

        // A browser that was open before a restart brings a cookie of then, and gets a new one.
        builder.Logging.AddFilter("Microsoft.AspNetCore.Antiforgery", LogLevel.Critical);
        builder.Logging.AddFilter(SilentConnections.RefusedLog, LogLevel.Error);
        builder.WebHost.ConfigureKestrel(kestrel => Listen.On(kestrel, settings));
        builder.WebHost.UseKestrelHttpsConfiguration();
        var services = builder.Services;
        var tokens = SecuritySettings.Read(builder.Configuration).Tokens;
        if (Listen.Refusal(settings, SignIn.IsOn(tokens)) is { } why) throw new FormatException(why);
        SignIn.Add(services, tokens, settings.IsBehindTls);
        services.AddSingleton(settings);
        services.AddSingleton<WorkerApi>();
        services.AddSingleton<Fleet>();
        services.AddSingleton<Feeds>();
        services.AddSingleton<Streams>();
        services.AddHostedService(provider => provider.GetRequiredService<Streams>());
        services.AddSingleton<Poller>();
        services.AddHostedService(provider => provider.GetRequiredService<Poller>());
        services.AddHostedService<ParentWatch>();
        services.AddSingleton<WarmUp>();
        services.AddHostedService(provider => provider.GetRequiredService<WarmUp>());
        services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(2));
        services.AddDataProtection().UseEphemeralDataProtectionProvider();
        services.AddSingleton(TimeProvider.System);
        services.AddSingleton<Handover>();
        services.AddSingleton<FirstLooks>();
        services.AddScoped<FirstLook>();
        services.AddScoped<RefreshTimer>();
        services.AddScoped<Holder>();
        services.AddScoped<OperatorActions>();
        services.AddRazorComponents().AddInteractiveServerComponents(circuits =>
        {
            circuits.DisconnectedCircuitMaxRetained = 20;
            circuits.DisconnectedCircuitRetentionPeriod = TimeSpan.FromMinutes(1);
        });

        var app = builder.Build();

        // HEAD of a page or a file is GET, whose body the web server leaves out. The connections of pages, below /_blazor, are neither.
        app.Use((context, next) =>
        {
            if (HttpMethods.IsHead(context.Request.Method) && !context.Request.Path.StartsWithSegments("/_blazor")) context.Request.Method = HttpMethods.Get;
            return next(context);
        });
        app.UseRouting(); // behind it: which endpoint it is depends on the method
        Listen.Guard(app, settings);
        SignIn.Guard(app);

        // Whoever mistypes an address in a browser gets a page that says so, with the status all the same.
        app.Use((context, next) =>
        {
            // At the last moment: what is 404 before it is drawn is not drawn.
            if (context.GetEndpoint()?.Metadata.GetMetadata<ComponentTypeMetadata>()?.Type == typeof(NotFoundPage))
            {
                context.Response.OnStarting(() =>
                {
                    if (context.Response.StatusCode == StatusCodes.Status200OK) context.Response.StatusCode = StatusCodes.Status404NotFound;
                    return Task.CompletedTask;
                });
            }

            return next(context);
        });
        app.UseAntiforgery();
        SignIn.Map(app);
        BrowserFiles.Map(app);
        StateExport.Map(app);

        // Whoever waits for this before he opens a browser finds it warm.
        app.MapGet("/healthz", async (WarmUp warmUp) =>
        {
            await warmUp.Done;
            return Results.Text("ok");
        });
        app.MapRazorComponents<App>().AddInteractiveServerRenderMode();
        return app;
    }
}
