using Snapper.Contracts;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Store;

/// <summary>The workers as they are now, and the last minutes of each: one per process, whoever looks. Bounded. Thread-safe.</summary>
public sealed class Fleet
{
    /// <summary>Samples kept of each worker: ten minutes at one a second.</summary>
    public const int SamplesKept = 600;

    private const int ChangesKept = 200;
    private const int MostWorkers = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Member> _members = [];
    private readonly Ring<Change> _changes = new(ChangesKept);
    private readonly Dictionary<string, string> _migrations = [];
    private string? _master;
    private bool _migrationsSeen;
    private int _viewers;

    public Fleet(DashboardSettings settings)
    {
        foreach (var url in settings.Workers) Add(url);
    }

    /// <summary>How many pages are open.</summary>
    public int Viewers => Volatile.Read(ref _viewers);

    /// <summary>Addresses of all workers, those that were configured first.</summary>
    public IReadOnlyList<Uri> Urls
    {
        get
        {
            lock (_lock) return [.. _members.Values.Select(member => member.Url)];
        }
    }

    /// <summary>All workers, by name.</summary>
    public IReadOnlyList<WorkerState> Workers
    {
        get
        {
            lock (_lock) return [.. _members.Values.Select(member => member.State()).OrderBy(state => state.Name, NaturalOrder.Instance)];
        }
    }

    /// <summary>The worker that is asked for what all of them know; null: none answers, or there is one alone.</summary>
    public Uri? Teller
    {
        get
        {
            lock (_lock) return _members.Values.Where(member => member.Problem is null && member.Status?.Cluster is not null).MinBy(member => member.Name, NaturalOrder.Instance)?.Url;
        }
    }

    /// <summary>Newest first.</summary>
    public IReadOnlyList<Change> Changes
    {
        get
        {
            lock (_lock) return [.. _changes.ToArray().Reverse()];
        }
    }

    /// <summary>One page more, or one less.</summary>
    public void Viewing(int change) => Interlocked.Add(ref _viewers, change);

    /// <summary>What a look at a worker has brought.</summary>
    public void Note(Uri url, Reply<WorkerStatus> status, ReadyView? ready, DateTimeOffset now)
    {
        lock (_lock)
        {
            if (!_members.TryGetValue(Key(url), out var member)) return;
            member.AskedAt = now;
            if (status.Data is not { } seen)
            {
                if (member.Problem is null && member.Status is not null) Say(now, "gone", member.Name, $"{member.Name} {(status.Refused ? "does not let the dashboard look" : "does not answer")}: {status.Problem}", "/workers");
                (member.Problem, member.Refused) = (status.Problem ?? "an empty answer", status.Refused);
                return;
            }

            // A question and a stream may be under way at once: what was made earlier and came later is no news. A worker that starts again, in a container with the same pid, has another epoch.
            if (member.Status is { } newest && seen.Pid == newest.Pid && seen.Epoch == newest.Epoch && seen.UptimeMs < newest.UptimeMs) return;
            if (seen.Worker.Length > 0) member.Name = seen.Worker;
            // One that starts has no epoch yet: its first one is no change of it.
            if (member.Status is { } before)
            {
                if (seen.Pid != before.Pid || seen.UptimeMs < before.UptimeMs) Say(now, "restart", member.Name, $"{member.Name} was started again: pid {before.Pid} → {seen.Pid}, epoch {before.Epoch} → {seen.Epoch}", "/workers");
                else if (seen.Epoch != before.Epoch && before.Epoch != 0) Say(now, "takeover", member.Name, $"{member.Name} has a new epoch: {before.Epoch} → {seen.Epoch}", "/workers");
                else if (member.Problem is not null) Say(now, "back", member.Name, $"{member.Name} answers again", "/workers");
                if (Sample.Between(before, member.AnsweredAt!.Value.ToUnixTimeMilliseconds(), seen, now.ToUnixTimeMilliseconds()) is { } sample) member.Samples.Add(sample);
            }

            if (seen.Cluster?.Master is { } master && master != _master)
            {
                if (_master is not null) Say(now, "election", master, $"{master} is master now, {_master} was", "/ring");
                _master = master;
            }

            (member.Status, member.Ready, member.AnsweredAt, member.Problem, member.Refused) = (seen, ready ?? member.Ready, now, null, false);
        }
    }

