using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Store;

/// <summary>One worker's answer to a watched request.</summary>
/// <param name="Worker">Its name.</param>
/// <param name="Url">Its address.</param>
/// <param name="Data">The newest answer; null: none yet.</param>
/// <param name="AnsweredAt">When that came.</param>
/// <param name="Problem">Why there is no newer one; null: nothing is wrong.</param>
/// <param name="Missing">The worker says 404: it is older than this view, or there is no such thing.</param>
public sealed record Answer<T>(string Worker, Uri Url, T? Data, DateTimeOffset? AnsweredAt, string? Problem, bool Missing) where T : class;

/// <summary>What open pages ask the workers for, each request once for all pages, as long as one of them shows it. Thread-safe.</summary>
public sealed class Feeds(WorkerApi api, Fleet fleet)
{
    /// <summary>No more different requests are repeated at once than this; a page beyond it says so.</summary>
    public const int Most = 300;

    private readonly Lock _lock = new();
    private readonly Dictionary<(string, Type), IFeed> _feeds = [];

    /// <summary>Raised when a request is new, so that it need not wait for its turn.</summary>
    public event Action? Added;

    /// <summary>Raised when answers have come.</summary>
    public event Action? Answered;

    /// <summary>How many different requests are repeated now.</summary>
    public int Count
    {
        get
        {
            lock (_lock) return _feeds.Count;
        }
    }

    /// <summary>Asks all workers for <paramref name="path"/> each second until the result is disposed.</summary>
    public Watch<T> Watch<T>(string path) where T : class
    {
        Feed<T> feed;
        lock (_lock)
        {
            if (!_feeds.TryGetValue((path, typeof(T)), out var known))
            {
                if (_feeds.Count >= Most) return new Watch<T>(null, () => { });
                known = new Feed<T>(path, api);
                _feeds.Add((path, typeof(T)), known);
            }

            feed = (Feed<T>)known;
            feed.Watchers++;
        }

        Added?.Invoke();
        return new Watch<T>(feed, () =>
        {
            lock (_lock)
            {
                if (--feed.Watchers == 0) _feeds.Remove((path, typeof(T)));
            }
        });
    }

    /// <summary>One round: every watched request to every worker whose last one was answered.</summary>
    public async Task Ask(CancellationToken cancellation)
    {
        IFeed[] feeds;
        lock (_lock) feeds = [.. _feeds.Values];
        if (feeds.Length == 0) return;
        var workers = fleet.Workers;
        await Task.WhenAll(feeds.Select(feed => feed.Ask(workers, cancellation))).ConfigureAwait(false);
        Answered?.Invoke();
    }
}

/// <summary>A watched request without its type.</summary>
public interface IFeed
{
    Task Ask(IReadOnlyList<WorkerState> workers, CancellationToken cancellation);
}

/// <summary>The answers of all workers to one request.</summary>
public sealed class Feed<T>(string path, WorkerApi api) : IFeed where T : class
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Answer<T>> _answers = [];
    private readonly HashSet<string> _asking = [];

    /// <summary>Pages that show it; guarded by the lock of <see cref="Feeds"/>.</summary>
    public int Watchers { get; set; }

    public IReadOnlyList<Answer<T>> Answers
    {
        get
        {
            lock (_lock) return [.. _answers.Values.OrderBy(answer => answer.Worker, NaturalOrder.Instance)];
        }
    }

    public Task Ask(IReadOnlyList<WorkerState> workers, CancellationToken cancellation)
    {
        lock (_lock)
        {
            foreach (var gone in _answers.Keys.Except(workers.Select(worker => worker.Url.Authority)).ToArray()) _answers.Remove(gone);
        }

        return Task.WhenAll(workers.Select(worker => AskOne(worker, cancellation)));
    }

    private async Task AskOne(WorkerState worker, CancellationToken cancellation)
    {
        var key = worker.Url.Authority;
        lock (_lock)
        {
            if (!_asking.Add(key)) return;
        }

        try
        {
            var reply = await api.Get<T>(worker.Url, path, cancellation).ConfigureAwait(false);
            lock (_lock)
            {
                var before = _answers.GetValueOrDefault(key);
                _answers[key] = reply.Data is { } data
                    ? new Answer<T>(worker.Name, worker.Url, data, DateTimeOffset.UtcNow, null, false)
                    : new Answer<T>(worker.Name, worker.Url, reply.Missing ? null : before?.Data, reply.Missing ? null : before?.AnsweredAt, reply.Problem ?? "an empty answer", reply.Missing);
            }
        }
        finally
        {
            lock (_lock) _asking.Remove(key);
        }
    }
}

/// <summary>A page's share in a watched request; ends it when disposed.</summary>
public sealed class Watch<T>(Feed<T>? feed, Action end) : IDisposable where T : class
{
    private Action? _end = end;

    /// <summary>By worker; empty until the first has answered.</summary>
    public IReadOnlyList<Answer<T>> Answers => feed?.Answers ?? [];

    /// <summary>Too many different requests are watched already.</summary>
    public bool Refused => feed is null;

    /// <inheritdoc/>
    public void Dispose() => Interlocked.Exchange(ref _end, null)?.Invoke();
}
