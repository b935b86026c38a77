namespace Snapper.Dashboard.Hosting;

/// <summary>Ends the dashboard when the process that started it is gone, where the kernel cannot do it.</summary>
internal sealed class ParentWatch(DashboardSettings settings, IHostApplicationLifetime lifetime) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        if (settings.ParentPid == 0) return;
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1));
        while (await timer.WaitForNextTickAsync(stoppingToken).ConfigureAwait(false))
        {
            if (Directory.Exists($"/proc/{settings.ParentPid}") || !Directory.Exists("/proc/self")) continue;
            lifetime.StopApplication();
            return;
        }
    }
}
