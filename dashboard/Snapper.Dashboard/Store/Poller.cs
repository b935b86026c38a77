using Snapper.Contracts;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Store;

/// <summary>
/// Asks the workers for what they do not tell by themselves (<see cref="Streams"/>): for their status each second while a page is open, else every ten, so that a page that opens has some
/// past; for anything else only while a page shows it.
/// </summary>
public sealed class Poller(WorkerApi api, Fleet fleet, Feeds feeds, Streams streams, ILogger<Poller> log) : BackgroundService
{
    /// <summary>Between two rounds while somebody looks.</summary>
    public static readonly TimeSpan Watched = TimeSpan.FromSeconds(1);

    /// <summary>Between two rounds while nobody does.</summary>
    public static readonly TimeSpan Alone = TimeSpan.FromSeconds(10);

    private const int ClusterEvery = 2;

    private readonly SemaphoreSlim _soon = new(0, 1);

    /// <summary>Raised when a worker was asked for its status.</summary>
    public event Action? Polled;

    /// <summary>A page has opened, or shows something else.</summary>
    public void Hurry()
    {
        try
        {
            _soon.Release();
        }
        catch (SemaphoreFullException)
        {
            // It hurries already.
        }
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        feeds.Added += Hurry;
        streams.Broken += Hurry;
        var last = DateTimeOffset.MinValue;
        for (var round = 0; !stoppingToken.IsCancellationRequested; round++)
        {
            try
            {
                // New requests are answered at once; the samples keep their distance.
                var due = DateTimeOffset.UtcNow - last >= Watched * 0.9;
                if (due) last = DateTimeOffset.UtcNow;
                await Task.WhenAll(due ? AskStatus(round, stoppingToken) : Task.CompletedTask, feeds.Ask(streams.Carry, stoppingToken)).ConfigureAwait(false);
                await _soon.WaitAsync(fleet.Viewers > 0 ? Watched : Alone, stoppingToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (stoppingToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception problem) when (problem is not OperationCanceledException)
            {
                // A page that throws must not end the looking of all others.
                log.LogError(problem, "A round of questions to the workers failed.");
                await Task.Delay(Watched, stoppingToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task AskStatus(int round, CancellationToken cancellation)
    {
        var asked = fleet.Urls.Where(url => !streams.Carry(url, "/v1/status")).ToArray();
        await Task.WhenAll(asked.Select(async url =>
        {
            var status = api.Get<WorkerStatus>(url, "/v1/status", cancellation);
            var ready = fleet.Viewers > 0 ? (await api.Get<ReadyView>(url, "/readyz", cancellation).ConfigureAwait(false)).Data : null;
            fleet.Note(url, await status.ConfigureAwait(false), ready, DateTimeOffset.UtcNow);
        })).ConfigureAwait(false);
        if (round % ClusterEvery == 0 && fleet.Teller is { } one && !streams.Carry(one, "/v1/workers"))
        {
            if ((await api.Get<WorkersView>(one, "/v1/workers", cancellation).ConfigureAwait(false)).Data is { } members) fleet.Note(members);
            if ((await api.Get<MigrationsView>(one, "/v1/migrations", cancellation).ConfigureAwait(false)).Data is { } migrations) fleet.Note(migrations, DateTimeOffset.UtcNow);
        }

        if (asked.Length > 0) Polled?.Invoke();
    }
}
