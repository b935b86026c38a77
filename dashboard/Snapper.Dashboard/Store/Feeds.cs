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
    private readonly Dictionary<(string Path, Type Type), IFeed> _feeds = [];

    /// <summary>Raised when a request is new, so that it need not wait for its turn.</summary>
    public event Action? Added;

    /// <summary>Raised when a request is new, or nobody wants it any more.</summary>
    public event Action? Changed;

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

    /// <summary>Paths and queries of all of them, each once.</summary>
    public IReadOnlyList<string> Paths
    {
        get
        {
            lock (_lock) return [.. _feeds.Keys.Select(key => key.Path).Distinct()];
        }
    }

    /// <summary>All of them, with what is read from the answers.</summary>
    internal IReadOnlyList<(string Path, Type Answer)> Watched
    {
        get
        {
            lock (_lock) return [.. _feeds.Keys];
        }
    }

    /// <summary>Asks all workers for <paramref name="path"/> each second, or has them tell it, until the result is disposed.</summary>
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
        Changed?.Invoke();
        return new Watch<T>(feed, () =>
        {
            lock (_lock)
            {
                if (--feed.Watchers > 0) return;
                _feeds.Remove((path, typeof(T)));
            }

            Changed?.Invoke();
        });
    }

    /// <summary>One round: every watched request to every worker whose last one was answered, and which does not tell it by itself.</summary>
    /// <param name="isTold">That worker tells that path by itself.</param>
    /// <param name="cancellation">Ends the waiting.</param>
    public async Task Ask(Func<Uri, string, bool> isTold, CancellationToken cancellation)
    {
        IFeed[] feeds;
        lock (_lock) feeds = [.. _feeds.Values];
        if (feeds.Length == 0) return;
        var workers = fleet.Workers;
        var asked = await Task.WhenAll(feeds.Select(feed => feed.Ask(workers, isTold, cancellation))).ConfigureAwait(false);
        if (asked.Any(one => one)) Answered?.Invoke();
    }

    /// <summary>A worker has told a path by itself.</summary>
    /// <param name="worker">Its base address.</param>
    /// <param name="path">With the query.</param>
    /// <param name="status">As if it had been asked.</param>
    /// <param name="body">UTF-8.</param>
    public void Told(Uri worker, string path, int status, ReadOnlySpan<byte> body)
    {
        foreach (var feed in Of(path)) feed.Told(worker, fleet.NameOf(worker), status, body);
    }

    /// <summary>A worker that told some paths until then tells them no more: what it told last was right until then.</summary>
    public void ToldUntil(Uri worker, IEnumerable<string> paths, DateTimeOffset then)
    {
        foreach (var feed in paths.SelectMany(Of)) feed.ToldUntil(worker, then);
    }

    private IFeed[] Of(string path)
    {
        lock (_lock) return [.. _feeds.Where(feed => feed.Key.Path == path).Select(feed => feed.Value)];
    }
}

/// <summary>A watched request without its type.</summary>
public interface IFeed
{
    /// <summary>Asks those that do not tell it by themselves, or have not told it to this one yet; false: none.</summary>
    Task<bool> Ask(IReadOnlyList<WorkerState> workers, Func<Uri, string, bool> isTold, CancellationToken cancellation);

    /// <summary>A worker has told it by itself.</summary>
    void Told(Uri worker, string name, int status, ReadOnlySpan<byte> body);

    /// <summary>What a worker told last was right until then.</summary>
    void ToldUntil(Uri worker, DateTimeOffset then);
}

