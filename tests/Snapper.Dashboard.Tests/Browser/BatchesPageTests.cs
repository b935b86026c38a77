using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>The page Batches names what held a batch back after its commit: in the table, in the picture, and in a sentence; also where it was an actor of another worker.</summary>
public sealed class BatchesPageTests(Chromium chromium) : IClassFixture<Chromium>
{
    [Fact]
    public async Task The_actor_that_held_a_batch_back_is_named_in_table_picture_and_sentence()
    {
        await using var w1 = await ScriptedWorker.Start();
        await using var w2 = await ScriptedWorker.Start("w2");
        w1.On("/v1/batches", () => new
        {
            batches = (object[])
            [
                Batch(12, "decision", 20, global: 5, preparedMs: 4), Batch(11, "batches", 15), Batch(10, "log", 12), Batch(9, "actor", 18), Batch(8, "actors", 18, state: "aborted"),
            ],
        });
        w2.On("/v1/batches", () => new { batches = (object[])[Batch(31, "actor", 18, global: 5, preparedMs: 25, last: "Account/far")] });
        await using var dashboard = await RunningDashboard.Start(w1.Url, w2.Url);
        await using var visit = await chromium.Open(dashboard.Url);
        await visit.Go("/batches?batch=9&worker=w1");
        var chosen = visit.Main.GetByRole(AriaRole.Region, new() { Name = "Batch 9" });
        await Assertions.Expect(chosen).ToContainTextAsync("What held it back: Account/late alone: it acknowledged last, 16 ms after Account/soon. All had acknowledged after 18 ms of 30 ms.");
        await Assertions.Expect(chosen.GetByRole(AriaRole.Link, new() { Name = "Account/late" })).ToHaveAttributeAsync("href", "/actor?type=Account&id=late");

        var rows = visit.Main.Locator("table tbody tr");
        string[] said = ["other workers", "batches before it", "the log", "Account/late", "all its actors"];
        for (var i = 0; i < said.Length; i++) await Assertions.Expect(rows.Filter(new() { Has = visit.Page.GetByRole(AriaRole.Link, new() { Name = $"{12 - i}", Exact = true }) })).ToContainTextAsync(said[i]);
        await Assertions.Expect(rows.GetByRole(AriaRole.Link, new() { Name = "Account/late" })).ToHaveAttributeAsync("href", "/actor?type=Account&id=late");
        await Assertions.Expect(visit.Main.Locator(".lanes li", new() { HasText = "Account/late" }).Locator("i.w1.last")).ToHaveAttributeAsync("title", "only Account/late still acting: 16 ms");
        await Assertions.Expect(visit.Main.Locator(".lanes i.open")).ToHaveCountAsync(0);
        await visit.Picture("batches-held-back");
        await visit.Check();

        await visit.Go("/batches?batch=12&worker=w1");
        await Assertions.Expect(visit.Main.GetByRole(AriaRole.Region, new() { Name = "Batch 12" }))
            .ToContainTextAsync("What held it back: the decision about its global batch 5, 20 ms of 30 ms: the part of w2 was prepared last, where Account/far acknowledged last, 16 ms after Account/soon.");
        await Assertions.Expect(visit.Main.GetByRole(AriaRole.Link, new() { Name = "w2", Exact = true })).ToHaveAttributeAsync("href", "/batches?worker=w2&batch=31");
    }

    private static object Batch(long number, string by, double ms, long? global = null, double? preparedMs = null, string last = "Account/late", string state = "committed") => new
    {
        batch = number, previousBatch = number - 1, transactions = 2, actors = 3, state, formedAtMs = 1_795_350_000_000 + (number * 10), completedMs = by == "actor" ? 18.0 : 3.0,
        queuedMs = state == "aborted" ? (double?)null : 28.0, committedMs = state == "aborted" ? (double?)null : 30.0, waitingFor = Array.Empty<string>(), globalBatch = global, preparedMs,
        lastActor = last, beforeLastActor = "Account/soon", lastActorAfterMs = by == "actor" ? 16.0 : 0.5, heldBackBy = by, heldBackMs = ms,
    };
}
