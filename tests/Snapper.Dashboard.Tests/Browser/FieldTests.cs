using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>Pages show what workers send, and nothing that they do not.</summary>
public sealed class FieldTests(Chromium chromium) : IClassFixture<Chromium>
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
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/actor?type=Account&id=a");
        var rows = visit.Main.Locator("section[aria-label='Transactions on this actor'] tbody tr");
        await Assertions.Expect(rows).ToHaveCountAsync(2);
        await Assertions.Expect(rows.Filter(new() { HasText = "aborted" })).ToContainTextAsync("not known");
        await visit.Main.Locator("section[aria-label='Transactions on this actor']").GetByRole(AriaRole.Button, new() { Name = "All columns" }).ClickAsync();
        await Assertions.Expect(rows.Filter(new() { HasText = "order-7" }).GetByRole(AriaRole.Link, new() { Name = "Account/b" })).ToHaveAttributeAsync("href", "/actor?type=Account&id=b");
        await Assertions.Expect(visit.Main.Locator(".lanes")).ToContainTextAsync("not known: it ended before it came here");
        await visit.Check();
    }

    [Fact]
    public async Task An_actor_that_is_placed_by_itself_is_named()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/directory", () => new { partitions = 64, partitionsByWorker = new Dictionary<string, int> { ["w1"] = 64 }, actors = (object[])[new { type = "Account", id = "hot", worker = "w2" }], version = 3 });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/workers");
        await Assertions.Expect(visit.Main.GetByRole(AriaRole.Link, new() { Name = "Account/hot" })).ToHaveAttributeAsync("href", "/actor?type=Account&id=hot");
    }

    [Fact]
    public async Task Tiles_and_legends_of_one_frame_say_the_same()
    {
        await using var worker = await ScriptedWorker.Start();
        var flying = 0;
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 1000 + flying, inFlight = Interlocked.Increment(ref flying) });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await visit.Main.Locator("figure svg").First.WaitForAsync();
        var frames = await visit.Page.EvaluateAsync<string[]>("""
            async () => {
              const seen = new Set();
              const find = (all, title) => [...document.querySelectorAll(all)].find(one => one.querySelector('dt, h2').textContent.startsWith(title));
              for (let i = 0; i < 200 && seen.size < 4; i++) {
                seen.add(find('.figure', 'In flight').querySelector('.value').textContent.trim() + ' ' + find('figure', 'In flight').querySelector('.legend b').textContent.trim());
                await new Promise(done => setTimeout(done, 100));
              }
              return [...seen];
            }
            """);
        Assert.True(frames.Length >= 4, string.Join(", ", frames));
        Assert.All(frames, frame => Assert.Equal(frame.Split(' ')[0], frame.Split(' ')[1]));
    }

    [Fact]
    public async Task Open_batches_are_those_of_the_status()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, openBatches = 12 });
        worker.On("/v1/ring", () => new { worker = "w1", coordinators = (object[])[new { index = 0, waiting = 0, holdsToken = true, batches = 70, transactions = 700 }], token = new { holder = 0 } });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await Assertions.Expect(visit.Main.Locator(".figures")).ToContainTextAsync("open batches 12");
        await visit.Go("/ring");
        await Assertions.Expect(visit.Main.Locator(".figure", new() { HasText = "Open batches" })).ToContainTextAsync("12");
    }

    private static object Entry(long number, string? request, string? root, string? method, double? startedAtMs, string outcome) => new
    {
        transaction = number, batch = 7, mode = "pact", request, root, method, arrivedAtMs = 1_795_350_000_900.0, startedAtMs, executedAtMs = startedAtMs + 5, endedAtMs = 1_795_350_000_950.0, outcome, calls = 0, declared = 1,
    };
}
