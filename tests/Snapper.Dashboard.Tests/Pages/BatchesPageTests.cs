using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Pages;

/// <summary>The page Batches names what held a batch back after its commit: in the table, in the picture, and in a sentence; also where it was an actor of another worker.</summary>
public sealed class BatchesPageTests
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
        await using var screen = Screen.Open(dashboard, "/batches?batch=9&worker=w1");
        const string Chosen = "section[aria-label='Batch 9']";
        screen.Shows(
            "What held it back: Account/late alone: it acknowledged last, 16 ms after Account/soon. "
                + "All had acknowledged after 18 ms of 30 ms.", Chosen);
        Assert.Equal("Account/late", Screen.Text(screen.One(Chosen + " a[href='/actor?type=Account&id=late']")));

        string[] said = ["other workers", "batches before it", "the log", "Account/late", "all its actors"];
        for (var i = 0; i < said.Length; i++)
        {
            var row = screen.All("table tbody tr").Single(row =>
                row.QuerySelectorAll("a").Any(link => Screen.Text(link) == $"{12 - i}"));
            Assert.Contains(said[i], Screen.Text(row), StringComparison.Ordinal);
        }

        Assert.Equal("Account/late", Screen.Text(screen.One("tbody a[href='/actor?type=Account&id=late']")));
        Assert.Contains(screen.All(".lanes li i.w1.last"), last =>
            last.GetAttribute("title") == "only Account/late still acting: 16 ms");
        Assert.Empty(screen.All(".lanes i.open"));

        await screen.Go("/batches?batch=12&worker=w1");
        screen.Shows(
            "What held it back: the decision about its global batch 5, 20 ms of 30 ms: the part of w2 was prepared last, "
                + "where Account/far acknowledged last, 16 ms after Account/soon.", "section[aria-label='Batch 12']");
        Assert.Equal("w2", Screen.Text(screen.One("main a[href='/batches?worker=w2&batch=31']")));
    }

    private static object Batch(long number, string by, double ms, long? global = null, double? preparedMs = null, string last = "Account/late", string state = "committed") => new
    {
        batch = number, previousBatch = number - 1, transactions = 2, actors = 3, state, formedAtMs = 1_795_350_000_000 + (number * 10), completedMs = by == "actor" ? 18.0 : 3.0,
        queuedMs = state == "aborted" ? (double?)null : 28.0, committedMs = state == "aborted" ? (double?)null : 30.0, waitingFor = Array.Empty<string>(), globalBatch = global, preparedMs,
        lastActor = last, beforeLastActor = "Account/soon", lastActorAfterMs = by == "actor" ? 16.0 : 0.5, heldBackBy = by, heldBackMs = ms,
    };
}
