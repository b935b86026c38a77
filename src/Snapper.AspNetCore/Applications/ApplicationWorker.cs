using System.Net;
using System.Reflection;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Runtime.Execution;

namespace Snapper.AspNetCore.Applications;

/// <summary>
/// The worker of a web application: begins once its HTTP listens, and ends before it stops listening. A worker that
/// stops by itself stops the application with its exit code.
/// </summary>
internal sealed class ApplicationWorker(
    WorkerSettings settings, WorkerParts parts, ApplicationEndpoints mapped, IServiceProvider services,
    IConfiguration configuration, IServer server, IHostEnvironment host, IHostApplicationLifetime lifetime,
    ILogger<ApplicationWorker> logger)
    : IHostedLifecycleService, IAsyncDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _force = new();
    private WorkerRun? _run;
    private Task _serving = Task.CompletedTask;

    /// <summary>What can be wrong is said here, before anything listens.</summary>
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        if (mapped.Endpoints is not { } endpoints)
        {
            throw new InvalidOperationException("AddSnapper needs app.MapSnapper(), too: nothing serves the worker.");
        }

        PackageVersions.Check(Assembly.GetEntryAssembly());
        MakeFolder();
        await settings.Actors.Check(services);
        await new SharedDaprConfig(endpoints).Check(
            SidecarActorHost.TypesOf(settings.Name, settings.Actors.Types), services);
        _run = new WorkerRun(settings, services.GetRequiredService<WorkerOptions>(), services, configuration, parts);
        services.GetRequiredService<MemoryHeadroom>().Start();
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken)
    {
        settings.ListenPort = Port();
        ApplicationLog.KeepsDataIn(logger, settings.Name, settings.AppId, settings.DataDirectory);
        if (settings.SidecarKind == SidecarKind.Embedded)
        {
            var level = host.IsDevelopment() ? LogLevel.Information : LogLevel.Warning;
            ApplicationLog.StandsIn(logger, level, settings.SidecarPort);
        }

        _serving = Task.Run(Serve, CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <summary>
    /// Gives the worker up to 10 s for what is under way, and what the settings say to give away what it owns.
    /// </summary>
    public async Task StoppingAsync(CancellationToken cancellationToken)
    {
        await using var hurry = cancellationToken.Register(_force.Cancel);
        await _stop.CancelAsync();
        await _serving;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Nothing is answered any more.</summary>
    public async Task StoppedAsync(CancellationToken cancellationToken) => await DisposeAsync();

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _run, null) is { } run) await run.DisposeAsync();
    }

    private async Task Serve()
    {
        try
        {
            var code = await _run!.Serve(_stop.Token, _force.Token);
            if (code != ExitCode.Success) Stop(code);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // It was stopped before it served: nothing was begun.
        }
        catch (CommandException wrong)
        {
            ApplicationLog.CannotServe(logger, wrong.Message);
            Stop(wrong.ExitCode);
        }
        catch (Exception defect)
        {
            ApplicationLog.Failed(logger, defect);
            Stop(ExitCode.MustRestart);
        }
    }

    private void Stop(int code)
    {
        Environment.ExitCode = code;
        ApplicationLog.Stops(logger, settings.Name, code);
        mapped.CutOff();
        lifetime.StopApplication();
    }

    private void MakeFolder()
    {
        try
        {
            FileModeMask.MakeFolder(settings.DataDirectory);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            throw new StartupException(
                $"the data directory {settings.DataDirectory} cannot be made: {problem.Message}");
        }

        DataDirectoryPermissions.CloseFolders(
            settings.DataDirectory, problem => ApplicationLog.OthersMayLook(logger, problem));
    }

    /// <summary>Where the sidecar calls the application: a port without TLS that loopback reaches.</summary>
    private int Port()
    {
        var listens = server.Features.Get<IServerAddressesFeature>()?.Addresses ?? [];
        var addresses = listens.Select(BindingAddress.Parse).ToArray();
        var token = settings.AppApiToken?.Length >= WorkerSettings.AppApiTokenLengthMin;
        if (!token && addresses.FirstOrDefault(static one => !one.IsUnixPipe && !IsLoopback(one.Host)) is { } open)
        {
            throw new UsageException(
                $"The application listens on {open}, which other machines reach, and APP_API_TOKEN is not set, or has "
                + $"fewer than {WorkerSettings.AppApiTokenLengthMin} characters: anyone who reaches the port could run "
                + "every method. Set it for the application and its sidecar, or listen on localhost "
                + "(ASPNETCORE_URLS).");
        }

        return addresses.FirstOrDefault(static one => one.Scheme == "http" && !one.IsUnixPipe)?.Port
            ?? throw new UsageException(
                "The application listens at no http:// address, where its sidecar could call it: give it one, as "
                + "http://localhost:5000 (ASPNETCORE_URLS, or Urls in appsettings.json).");
    }

    private static bool IsLoopback(string host) =>
        host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(host.Trim('[', ']'), out var address) && IPAddress.IsLoopback(address));
}
