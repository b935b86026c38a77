using AngleSharp.Dom;
using Snapper.Dashboard.Parts;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Pages;

/// <summary>"Why did my transaction abort?", from the overview in two clicks, for each reason.</summary>
public sealed class ReasonTests
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
        await using var screen = Screen.Open(dashboard, "/");
        await Rows.All(names, async reason =>
        {
            await screen.Go("/");

            // One: the reason. The newest abort of it is explained.
            await Follow($".reasons a[data-{(IsRepeated(reason) ? "repeated" : "reason")}={reason}]");
            Assert.Contains(IsRepeated(reason) ? "kind=repeated" : "kind=final", screen.Address, StringComparison.Ordinal);
            var story = $"[data-story={reason}]";
            screen.Shows($"the message of {reason} newest", story);
            screen.Shows(Reasons.Of(reason).What, story);
            screen.Shows(Reasons.Of(reason).Do, story);
            ShowsPicture(reason, screen, story);

            // Two: another one of the list.
            await Follow("table tbody tr:nth-child(2) a");
            screen.Shows($"the message of {reason} older", story);
        });

        Task Follow(string css) => screen.Go(screen.One(css).GetAttribute("href")!);
    }

    [Fact]
    public async Task Final_aborts_and_repeats_are_asked_for_apart()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, abortsByReason = new Dictionary<string, long> { ["conflict"] = 1 }, repeatsByReason = new Dictionary<string, long> { ["conflict"] = 70_000 } });
        worker.On("/v1/aborts", () => new { aborts = (object[])[Abort("conflict", 2000, "newest")] });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/");
        screen.Shows("1 told to callers", "a[data-reason=conflict]");
        screen.Shows("70,000 repeated", "a[data-repeated=conflict]");
        await screen.Go(screen.One("a[data-reason=conflict]").GetAttribute("href")!);
        screen.Holds(() => Assert.Contains("/v1/aborts?limit=1000&reason=conflict&repeated=false", worker.Asked));
        await screen.Go("/aborts?reason=conflict&kind=repeated");
        screen.One("[data-story=conflict]");
        Assert.Contains("/v1/aborts?limit=1000&reason=conflict&repeated=true", worker.Asked);
    }

    [Fact]
    public async Task A_worker_that_knows_no_filter_is_asked_for_everything()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.Refuses = view => view.Contains("reason=", StringComparison.Ordinal) || view.Contains("repeated=", StringComparison.Ordinal) ? "There is no parameter 'reason'." : null;
        worker.On("/v1/aborts", () => new { aborts = (object[])[Abort("conflict", 2000, "newest"), Abort("application", 900, "another")] });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/aborts?reason=application&kind=final");
        screen.Shows("the message of application another", "[data-story=application]");
        Assert.Single(screen.All("main table tbody tr"));
        Assert.Empty(screen.All("main .note"));
    }

    [Fact]
    public async Task Where_none_is_kept_any_more_the_page_says_what_that_means_and_leads_on()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/status", () => new { worker = "w1", pid = 1, epoch = 1, uptimeMs = 60_000, abortsByReason = new Dictionary<string, long> { ["timeout"] = 3 }, repeatsByReason = new Dictionary<string, long>() });
        worker.On("/v1/aborts", () => new { aborts = Array.Empty<object>() });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/aborts?reason=timeout&kind=final");
        screen.Shows("none is kept any more. Since the workers started 3 callers were told of one", "[data-gone=timeout]");
        screen.Shows(Reasons.Of("timeout").Do, "[data-gone=timeout]");
        Assert.Single(screen.All("[data-gone=timeout] a[href='/transactions?reason=timeout']"));
        Assert.Single(screen.All("[data-gone=timeout] a[href='/transactions']"));
    }

    private static void ShowsPicture(string reason, Screen screen, string story)
    {
        switch (reason)
        {
            case "conflict":
                screen.Shows("ACT 2000", story + " .party.victim");
                screen.Shows("1500", story + " .party.blocker");
                screen.Shows("older: its number is lower", story + " .party.blocker");
                screen.Shows("Transfer on Account/carol", story + " .party.blocker");
                Assert.Equal("/transactions?id=order-1", screen.One(story + " .party.blocker a").GetAttribute("href"));
                Assert.Equal("Account/carol", Screen.Text(screen.One(story + " dl.why a[href*='id=carol']")));
                break;
            case "deadlock":
                screen.Holds(() => Assert.Equal(4, screen.All(story + " .party").Count));
                Assert.Contains(screen.All(story + " a[href='/batches?batch=44']"), IsNamed("batch 44"));
                Assert.Contains(screen.All(story + " a[href='/batches?batch=41']"), IsNamed("batch 41"));
                screen.Shows("a ring was possible", story);
                Assert.DoesNotContain("closed", screen.One(story).TextContent, StringComparison.Ordinal);
                break;
            case "serializability":
                Assert.Equal(
                    "The transaction must come after batch 44 and before batch 41; no place fits.",
                    screen.One(story + " svg.bounds").GetAttribute("aria-label"));
                break;
            case "undone":
                screen.Shows("PACT 1200", story + " .party.root");
                screen.Shows("Payout on Account/dan", story + " .party.root");
                Assert.Equal("/transactions?id=order-2", screen.One(story + " .party.root a").GetAttribute("href"));
                break;
            case "timeout":
                screen.Shows("Transfer", story + " .lanes");
                screen.Shows("It waited 40 ms before its first call ran", story);
                break;
        }
    }

    private static Predicate<IElement> IsNamed(string name) => link => Screen.Text(link) == name;

    private static bool IsRepeated(string reason) => reason is "conflict" or "deadlock" or "serializability" or "migration" or "undone";

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
