using Snapper.Contracts;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Store;

/// <summary>
/// While somebody looks, each worker tells by itself, over one stream, its status and what open pages show; what does not come that way <see cref="Poller"/> asks for. Thread-safe.
/// </summary>
public sealed class Streams(WorkerApi api, Fleet fleet, Feeds feeds, ILogger<Streams> log) : BackgroundService, IListener
{
    /// <summary>Most views that a worker takes in one stream.</summary>
    public const int ViewsMax = 64;

    /// <summary>Longest view that they take.</summary>
    public const int ViewLengthMax = 2048;

    // Workers take 16 KiB of an address.
    private const int AddressMax = 12_000;

    /// <summary>A page that closes and one that opens make one change.</summary>
    private static readonly TimeSpan s_together = TimeSpan.FromMilliseconds(100);

    private static readonly TimeSpan s_round = TimeSpan.FromSeconds(1);

    // Samples keep their distance, also when a stream is opened again and tells all at once.
    private static readonly TimeSpan s_leastDistance = Poller.Watched / 2;

    private readonly Lock _lock = new();
    private readonly SemaphoreSlim _changed = new(0, 1);
    private readonly Dictionary<Uri, WorkerStream> _streams = [];
    private volatile Telling? _members;

    /// <summary>Raised when a worker has told something.</summary>
    public event Action? Told;

    /// <summary>Raised when a worker tells no more: it must be asked.</summary>
    public event Action? Broken;

    /// <summary>That worker tells that view by itself now.</summary>
    public bool Carry(Uri worker, string view)
    {
        lock (_lock) return _streams.TryGetValue(worker, out var stream) && stream.Carries(view);
    }

    /// <summary>A page has opened, or closed, or shows something else.</summary>
    public void Hurry()
    {
        try
        {
            _changed.Release();
        }
        catch (SemaphoreFullException)
        {
            // It knows already.
        }
    }

    void IListener.Told(Uri worker, string view, int status, ReadOnlySpan<byte> body)
    {
        var now = DateTimeOffset.UtcNow;
        switch (view)
        {
            case "/v1/status":
                if (!fleet.HasAnsweredSince(worker, now - s_leastDistance)) fleet.Note(worker, WorkerApi.Read<WorkerStatus>(status, view, body), null, now);

                // Who has left is forgotten when it does not answer any more, which may be after that was told.
                if (_members is { } known && known.Worker == worker) fleet.Note(known.Members);
                break;
            case "/readyz" when WorkerApi.Read<ReadyView>(status, view, body).Data is { } ready:
                fleet.Note(worker, ready);
                break;
            case "/v1/workers" when WorkerApi.Read<WorkersView>(status, view, body).Data is { } members:
                _members = new Telling(worker, members);
                fleet.Note(members);
                break;
            case "/v1/migrations" when WorkerApi.Read<MigrationsView>(status, view, body).Data is { } migrations:
                fleet.Note(migrations, now);
                break;
        }

        feeds.Told(worker, view, status, body);
        Told?.Invoke();
    }

    void IListener.Silent(Uri worker, IReadOnlyCollection<string> views, DateTimeOffset heardAt)
    {
        feeds.ToldUntil(worker, views, heardAt);
        if (fleet.Viewers > 0) Broken?.Invoke();
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        feeds.Changed += Hurry;
        try
        {
            while (!stoppingToken.IsCancellationRequested)
            {
                if (await _changed.WaitAsync(s_round, stoppingToken).ConfigureAwait(false))
                {
                    await Task.Delay(s_together, stoppingToken).ConfigureAwait(false);
                    _changed.Wait(0, CancellationToken.None);
                }

                await Renew().ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (stoppingToken.IsCancellationRequested)
        {
            // It ends.
        }
        finally
        {
            feeds.Changed -= Hurry;
            foreach (var stream in Take(_ => true)) await stream.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Each worker's stream is about what is wanted of it, which is nothing while nobody looks.</summary>
    private async Task Renew()
    {
        var (urls, teller, paths) = (fleet.Urls, fleet.Teller, feeds.Paths);
        foreach (var url in urls) Of(url).Want(fleet.Viewers > 0 ? Wanted(url == teller, paths) : []);
        foreach (var gone in Take(url => !urls.Contains(url))) await gone.DisposeAsync().ConfigureAwait(false);
    }

    private static List<string> Wanted(bool tells, IReadOnlyList<string> paths)
    {
        string[] always = tells ? ["/v1/status", "/readyz", "/v1/workers", "/v1/migrations"] : ["/v1/status", "/readyz"];
        var wanted = new List<string>();
        var length = 0;
        foreach (var path in always.Concat(paths).Distinct())
        {
            // One that workers do not take would take all others with it; asked for alone it is refused alone.
            if (path.Length > ViewLengthMax) continue;
            length += WorkerApi.AsParameter(path).Length + 1;
            if (wanted.Count == ViewsMax || length > AddressMax) break;
            wanted.Add(path);
        }

        // In one order, so that the same views are the same stream, and the status first, which gives the worker its name.
        wanted.Sort(always.Length, wanted.Count - always.Length, StringComparer.Ordinal);
        return wanted;
    }

    private WorkerStream Of(Uri url)
    {
        lock (_lock)
        {
            if (!_streams.TryGetValue(url, out var stream)) _streams.Add(url, stream = new WorkerStream(url, api, this, log));
            return stream;
        }
    }

    private List<WorkerStream> Take(Func<Uri, bool> which)
    {
        lock (_lock)
        {
            var taken = _streams.Where(one => which(one.Key)).ToList();
            foreach (var (url, _) in taken) _streams.Remove(url);
            return [.. taken.Select(one => one.Value)];
        }
    }

    private sealed record Telling(Uri Worker, WorkersView Members);
}