    /// <summary>A worker's checks.</summary>
    public void Note(Uri url, ReadyView ready)
    {
        lock (_lock)
        {
            if (_members.TryGetValue(Key(url), out var member)) member.Ready = ready;
        }
    }

    /// <summary>What a worker calls itself; its address until it has answered.</summary>
    public string NameOf(Uri url)
    {
        lock (_lock) return _members.GetValueOrDefault(Key(url))?.Name ?? url.Authority;
    }

    /// <summary>A worker answers, and has done so since.</summary>
    public bool HasAnsweredSince(Uri url, DateTimeOffset when)
    {
        lock (_lock) return _members.GetValueOrDefault(Key(url)) is { Problem: null, AnsweredAt: { } at } && at >= when;
    }

    /// <summary>Workers that others know of join the list; ones that have left, and do not answer, leave it.</summary>
    public void Note(WorkersView members)
    {
        lock (_lock)
        {
            foreach (var one in members.Workers)
            {
                if (one.State == "live" && Uri.TryCreate(one.Url, UriKind.Absolute, out var url) && !_members.Values.Any(member => member.Name == one.Worker)) Add(url);
                if (one.State == "left" && _members.Values.FirstOrDefault(member => member.Name == one.Worker && member.Problem is not null) is { } gone && _members.Count > 1) _members.Remove(Key(gone.Url));
            }
        }
    }

    /// <summary>Migrations that are new, or have another state.</summary>
    public void Note(MigrationsView migrations, DateTimeOffset now)
    {
        lock (_lock)
        {
            // What was over before the dashboard looked for the first time has not changed now.
            var first = !_migrationsSeen;
            _migrationsSeen = true;
            foreach (var one in migrations.Migrations)
            {
                if (_migrations.TryGetValue(one.Id, out var before) && before == one.State) continue;
                _migrations[one.Id] = one.State;
                if (first && one.State is not ("planned" or "running")) continue;
                var from = one.Parts.FirstOrDefault()?.From ?? "?";
                var to = string.Join(", ", one.Parts.Select(part => part.To).Distinct());
                Say(now, "migration", from, $"migration {one.Id}: {one.Keys} from {from} to {to}, {one.State}", $"/migrations?id={Uri.EscapeDataString(one.Id)}");
            }

            foreach (var gone in _migrations.Keys.Except(migrations.Migrations.Select(one => one.Id)).ToArray()) _migrations.Remove(gone);
        }
    }

    private static string Key(Uri url) => url.GetLeftPart(UriPartial.Authority);

    private void Add(Uri url)
    {
        if (_members.Count < MostWorkers) _members.TryAdd(Key(url), new Member(url));
    }

    private void Say(DateTimeOffset at, string kind, string worker, string text, string? link) => _changes.Add(new Change(at, kind, worker, text, link));

    private sealed class Member(Uri url)
    {
        public Uri Url { get; } = url;
        public string Name { get; set; } = url.Authority;
        public WorkerStatus? Status { get; set; }
        public ReadyView? Ready { get; set; }
        public DateTimeOffset? AnsweredAt { get; set; }
        public DateTimeOffset? AskedAt { get; set; }
        public string? Problem { get; set; }
        public bool Refused { get; set; }
        public Ring<Sample> Samples { get; } = new(SamplesKept);

        public WorkerState State() => new(Url, Name, Status, Ready, AnsweredAt, AskedAt, Problem, Samples.ToArray()) { Refused = Refused };
    }
}
