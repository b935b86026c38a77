using System.Globalization;
using System.Net.Sockets;
using Snapper.AspNetCore.Processes;
using Snapper.Cluster;
using Snapper.Cluster.Links;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Membership;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Embedded;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.Remembering;
using Snapper.Telemetry;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// One worker in a process whose HTTP listens already, and says "starting": its log, recovery, the door, and its end.
/// </summary>
/// <param name="settings">What this worker is.</param>
/// <param name="options">What configuration makes of it.</param>
/// <param name="services">
/// Of the process: logging, what actors are made with, and what <see cref="WorkerParts"/> adds.
/// </param>
/// <param name="configuration">Of the process.</param>
/// <param name="parts">What HTTP knows of the worker.</param>
internal sealed class WorkerRun(
    WorkerSettings settings, WorkerOptions options, IServiceProvider services, IConfiguration configuration,
    WorkerParts parts) : IAsyncDisposable
{
    /// <summary>For what is said at the end, to the sidecar and to callers.</summary>
    public static readonly TimeSpan AnswersWithin = TimeSpan.FromSeconds(1);

    private readonly ILogger _logger =
        services.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Worker");

    private const string SidecarPlace =
        " (Snapper:SidecarPort says which, for the embedded stand-in. A daprd that listens "
        + "there is used when DAPR_HTTP_PORT names its port, or Snapper:Sidecar is Daprd.)";

    private EmbeddedSidecar? _embedded;
    private DaprSidecarClient? _sidecar;
    private TelemetryExport? _telemetry;
    private Storage? _storage;
    private LinkTransport? _links;

    // Read before the log is opened, so that what is wrong is said at once, also where the worker turns out to be
    // alone.
    private readonly DirectLinkOptions? _direct = Configured(
        () => LinkConfiguration.Read(configuration, (settings.MailboxSeal ?? MailboxSeal.None).LinkKeys));

    /// <summary>
    /// Serves until cancelled, then drains and returns. HTTP still listens then: answers are on their way.
    /// </summary>
    /// <param name="cancellation">
    /// SIGTERM or SIGINT: give what it owns to the others if the settings say so, stop taking requests, finish those
    /// under way, return within 10 s.
    /// </param>
    /// <param name="force">A second signal: whatever it still gives away stays.</param>
    /// <returns>
    /// 0, or why it stopped by itself: <see cref="ExitCode.MustRestart"/>, <see cref="ExitCode.LogLost"/>,
    /// <see cref="ExitCode.LogDamaged"/>, <see cref="ExitCode.OtherPlacement"/>.
    /// </returns>
    public async Task<int> Serve(CancellationToken cancellation, CancellationToken force)
    {
        var logger = _logger;
        var inspection = parts.Inspection;
        await Listening(async () => _embedded = await StartEmbedded(cancellation), SidecarPlace);
        var failed = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        var sidecar = _sidecar = settings.SidecarKind != SidecarKind.Daprd ? null : new DaprSidecarClient(
            new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{settings.SidecarPort}")),
            settings.DaprApiToken);
        _telemetry = Configured(() => TelemetryExport.Start(
            TelemetryOptions.Read(Environment.GetEnvironmentVariable),
            services.GetService<ApplicationTelemetry>() ?? new ApplicationTelemetry(), settings.Name,
            WorkerConfiguration.Version, inspection, logger));
        if (settings.FirstWorkers is not null && sidecar is not null)
        {
            StartLinks(sidecar); // a port that is taken is told before the log is waited for
        }

        var replicas = Configured(() => WorkerConfiguration.Log(configuration, settings.LogKind));
        var storage = _storage = await Storage.Open(
            settings, replicas, options.IdempotencyWindow, logger, cancellation);
        storage.LogOpened = () => inspection.Doing = InspectionSwitch.Recovering;
        WorkerHost? worker;
        try
        {
            worker = await StartWorker(storage, sidecar, failed, cancellation);
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            return ExitCode.Success;
        }
        catch (LostLogException lost)
        {
            ServerLog.LogLost(logger, lost.Message);
            return ExitCode.LogLost;
        }
        catch (CorruptLogException damage)
        {
            ServerLog.LogDamaged(logger, storage.Place, damage.Message);
            return ExitCode.LogDamaged;
        }
        catch (PlacementMismatchException mismatch)
        {
            ServerLog.OtherPlacement(logger, mismatch.Message);
            return mismatch.IsForGood ? ExitCode.OtherPlacement : ExitCode.MustRestart;
        }
        catch (LogLostException lost)
        {
            // Another worker opened the log while this one was recovering from it.
            ServerLog.LogNotReachable(logger, lost.Message);
            return ExitCode.MustRestart;
        }

        storage.StartRemembering();
        inspection.Open(worker.Inspection, worker.Control);
        parts.Door.Open(worker.Door);
        var among = new ClusterLifecycle(settings, worker.Control, inspection, logger);
        among.Come(cancellation);
        var stop = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (cancellation.Register(stop.SetResult))
        {
            await Task.WhenAny(stop.Task, failed.Task);
        }

        if (await among.Go(failed.Task, force))
        {
            await among.EndSidecar(sidecar,
                AnswersWithin); // calls at the actor door are refused here already: the sooner they go elsewhere
        }

        // The gate stays open: from here on the worker refuses by itself, and it alone knows of which ids it may say
        // that they were not executed.
        if (failed.Task.IsCompleted)
        {
            // Nothing in memory can be trusted: no draining, no last checkpoint. The log has everything that was
            // acknowledged; if it
            // has not, the next start shall notice.
            storage.Remember();
            return ExitCode.MustRestart;
        }

        await worker.Stop();
        storage.Remember();

        await among.EndSidecar(sidecar, AnswersWithin);
        return ExitCode.Success;
    }

    public async ValueTask DisposeAsync()
    {
        if (_links is not null) await _links.DisposeAsync();
        if (_storage is not null) await _storage.DisposeAsync();
        if (_telemetry is not null) await _telemetry.DisposeAsync();
        _sidecar?.Dispose();
        if (_embedded is not null) await _embedded.DisposeAsync();
    }

    /// <summary>
    /// Configuration comes from files and the environment, of which the web server reads more than we do: what it says
    /// of a wrong value is a message, not a crash.
    /// </summary>
    public static T Configured<T>(Func<T> build)
    {
        try
        {
            return build();
        }
        catch (Exception wrong) when (IsWrongSetting(wrong) || wrong is IOException)
        {
            throw Wrong(wrong);
        }
    }

    /// <summary>The same for what listens at ports.</summary>
    /// <param name="start">Listens.</param>
    /// <param name="where">What the message adds.</param>
    public static async Task Listening(Func<Task> start, string where = "")
    {
        try
        {
            await start();
        }
        catch (Exception problem) when (problem is IOException or SocketException)
        {
            throw new StartupException($"a port cannot be listened on: {problem.Message}{where}");
        }
        catch (Exception wrong) when (IsWrongSetting(wrong))
        {
            throw Wrong(wrong);
        }
    }

    private static UsageException Wrong(Exception setting) =>
        new($"The configuration is wrong: {setting.Message} What helps: {FixHints.Setting}.");

    private static bool IsWrongSetting(Exception exception) =>
        exception is FormatException or InvalidOperationException or ArgumentException or InvalidDataException;

    private async Task<EmbeddedSidecar?> StartEmbedded(CancellationToken cancellation) =>
        settings.SidecarKind != SidecarKind.Embedded ? null : await EmbeddedSidecar.Start(
            new EmbeddedSidecarOptions
            {
                AppId = settings.AppId,
                AppPort = settings.ListenPort,
                Port = settings.SidecarPort,
                ApiToken = settings.DaprApiToken,
                AppApiToken = settings.AppApiToken,
                LoggerFactory = services.GetRequiredService<ILoggerFactory>(),
            },
            cancellation);

    /// <summary>
    /// Null: the worker is alone, and so is what it finds. On what several have divided nobody runs alone: the last
    /// changes of the others may be in their logs only (R4).
    /// </summary>
    /// <exception cref="UsageException">
    /// It should run alone, without daprd, on what several have divided; or it has others, and no secret, or results
    /// that do not go between them.
    /// </exception>
    private async Task<ClusterSetup?> Cluster(
        Storage storage, DaprSidecarClient? sidecar, CancellationToken cancellation)
    {
        if (settings.FirstWorkers is null)
        {
            if (!await storage.IsDivided(cancellation))
            {
                return null;
            }

            ServerLog.JoinsSeveral(_logger, settings.Name);
        }

        if (sidecar is null)
        {
            throw new UsageException(
                $"The actors in {storage.Place} were divided among several workers, which speak through daprd: start without the embedded sidecar.");
        }

        var seal = settings.MailboxSeal ?? throw MailboxSeal.IsMissing();
        WorkerConfiguration.ForSeveral(options);
        storage.JoinsOthers();
        var cluster = WorkerConfiguration.Cluster(configuration);
        StartLinks(sidecar);
        return new ClusterSetup
        {
            OpenStore = self => storage.OpenCluster(self, cluster),
            ArchiveOf = storage.ArchiveOf,
            Transport = (IMailboxTransport?)_links ?? new SidecarMailboxTransport(sidecar, seal),
            Opened = hub =>
            {
                parts.Mailbox.Open(hub);
                _links?.Open(hub);
            },
            Address = new MemberAddress(
                settings.AppId,
                settings.Url ?? $"http://127.0.0.1:{settings.ListenPort.ToString(CultureInfo.InvariantCulture)}",
                Environment.ProcessId, WorkerConfiguration.Version, _links?.Address.ToString() ?? ""),
            Options = cluster,
            FirstWorkers = settings.FirstWorkers ?? 1,
            Balancing = WorkerConfiguration.Balancing(configuration),
        };
    }

    private void StartLinks(DaprSidecarClient sidecar)
    {
        if (_direct is not null && settings.MailboxSeal is { } seal)
        {
            _links ??= LinkConfiguration.Start(_direct, new SidecarMailboxTransport(sidecar, seal), _logger);
        }
    }

    /// <summary>
    /// Tries until the log can be reached: a worker that starts before its Redis waits for it, and says so.
    /// </summary>
    private async Task<WorkerHost> StartWorker(
        Storage storage, DaprSidecarClient? sidecar, TaskCompletionSource<Exception> failed,
            CancellationToken cancellation)
    {
        var inspection = parts.Inspection;
        var warmUp = settings.WarmUp;
        for (var pause = 50; ; pause = Math.Min(pause * 2, 1000))
        {
            try
            {
                await storage.Prepare(cancellation);
                if (warmUp is not null && await storage.IsNeededByNobody(options.Number, cancellation))
                {
                    inspection.Doing = "warming up, before it comes to the others";
                    await warmUp(settings.Name, () => storage.IsNeededByNobody(options.Number, cancellation), _logger,
                        cancellation);
                    warmUp = null;
                    inspection.Doing = InspectionSwitch.Recovering;
                }

                var setup = await Cluster(storage, sidecar, cancellation);
                var worker = await WorkerHost.Start(
                    new WorkerSetup
                    {
                        Options = options,
                        ActorTypes = settings.Actors.Descriptors,
                        Log = storage.Log,
                        Store = storage.Store,
                        Services = services,
                        Bytes = services.GetRequiredService<ByteBudget>(),
                        ReadStoreMemory = storage.ReadMemory,
                        Cluster = setup,
                        Observer = _telemetry,
                        Logger = _logger,
                        Failed = exception => failed.TrySetResult(exception),
                        Surroundings = () => new EnvironmentInfo(
                            settings.SidecarKind == SidecarKind.Embedded ? "embedded" : "daprd",
                            settings.SidecarPid, settings.RedisPid, storage.Durability,
                                WorkerConfiguration.Version) { Redis = storage.Memory },
                    },
                    cancellation);
                try
                {
                    // Others may have divided the actors before this log was open, so that nothing fenced it (R4). No
                    // request is let in yet.
                    if (setup is not null || !await storage.IsDivided(cancellation))
                    {
                        return worker;
                    }
                }
                catch
                {
                    await worker.DisposeAsync(); // else two would run in this process once the store answers again
                    throw;
                }

                await worker.DisposeAsync();
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                ServerLog.LogNotReachable(_logger, exception.Message);
                inspection.Doing = $"waiting for its log: {exception.Message}";
                await Task.Delay(pause, cancellation);
            }
        }
    }
}
