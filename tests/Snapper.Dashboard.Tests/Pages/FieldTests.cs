using AngleSharp.Dom;
using Bunit;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Pages;

/// <summary>Pages show what workers send, and nothing that they do not.</summary>
public sealed class FieldTests
{
    [Fact]
    public async Task A_transaction_that_ended_before_it_came_to_an_actor_is_shown_as_such()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/actors/Account/a", () => new { type = "Account", id = "a", state = new { checking = 1 }, version = 1, lastBatch = 7, worker = "w1", resident = true });
        worker.On("/v1/actors/Account/a/timeline", () => new
        {
            type = "Account", id = "a", worker = "w1", nowAtMs = 1_795_350_001_000.0, watchedSinceAtMs = 1_795_350_000_000.0, dropped = 0,
            entries = (object[])
            [
                Entry(8, null, null, null, null, "aborted"),
                Entry(7, "order-7", "Account/b", "Transfer", 1_795_350_000_910.0, "committed"),
            ],
        });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/actor?type=Account&id=a");
        const string Rows = "section[aria-label='Transactions on this actor'] tbody tr";
        screen.Holds(() => Assert.Equal(2, screen.All(Rows).Count));
        Assert.Contains("not known", Row("aborted").TextContent, StringComparison.Ordinal);
        screen.One("button[aria-label='Transactions on this actor: all columns']").Click();
        screen.Holds(() => Assert.Contains(Row("order-7").QuerySelectorAll("a"), link =>
            Screen.Text(link) == "Account/b" && link.GetAttribute("href") == "/actor?type=Account&id=b"));
        screen.Shows("not known: it ended before it came here", ".lanes");

        IElement Row(string text) => screen.All(Rows).Single(row => row.TextContent.Contains(text, StringComparison.Ordinal));
    }

    [Fact]
    public async Task An_actor_that_is_placed_by_itself_is_named()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/directory", () => new { partitions = 64, partitionsByWorker = new Dictionary<string, int> { ["w1"] = 64 }, actors = (object[])[new { type = "Account", id = "hot", worker = "w2" }], version = 3 });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/workers");
        Assert.Equal("Account/hot", Screen.Text(screen.One("main a[href='/actor?type=Account&id=hot']")));
    }

    [Fact]
    public async Task Tiles_and_legends_of_one_frame_say_the_same()
    {
        await using var worker = await ScriptedWorker.Start();
        var flying = 0;
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 1000 + flying, inFlight = Interlocked.Increment(ref flying) });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        var frames = new HashSet<(string Tile, string Legend)>();
        screen.Holds(() =>
        {
            frames.Add((Screen.Text(Find(".figure", "dt").QuerySelector(".value")!), Screen.Text(Find("figure", "h2").QuerySelector(".legend b")!)));
            Assert.True(frames.Count >= 4, string.Join(", ", frames));
        });
        Assert.All(frames, frame => Assert.Equal(frame.Tile, frame.Legend));

        IElement Find(string css, string title) => screen.All(css).First(one =>
            one.QuerySelector(title)!.TextContent.StartsWith("In flight", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Open_batches_are_those_of_the_status()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, openBatches = 12 });
        worker.On("/v1/ring", () => new { worker = "w1", coordinators = (object[])[new { index = 0, waiting = 0, holdsToken = true, batches = 70, transactions = 700 }], token = new { holder = 0 } });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        screen.Shows("open batches 12", ".figures");
        await screen.Go("/ring");
        screen.Holds(() => Assert.Contains("12", screen.All(".figure").First(one =>
            one.TextContent.Contains("Open batches", StringComparison.Ordinal)).TextContent, StringComparison.Ordinal));
    }

    private static object Entry(long number, string? request, string? root, string? method, double? startedAtMs, string outcome) => new
    {
        transaction = number, batch = 7, mode = "pact", request, root, method, arrivedAtMs = 1_795_350_000_900.0, startedAtMs, executedAtMs = startedAtMs + 5, endedAtMs = 1_795_350_000_950.0, outcome, calls = 0, declared = 1,
    };
}