/// <summary>The answers of all workers to one request.</summary>
public sealed class Feed<T>(string path, WorkerApi api) : IFeed where T : class
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Answer<T>> _answers = [];
    private readonly HashSet<string> _asking = [];
    private readonly Dictionary<string, long> _tellings = [];

    /// <summary>Pages that show it; guarded by the lock of <see cref="Feeds"/>.</summary>
    public int Watchers { get; set; }

    public IReadOnlyList<Answer<T>> Answers
    {
        get
        {
            lock (_lock) return [.. _answers.Values.OrderBy(answer => answer.Worker, NaturalOrder.Instance)];
        }
    }

    public async Task<bool> Ask(IReadOnlyList<WorkerState> workers, Func<Uri, string, bool> isTold, CancellationToken cancellation)
    {
        HashSet<string> answered;
        lock (_lock)
        {
            foreach (var gone in _answers.Keys.Except(workers.Select(worker => worker.Url.Authority)).ToArray()) {
                _answers.Remove(gone);
                _tellings.Remove(gone);
            }

            answered = [.. _answers.Where(one => one.Value.Problem is null || one.Value.Missing).Select(one => one.Key)];
        }

        // What is told already is not told again for one who comes later: that one asks once.
        var asked = workers.Where(worker => !answered.Contains(worker.Url.Authority) || !isTold(worker.Url, path)).ToArray();
        await Task.WhenAll(asked.Select(worker => AskOne(worker, cancellation))).ConfigureAwait(false);
        return asked.Length > 0;
    }

    public void Told(Uri worker, string name, int status, ReadOnlySpan<byte> body)
    {
        var reply = WorkerApi.Read<T>(status, path, body);
        lock (_lock)
        {
            _tellings[worker.Authority] = _tellings.GetValueOrDefault(worker.Authority) + 1;
            Note(worker, name, reply);
        }
    }

    public void ToldUntil(Uri worker, DateTimeOffset then)
    {
        lock (_lock)
        {
            if (_answers.GetValueOrDefault(worker.Authority) is { Problem: null, AnsweredAt: { } at } told && at < then) _answers[worker.Authority] = told with { AnsweredAt = then };
        }
    }

    private async Task AskOne(WorkerState worker, CancellationToken cancellation)
    {
        var key = worker.Url.Authority;
        long tellings;
        lock (_lock)
        {
            if (!_asking.Add(key)) return;
            tellings = _tellings.GetValueOrDefault(key);
        }

        try
        {
            var reply = await api.Get<T>(worker.Url, path, cancellation).ConfigureAwait(false);
            lock (_lock)
            {
                // What was told meanwhile is newer, and is told again only when it changes.
                if (tellings == _tellings.GetValueOrDefault(key)) Note(worker.Url, worker.Name, reply);
            }
        }
        finally
        {
            lock (_lock) _asking.Remove(key);
        }
    }

    private void Note(Uri url, string name, Reply<T> reply)
    {
        var before = _answers.GetValueOrDefault(url.Authority);
        _answers[url.Authority] = reply.Data is { } data
            ? new Answer<T>(name, url, data, DateTimeOffset.UtcNow, null, false)
            : new Answer<T>(name, url, reply.Missing ? null : before?.Data, reply.Missing ? null : before?.AnsweredAt, reply.Problem ?? "an empty answer", reply.Missing);
    }
}

/// <summary>A page's share in a watched request without its type; ends it when disposed.</summary>
public interface IWatch : IDisposable
{
    /// <summary>As many workers have answered, or said that they cannot.</summary>
    bool IsAnsweredBy(int workers);
}

/// <summary>A page's share in a watched request; ends it when disposed.</summary>
public sealed class Watch<T>(Feed<T>? feed, Action end) : IWatch where T : class
{
    private Action? _end = end;

    /// <summary>By worker; empty until the first has answered.</summary>
    public IReadOnlyList<Answer<T>> Answers => feed?.Answers ?? [];

    /// <summary>Too many different requests are watched already.</summary>
    public bool Refused => feed is null;

    /// <inheritdoc/>
    public bool IsAnsweredBy(int workers) => feed is null || feed.Answers.Count >= workers;

    /// <inheritdoc/>
    public void Dispose() => Interlocked.Exchange(ref _end, null)?.Invoke();
}
