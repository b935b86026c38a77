using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Snapper.Contracts;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Dashboard.Workers;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>Workers tell by themselves what pages show; those that cannot, or do not any more, are asked.</summary>
public sealed class StreamTests
{
    private const string Hot = "/v1/hot?limit=50";

    private static readonly TimeSpan s_long = TimeSpan.FromSeconds(40);

    [Fact]
    public async Task A_worker_that_tells_is_not_asked()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        var sampled = 1;
        worker.On("/v1/hot", () => new { worker = "w1", sampledOneIn = Volatile.Read(ref sampled), actors = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        using var hot = look.Feeds.Watch<HotView>(Hot);
        using var missing = look.Feeds.Watch<RingView>("/v1/ring");
        await Holds("all to be told", () => look.Streams.Carry(worker.Url, Hot) && look.Streams.Carry(worker.Url, "/v1/ring"));
        await Holds("both answers", () => hot.Answers is [{ Data.SampledOneIn: 1, Worker: "w1" }] && missing.Answers is [{ Missing: true }]);

        // What was on its way when the stream opened has come after some looks.
        await Looks(worker, 10);
        worker.Asked.Clear();
        var (samples, at) = (look.Worker.Samples.Count, look.Worker.AnsweredAt);
        await Looks(worker, 15);
        Assert.Empty(worker.Asked);
        Assert.True(look.Worker.Samples.Count > samples && look.Worker.AnsweredAt > at, "the status went on being told");
        Assert.Equal("healthy", look.Worker.Ready?.Status);
        Volatile.Write(ref sampled, 7);
        await Holds("what has changed", () => hot.Answers is [{ Data.SampledOneIn: 7, Problem: null }]);
        Assert.Empty(worker.Asked);
    }

    [Fact]
    public async Task There_is_one_stream_about_what_is_shown_and_none_while_nobody_looks()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        worker.On("/v1/workers", () => new { workers = Array.Empty<object>() }).On("/v1/migrations", () => new { migrations = Array.Empty<object>() });
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = Environment.TickCount64, cluster = new { master = "w1" } });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        var look = new Look(dashboard);
        var hot = look.Feeds.Watch<HotView>(Hot);
        await Holds("one about the page and what all workers know", () => worker.Open == 1 && Newest(worker) == $"{Always},{Hot}");
        hot.Dispose();
        using var ring = look.Feeds.Watch<RingView>("/v1/ring");
        using var traces = look.Feeds.Watch<TracesView>("/v1/traces/a%2Fb");
        await Holds("one about the next page", () => worker.Open == 1 && Newest(worker) == $"{Always},/v1/ring,/v1/traces/a%2Fb");
        look.Dispose();
        await Holds("none", () => worker.Open == 0);
        Assert.False(look.Streams.Carry(worker.Url, "/v1/status"));
    }

    [Theory]
    [InlineData(EventsOf.Nothing)]
    [InlineData(EventsOf.Itself)]
    public async Task One_of_an_older_version_is_asked_and_that_is_said_once(object events)
    {
        await using var worker = await ScriptedWorker.Start(events: (EventsOf)events);
        worker.On("/v1/hot", () => new { worker = "w1", actors = Array.Empty<object>() });
        var settings = new DashboardSettings([worker.Url], null, 0, false, 0);
        using var api = new WorkerApi(settings);
        var (fleet, log) = (new Fleet(settings), new Lines());
        var feeds = new Feeds(api, fleet);
        using var streams = new Streams(api, fleet, feeds, log);
        await streams.StartAsync(CancellationToken.None);
        for (var i = 0; i < 3; i++)
        {
            fleet.Viewing(1);
            using var hot = feeds.Watch<HotView>(Hot);
            await Holds("it to be asked for a stream", () => worker.Asked.Any(one => one.StartsWith("/v1/events?", StringComparison.Ordinal)));
            await Holds("the line", () => !log.Written.IsEmpty);
            fleet.Viewing(-1);
            streams.Hurry();
            await Holds("none to be open", () => worker.Open == 0);
        }

        Assert.False(streams.Carry(worker.Url, Hot));
        Assert.Equal($"{worker.Url} has no stream of views: it is of an older version, and asked once a second instead.", Assert.Single(log.Written));
        await streams.StopAsync(CancellationToken.None);

        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        using var asked = look.Feeds.Watch<HotView>(Hot);
        await Holds("the answer", () => asked.Answers is [{ Data: not null }]);
        worker.Asked.Clear();
        await Holds("it to be asked again and again", () => worker.Asked.Count(one => one == Hot) >= 2 && worker.Asked.Count(one => one == "/v1/status") >= 2);
    }

    [Fact]
    public async Task One_that_goes_is_named_with_what_it_told_last_and_tells_again_when_it_is_back()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        worker.On("/v1/hot", () => new { worker = "w1", sampledOneIn = 3, actors = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        using var hot = look.Feeds.Watch<HotView>(Hot);
        await Holds("it to be told", () => look.Streams.Carry(worker.Url, Hot) && hot.Answers is [{ Data: not null }]);
        await Looks(worker, 10);
        var heard = DateTimeOffset.UtcNow;
        await Looks(worker, 10);
        worker.Silent = true;
        await Holds("both to be stale", () => look.Worker.Problem == "503: starting" && hot.Answers is [{ Problem: "503: starting", Data.SampledOneIn: 3 }]);

        // It had not changed for long, and was right until the end.
        Assert.True(hot.Answers[0].AnsweredAt > heard, $"{hot.Answers[0].AnsweredAt} is before {heard}");
        worker.Silent = false;
        await Holds("it to be back", () => look.Worker.Problem is null && hot.Answers is [{ Problem: null }]);
        await Holds("it to tell again", () => look.Streams.Carry(worker.Url, Hot));
    }

    [Fact]
    public async Task One_that_says_nothing_any_more_is_not_taken_for_one_where_nothing_changes()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        await Holds("it to be told", () => look.Streams.Carry(worker.Url, "/v1/status"));
        worker.Hangs = true;
        await Holds("it to be stale", () => look.Worker.Problem == "no answer within 5 s");
        Assert.False(look.Streams.Carry(worker.Url, "/v1/status"));
    }

    [Fact]
    public async Task What_does_not_fit_into_a_stream_is_asked_for()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        var watches = Enumerable.Range(0, 100).Select(i => look.Feeds.Watch<ActorView>($"/v1/actors/Account/a{i}")).ToArray();
        await Holds("all to be answered", () => watches.All(watch => watch.Answers.Count == 1));
        await Holds("as many as fit to be told", () => Enumerable.Range(0, 100).Count(i => look.Streams.Carry(worker.Url, $"/v1/actors/Account/a{i}")) == Streams.ViewsMax - 2);
        await Looks(worker, 10);
        worker.Asked.Clear();
        await Looks(worker, 15);
        Assert.Equal(100 - (Streams.ViewsMax - 2), worker.Asked.Distinct().Count());
        Assert.DoesNotContain("/v1/status", worker.Asked);
        foreach (var watch in watches) watch.Dispose();
    }

    [Fact]
    public async Task Whoever_looks_later_at_what_is_told_already_asks_once()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        worker.On("/v1/hot", () => new { worker = "w1", sampledOneIn = 3, actors = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);

        // As what the dashboard has told for itself, and another reader of the same answer.
        using var other = look.Feeds.Watch<RingView>(Hot);
        await Holds("it to be told", () => look.Streams.Carry(worker.Url, Hot) && other.Answers is [{ Data: not null }]);
        await Looks(worker, 10);
        using var hot = look.Feeds.Watch<HotView>(Hot);
        await Holds("the answer", () => hot.Answers is [{ Data.SampledOneIn: 3 }]);
        await Looks(worker, 10);
        worker.Asked.Clear();
        await Looks(worker, 15);
        Assert.Empty(worker.Asked);
    }

    [Fact]
    public async Task One_that_workers_refuse_takes_no_other_with_it()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var look = new Look(dashboard);
        var endless = "/v1/traces/" + new string('q', Streams.ViewLengthMax);
        using var refused = look.Feeds.Watch<TracesView>(endless);
        using var hot = look.Feeds.Watch<HotView>(Hot);
        await Holds("the other to be told", () => look.Streams.Carry(worker.Url, Hot));
        await Holds("it to be asked for alone", () => worker.Asked.Contains(endless));
        Assert.False(look.Streams.Carry(worker.Url, endless));
        Assert.DoesNotContain(worker.Asked, one => one.StartsWith("/v1/events?", StringComparison.Ordinal) && one.Contains("qqq", StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_tokens_are_shown_in_headers()
    {
        await using var worker = await ScriptedWorker.Start(events: EventsOf.Views);
        await using var dashboard = await RunningDashboard.Start(new DashboardSettings([worker.Url], "the-dashboards", 0, false, 0), []);
        using var look = new Look(dashboard);
        await Holds("it to be told", () => look.Streams.Carry(worker.Url, "/v1/status"));
        Assert.Contains("GET /v1/events Bearer the-dashboards", worker.Shown);
        Assert.All(worker.AppTokens, Assert.Empty); // the sidecar's is not the dashboard's to show, or to lend
        Assert.DoesNotContain(worker.Asked, one => one.Contains("the-", StringComparison.Ordinal));
    }

    [Fact]
    public async Task An_event_without_an_end_is_not_kept()
    {
        using var bounded = new BoundedStream(new MemoryStream(new byte[100]), 60);
        var buffer = new byte[50];
        await bounded.ReadExactlyAsync(buffer);
        bounded.Next();
        await bounded.ReadExactlyAsync(buffer);
        using var endless = new BoundedStream(new MemoryStream(new byte[100]), 60);
        await endless.ReadExactlyAsync(buffer);
        Assert.Equal("an event is longer than 60 bytes", (await Assert.ThrowsAsync<IOException>(async () => await endless.ReadExactlyAsync(buffer))).Message);
    }

    private const string Always = "/v1/status,/readyz,/v1/workers,/v1/migrations";

    private static string Newest(ScriptedWorker worker) => string.Join(
        ',', worker.Asked.Last(one => one.StartsWith("/v1/events?", StringComparison.Ordinal))["/v1/events?".Length..].Split('&').Select(one => Uri.UnescapeDataString(one["view=".Length..])));

    private static Task Looks(ScriptedWorker worker, int more)
    {
        var before = worker.Looks;
        return Holds($"{more} more looks", () => worker.Looks >= before + more);
    }

    private static Task Holds(string what, Func<bool> holds) => Eventually.Holds(what, s_long, () => Task.FromResult(holds() ? null : "not yet"));

    /// <summary>Somebody who looks at the dashboard.</summary>
    private sealed class Look : IDisposable
    {
        private readonly RefreshTimer _pulse;
        private readonly IServiceScope _scope;

        public Look(RunningDashboard dashboard)
        {
            // The dashboard's visit of its own first page leaves nothing behind.
            dashboard.Services.GetRequiredService<Handover>().Dispose();
            _scope = dashboard.Services.CreateScope();
            _pulse = _scope.ServiceProvider.GetRequiredService<RefreshTimer>();
            (Feeds, Streams, Fleet) = (dashboard.Services.GetRequiredService<Feeds>(), dashboard.Services.GetRequiredService<Streams>(), dashboard.Services.GetRequiredService<Fleet>());
        }

        public Feeds Feeds { get; }

        public Streams Streams { get; }

        public Fleet Fleet { get; }

        public WorkerState Worker => Fleet.Workers.Single();

        public void Dispose() => _scope.Dispose();
    }

    private sealed class Lines : ILogger<Streams>
    {
        public ConcurrentQueue<string> Written { get; } = new();

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) => Written.Enqueue(formatter(state, exception));
    }
}
