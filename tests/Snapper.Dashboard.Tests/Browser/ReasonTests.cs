using System.Text.RegularExpressions;
using Microsoft.Playwright;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>"Why did my transaction abort?", from the overview in two clicks, for each reason.</summary>
public sealed class ReasonTests(Chromium chromium) : IClassFixture<Chromium>
{
    [Fact]
    public async Task Two_clicks_from_the_overview_explain_an_abort()
    {
        await using var worker = await ScriptedWorker.Start();
        string[] names = [.. Reasons.All.Select(reason => reason.Name)];
        worker.On("/v1/status", () => new
        {
            worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000,
            abortsByReason = names.Where(name => !IsRepeated(name)).ToDictionary(name => name, _ => 7L),
            repeatsByReason = names.Where(IsRepeated).ToDictionary(name => name, _ => 9L),
        });
        worker.On("/v1/aborts", () => new
        {
            aborts = (object[])[.. names.SelectMany(name => (object[])[Abort(name, 2000, $"newest-{name}"), Abort(name, 1000, $"older-{name}")])],
        });
        foreach (var name in names)
        {
            worker.On($"/v1/traces/newest-{name}", () => new { worker = "w1", traces = (object[])[Trace(name)] });
        }

        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await Rows.All(names, async reason =>
        {
            await visit.Go("/");

            // One: the reason. The newest abort of it is explained.
            await visit.Main.Locator($".reasons a[data-{(IsRepeated(reason) ? "repeated" : "reason")}={reason}]").ClickAsync();
            await Assertions.Expect(visit.Page).ToHaveURLAsync(new Regex(IsRepeated(reason) ? "kind=repeated" : "kind=final"));
            var story = visit.Main.Locator($"[data-story={reason}]");
            await Assertions.Expect(story).ToContainTextAsync($"the message of {reason} newest");
            await Assertions.Expect(story).ToContainTextAsync(Reasons.Of(reason).What);
            await Assertions.Expect(story).ToContainTextAsync(Reasons.Of(reason).Do);
            await ShowsPicture(reason, story);
            await visit.Picture($"abort-{reason}");
            await visit.Check();

            // Two: another one of the list.
            await visit.Main.Locator("table tbody tr").Nth(1).Locator("a").First.ClickAsync();
            await Assertions.Expect(story).ToContainTextAsync($"the message of {reason} older");
        });
    }

