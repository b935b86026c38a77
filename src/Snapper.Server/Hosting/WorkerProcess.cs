using System.Globalization;
using System.Net.Sockets;
using Snapper.Cluster;
using Snapper.Cluster.Membership;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Server.Api;
using Snapper.Server.Processes;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Embedded;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.Remembering;
using Snapper.Telemetry;

namespace Snapper.Server.Hosting;

/// <summary>
/// One worker process, put together: HTTP first, so that it can say "starting"; then the log, recovery, and the door.
/// The only place where the server's parts meet.
/// </summary>
internal static class WorkerProcess
{
    private static readonly TimeSpan AnswersWithin = TimeSpan.FromSeconds(1);

    /// <summary>Serves until cancelled, then drains and returns.</summary>
    /// <param name="settings">What this worker is.</param>
    /// <param name="cancellation">
    /// SIGTERM or SIGINT: give what it owns to the others if the settings say so, stop taking requests, finish those under way, return within 10 s.
    /// </param>
    /// <param name="force">A second signal: whatever it still gives away stays.</param>
    /// <returns>0, or why it stopped by itself: <see cref="ExitCode.MustRestart"/>, <see cref="ExitCode.LogLost"/>, <see cref="ExitCode.LogDamaged"/>, <see cref="ExitCode.OtherPlacement"/>.</returns>
    public static async Task<int> Run(WorkerSettings settings, CancellationToken cancellation, CancellationToken force = default)
    {
        var door = new LifecycleGate();
        var inspection = new InspectionSwitch(settings);
        var mailbox = new MailboxEndpoint(settings.MailboxSeal);
        await using var app = Configured(() => WorkerWeb.Build(settings, door, inspection, mailbox));
        var options = Configured(() => WorkerConfiguration.Worker(app.Configuration, settings));
        settings.Actors.Check(app.Services);
        var logger = app.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Snapper.Worker");
        app.Services.GetRequiredService<MemoryHeadroom>().Start();
        await Listening(() => app.StartAsync(cancellation));
        EmbeddedSidecar? started = null;
        await Listening(async () => started = await StartEmbedded(settings, app, cancellation));
        await using var embedded = started;

        var failed = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        using var sidecar = settings.SidecarKind != SidecarKind.Daprd ? null : new DaprSidecarClient(
            new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{settings.SidecarPort}")),
            settings.DaprApiToken);
        await using var telemetry = Configured(() => TelemetryExport.Start(TelemetryOptions.Read(Environment.GetEnvironmentVariable), settings.Name, WorkerConfiguration.Version, inspection, logger));
        await using var storage = await Storage.Open(settings, options.IdempotencyWindow, logger, cancellation);
        WorkerHost? worker;
        try
        {
            worker = await StartWorker(settings, options, app, inspection, storage, telemetry, () => Cluster(
                settings, options, app, storage, mailbox, sidecar, logger, cancellation), failed, logger, cancellation);
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
        door.Open(worker.Door);
        var among = new ClusterLifecycle(settings, worker.Control, inspection, logger);
        among.Come(cancellation);
        var stop = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (cancellation.Register(stop.SetResult))
        {
            await Task.WhenAny(stop.Task, failed.Task);
        }

        if (await among.Go(failed.Task, force))
        {
            await among.EndSidecar(sidecar, AnswersWithin); // calls at the actor door are refused here already: the sooner they go elsewhere
        }

        // The gate stays open: from here on the worker refuses by itself, and it alone knows of which ids it may say
        // that they were not executed.
        if (failed.Task.IsCompleted)
        {
            // Nothing in memory can be trusted: no draining, no last checkpoint. The log has everything that was acknowledged; if it
            // has not, the next start shall notice.
            storage.Remember();
            return ExitCode.MustRestart;
        }

        await worker.Stop();
        storage.Remember();

        await among.EndSidecar(sidecar, AnswersWithin);

        // Answers are on their way. Whoever is still not answered has outlasted the drain, and is cut off.
        using var flush = new CancellationTokenSource(AnswersWithin);
        await app.StopAsync(flush.Token);
        return 0;
    }

    /// <summary>Configuration comes from files and the environment, of which the web server reads more than we do: what it says of a wrong value is a message, not a crash.</summary>
    private static T Configured<T>(Func<T> build)
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

    private static async Task Listening(Func<Task> start)
    {
        try
        {
            await start();
        }
        catch (Exception problem) when (problem is IOException or SocketException)
        {
            throw new StartupException($"a port cannot be listened on: {problem.Message}");
        }
        catch (Exception wrong) when (IsWrongSetting(wrong))
        {
            throw Wrong(wrong);
        }
    }

    private static UsageException Wrong(Exception setting) => new($"The configuration is wrong: {setting.Message} What helps: {FixHints.Setting}.");

    private static bool IsWrongSetting(Exception exception) => exception is FormatException or InvalidOperationException or ArgumentException or InvalidDataException;

    private static async Task<EmbeddedSidecar?> StartEmbedded(WorkerSettings settings, WebApplication app, CancellationToken cancellation) =>
        settings.SidecarKind != SidecarKind.Embedded ? null : await EmbeddedSidecar.Start(
            new EmbeddedSidecarOptions
            {
                AppId = settings.AppId,
                AppPort = settings.ListenPort,
                Port = settings.SidecarPort,
                ApiToken = settings.DaprApiToken,
                AppApiToken = settings.AppApiToken,
                LoggerFactory = app.Services.GetRequiredService<ILoggerFactory>(),
            },
            cancellation);

    /// <summary>Null: the worker is alone, and so is what it finds. On what several have divided nobody runs alone: the last changes of the others may be in their logs only (R4).</summary>
    /// <exception cref="UsageException">
    /// It should run alone, without daprd, on what several have divided; or it has others, and no secret, or results
    /// that do not go between them.
    /// </exception>
    private static async Task<ClusterSetup?> Cluster(
        WorkerSettings settings, WorkerOptions worker, WebApplication app, Storage storage, MailboxEndpoint mailbox,
            DaprSidecarClient? sidecar, ILogger logger, CancellationToken cancellation)
    {
        if (settings.FirstWorkers is null)
        {
            if (!await storage.IsDivided(cancellation))
            {
                return null;
            }

            ServerLog.JoinsSeveral(logger, settings.Name);
        }

        if (sidecar is null)
        {
            throw new UsageException($"The actors in {storage.Place} were divided among several workers, which speak through daprd: start without the embedded sidecar.");
        }

        var seal = settings.MailboxSeal ?? throw MailboxSeal.IsMissing();
        WorkerConfiguration.ForSeveral(worker);
        storage.JoinsOthers();
        var options = WorkerConfiguration.Cluster(app.Configuration);
        return new ClusterSetup
        {
            OpenStore = self => storage.OpenCluster(self, options),
            ArchiveOf = storage.ArchiveOf,
            Transport = new SidecarMailboxTransport(sidecar, seal),
            Opened = mailbox.Open,
            Address = new MemberAddress(
                settings.AppId,
                settings.Url ?? $"http://127.0.0.1:{settings.ListenPort.ToString(CultureInfo.InvariantCulture)}",
                Environment.ProcessId, WorkerConfiguration.Version),
            Options = options,
            FirstWorkers = settings.FirstWorkers ?? 1,
            Balancing = WorkerConfiguration.Balancing(app.Configuration),
        };
    }

    /// <summary>Tries until the log can be reached: a worker that starts before its Redis waits for it, and says so.</summary>
    private static async Task<WorkerHost> StartWorker(
        WorkerSettings settings, WorkerOptions options, WebApplication app, InspectionSwitch inspection, Storage storage, TelemetryExport? telemetry, Func<Task<ClusterSetup?>> cluster,
        TaskCompletionSource<Exception> failed, ILogger logger, CancellationToken cancellation)
    {
        var isCold = settings.WarmUp;
        for (var pause = 50; ; pause = Math.Min(pause * 2, 1000))
        {
            try
            {
                await storage.Prepare(cancellation);
                if (isCold && await storage.IsNeededByNobody(options.Number, cancellation))
                {
                    isCold = false;
                    inspection.Doing = "warming up, before it comes to the others";
                    await WarmUp.Run(settings.Name, WarmUp.AtMost, () => storage.IsNeededByNobody(options.Number, cancellation), logger, cancellation);
                    inspection.Doing = InspectionSwitch.Recovering;
                }

                var setup = await cluster();
                var worker = await WorkerHost.Start(
                    new WorkerSetup
                    {
                        Options = options,
                        ActorTypes = settings.Actors.Descriptors,
                        Log = storage.Log,
                        Store = storage.Store,
                        Services = app.Services,
                        Bytes = app.Services.GetRequiredService<ByteBudget>(),
                        ReadStoreMemory = storage.ReadMemory,
                        Cluster = setup,
                        Observer = telemetry,
                        Logger = logger,
                        Failed = exception => failed.TrySetResult(exception),
                        Surroundings = () => new EnvironmentInfo(
                            settings.SidecarKind == SidecarKind.Embedded ? "embedded" : "daprd",
                            settings.SidecarPid, settings.RedisPid, storage.Durability, WorkerConfiguration.Version) { Redis = storage.Memory },
                    },
                    cancellation);
                try
                {
                    // Others may have divided the actors before this log was open, so that nothing fenced it (R4). No request is let in yet.
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
                ServerLog.LogNotReachable(logger, exception.Message);
                await Task.Delay(pause, cancellation);
            }
        }
    }
}
