using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Runtime.Execution;

namespace Snapper.Server.Hosting;

/// <summary>
/// One worker process, put together: HTTP first, so that it can say "starting"; then the worker.
/// The only place where the server's parts meet.
/// </summary>
internal static class WorkerProcess
{
    /// <summary>Serves until cancelled, then drains and returns.</summary>
    /// <param name="settings">What this worker is.</param>
    /// <param name="cancellation">
    /// SIGTERM or SIGINT: give what it owns to the others if the settings say so, stop taking requests, finish those under way, return within 10 s.
    /// </param>
    /// <param name="force">A second signal: whatever it still gives away stays.</param>
    /// <returns>0, or why it stopped by itself: see <see cref="WorkerRun.Serve"/>.</returns>
    public static async Task<int> Run(WorkerSettings settings, CancellationToken cancellation, CancellationToken force = default)
    {
        var parts = WorkerParts.Of(settings);
        await using var app = WorkerRun.Configured(() => WorkerWeb.Build(settings, parts.Door, parts.Inspection, parts.Mailbox));
        var options = WorkerRun.Configured(app.Services.GetRequiredService<WorkerOptions>);
        await settings.Actors.Check(app.Services);
        app.Services.GetRequiredService<MemoryHeadroom>().Start();
        await WorkerRun.Listening(() => app.StartAsync(cancellation));
        await using var run = new WorkerRun(settings, options, app.Services, app.Configuration, parts);
        if (await run.Serve(cancellation, force) is not ExitCode.Success and var code) return code;

        // Answers are on their way. Whoever is still not answered has outlasted the drain, and is cut off.
        using var flush = new CancellationTokenSource(WorkerRun.AnswersWithin);
        await app.StopAsync(flush.Token);
        return ExitCode.Success;
    }
}