    [Fact]
    public async Task Final_aborts_and_repeats_are_asked_for_apart()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, abortsByReason = new Dictionary<string, long> { ["conflict"] = 1 }, repeatsByReason = new Dictionary<string, long> { ["conflict"] = 70_000 } });
        worker.On("/v1/aborts", () => new { aborts = (object[])[Abort("conflict", 2000, "newest")] });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/");
        await Assertions.Expect(visit.Main.Locator("a[data-reason=conflict]")).ToContainTextAsync("1 told to callers");
        await Assertions.Expect(visit.Main.Locator("a[data-repeated=conflict]")).ToContainTextAsync("70,000 repeated");
        await visit.Main.Locator("a[data-reason=conflict]").ClickAsync();
        await Eventually.Holds("the final ones to be asked for", TimeSpan.FromSeconds(20), () => Task.FromResult(worker.Asked.Contains("/v1/aborts?limit=1000&reason=conflict&repeated=false") ? null : string.Join(" ", worker.Asked)));
        await visit.Go("/aborts?reason=conflict&kind=repeated");
        await visit.Main.Locator("[data-story=conflict]").WaitForAsync();
        Assert.Contains("/v1/aborts?limit=1000&reason=conflict&repeated=true", worker.Asked);
    }

    [Fact]
    public async Task A_worker_that_knows_no_filter_is_asked_for_everything()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.Refuses = view => view.Contains("reason=", StringComparison.Ordinal) || view.Contains("repeated=", StringComparison.Ordinal) ? "There is no parameter 'reason'." : null;
        worker.On("/v1/aborts", () => new { aborts = (object[])[Abort("conflict", 2000, "newest"), Abort("application", 900, "another")] });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/aborts?reason=application&kind=final");
        await Assertions.Expect(visit.Main.Locator("[data-story=application]")).ToContainTextAsync("the message of application another");
        await Assertions.Expect(visit.Main.Locator("table tbody tr")).ToHaveCountAsync(1);
        await Assertions.Expect(visit.Main.Locator(".note")).ToHaveCountAsync(0);
    }

    [Fact]
    public async Task Where_none_is_kept_any_more_the_page_says_what_that_means_and_leads_on()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, abortsByReason = new Dictionary<string, long> { ["timeout"] = 3 }, repeatsByReason = new Dictionary<string, long>() });
        worker.On("/v1/aborts", () => new { aborts = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/aborts?reason=timeout&kind=final");
        var gone = visit.Main.Locator("[data-gone=timeout]");
        await Assertions.Expect(gone).ToContainTextAsync("none is kept any more. Since the workers started 3 callers were told of one");
        await Assertions.Expect(gone).ToContainTextAsync(Reasons.Of("timeout").Do);
        await Assertions.Expect(gone.Locator("a[href='/transactions?reason=timeout']")).ToHaveCountAsync(1);
        await Assertions.Expect(gone.Locator("a[href='/transactions']")).ToHaveCountAsync(1);
        await visit.Picture("abort-gone");
        await visit.Check();
    }

    private static async Task ShowsPicture(string reason, ILocator story)
    {
        switch (reason)
        {
            case "conflict":
                await Assertions.Expect(story.Locator(".party.victim")).ToContainTextAsync("ACT 2000");
                await Assertions.Expect(story.Locator(".party.blocker")).ToContainTextAsync("1500");
                await Assertions.Expect(story.Locator(".party.blocker")).ToContainTextAsync("older: its number is lower");
                await Assertions.Expect(story.Locator(".party.blocker")).ToContainTextAsync("Transfer on Account/carol");
                await Assertions.Expect(story.Locator(".party.blocker a")).ToHaveAttributeAsync("href", "/transactions?id=order-1");
                await Assertions.Expect(story.Locator("dl.why a[href*='id=carol']")).ToHaveTextAsync("Account/carol");
                break;
            case "deadlock":
                await Assertions.Expect(story.Locator(".party")).ToHaveCountAsync(4);
                await Assertions.Expect(story.GetByRole(AriaRole.Link, new() { Name = "batch 44" })).ToHaveAttributeAsync("href", "/batches?batch=44");
                await Assertions.Expect(story.GetByRole(AriaRole.Link, new() { Name = "batch 41" })).ToHaveAttributeAsync("href", "/batches?batch=41");
                await Assertions.Expect(story).ToContainTextAsync("a ring was possible");
                await Assertions.Expect(story).Not.ToContainTextAsync("closed");
                break;
            case "serializability":
                await Assertions.Expect(story.Locator("svg.bounds")).ToHaveAttributeAsync("aria-label", "The transaction must come after batch 44 and before batch 41; no place fits.");
                break;
            case "undone":
                await Assertions.Expect(story.Locator(".party.root")).ToContainTextAsync("PACT 1200");
                await Assertions.Expect(story.Locator(".party.root")).ToContainTextAsync("Payout on Account/dan");
                await Assertions.Expect(story.Locator(".party.root a")).ToHaveAttributeAsync("href", "/transactions?id=order-2");
                break;
            case "timeout":
                await Assertions.Expect(story.Locator(".lanes")).ToContainTextAsync("Transfer");
                await Assertions.Expect(story).ToContainTextAsync("It waited 40 ms before its first call ran");
                break;
        }
    }

    private static bool IsRepeated(string reason) => reason is "conflict" or "deadlock" or "serializability" or "undone";

    private static object Abort(string reason, long number, string id) => new
    {
        atMs = 1_795_350_000_000 + number, id, transaction = number, mode = reason is "conflict" or "deadlock" or "serializability" ? "act" : "pact", root = "Account/alice", method = "Transfer", reason,
        message = $"the message of {reason} {id}", repeated = IsRepeated(reason), actors = (string[])["Account/alice", "Account/bob"],
        blocker = reason == "conflict" ? 1500 : 0, floor = reason is "serializability" or "deadlock" ? 44 : 0, ceil = reason is "serializability" or "deadlock" ? 41 : 0,
        blockedBy = reason == "conflict" ? new { request = "order-1", transaction = 1500, mode = "act", root = "Account/carol", method = "Transfer", age = 1400 } : null,
        undoneFor = reason == "undone" ? new { request = "order-2", transaction = 1200, mode = "pact", root = "Account/dan", method = "Payout", age = 0 } : null,
    };

    private static object Trace(string reason) => new
    {
        request = $"newest-{reason}", transaction = 2000, batch = 0, mode = "act", root = "Account/alice", method = "Transfer", worker = "w1", attempt = 1, outcome = "aborted", reason, receivedAtMs = 1_795_350_001_900.0,
        startedAtMs = 1_795_350_001_940.0, endedAtMs = 1_795_350_001_990.0, calls = (object[])[new { actor = "Account/bob", method = "DepositChecking", worker = "w1", parent = -1, askedAtMs = 1_795_350_001_950.0, startedAtMs = 1_795_350_001_960.0, endedAtMs = (double?)null }],
    };
}
