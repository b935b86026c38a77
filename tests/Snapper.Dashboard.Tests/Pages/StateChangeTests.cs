using System.Net;
using Bunit;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Pages;

/// <summary>Changes of states: the requests to the workers, and what a page makes of their answers.</summary>
public sealed class StateChangeTests
{
    [Fact]
    public async Task One_actor_is_deleted_on_its_page_with_a_reason_and_a_typed_confirmation()
    {
        await using var worker = await ScriptedWorker.Start();
        OnActor(worker);
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/actor?type=Account&id=a");
        screen.Press("This actor");
        screen.Type("to confirm", "delete Account/a");
        Assert.True(Delete(screen).HasAttribute("disabled")); // there is no reason yet
        screen.Type("Reason", "closed");
        Delete(screen).Click();
        screen.Shows("It was deleted.");
        Assert.Contains(worker.Asked, one => one.Contains("reason=closed", StringComparison.Ordinal)
            && !one.Contains("damaged=", StringComparison.Ordinal));
    }

    [Fact]
    public async Task What_cannot_be_read_is_deleted_only_with_the_box()
    {
        await using var worker = await ScriptedWorker.Start();
        OnActor(worker);
        worker.Refuses = view => view.Contains("reason=", StringComparison.Ordinal)
            && !view.Contains("damaged=replace", StringComparison.Ordinal) ? "its state cannot be read" : null;
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/actor?type=Account&id=a");
        Ask();
        Delete(screen).Click();
        screen.Shows("0 states changed, 1 not");
        Ask();
        screen.Field("cannot be read").Change(true);
        Delete(screen).Click();
        screen.Shows("It was deleted.");

        void Ask()
        {
            screen.Press("This actor");
            screen.Type("Reason", "torn");
            screen.Type("to confirm", "delete Account/a");
        }
    }

    [Fact]
    public async Task What_is_wrong_with_a_file_is_told_by_line_and_nothing_is_imported()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/actor-types", () => new { types = (object[])[new { type = "Account", methods = Array.Empty<object>() }] });
        worker.On("PUT /v1/actors/Account/good", () => new { outcome = "committed" });
        worker.Refuses = view => view.StartsWith("/v1/actors/Account/bad", StringComparison.Ordinal) ? "'chequing' is no field" : null;
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        await using var screen = Screen.Open(dashboard, "/types?type=Account");
        screen.One("input[type=file]");
        screen.Choose("a.jsonl", """
            {"type":"Account","id":"x","state":{"checking":1,"savings":1}}
            {"type":"Account","id":"x","state":{"checking":2,"savings":1}}
            {"type":"Account"}
            """);
        screen.Shows("line 2: Account/x stands in line 1 already");
        screen.Shows("line 3: type and id must be texts");
        Assert.DoesNotContain("to confirm", screen.One("main").TextContent, StringComparison.Ordinal);

        // What only the worker can tell stands beside its actor, and the others are imported.
        screen.Choose("a.jsonl", """
            {"type":"Account","id":"good","state":{"checking":1,"savings":1}}
            {"type":"Account","id":"bad","state":{"chequing":1}}
            """);
        screen.Type("Reason", "a test");
        screen.Type("to confirm", "import 2");
        screen.Press("Import 2 states");
        screen.Shows("1 state changed, 1 not");
        screen.Holds(() => Assert.Contains(screen.All("tr"), row =>
            row.TextContent.Contains("Account/bad", StringComparison.Ordinal)
                && row.TextContent.Contains("'chequing' is no field", StringComparison.Ordinal)));
        Assert.Contains(worker.Shown, one => one.StartsWith("PUT /v1/actors/Account/good ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task An_export_that_cannot_be_whole_is_no_file()
    {
        await using var worker = await ScriptedWorker.Start();
        worker.On("/v1/actors", () => new { type = "Account", worker = "w1", actors = Enumerable.Range(0, 20).Select(i => new { id = $"a{i}", version = 1, resident = false }), next = (string?)null });
        for (var i = 0; i < 9; i++) worker.On($"/v1/actors/Account/a{i}", () => new { type = "Account", id = "a", state = new { checking = 1 }, version = 1 });
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        using var http = new HttpClient();
        await Assert.ThrowsAnyAsync<Exception>(() => http.GetByteArrayAsync(new Uri(new Uri(dashboard.Url), "/export/Account"))); // a9 is not told: cut off
        worker.Silent = true;
        using var refused = await http.GetAsync(new Uri(new Uri(dashboard.Url), "/export/Account"));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
    }

    /// <summary>It has an actor, which is gone once it is deleted.</summary>
    private static void OnActor(ScriptedWorker worker)
    {
        object? state = new { checking = 1 };
        worker.On("/v1/actors/Account/a", () => new
        {
            type = "Account", id = "a", state, version = 1, lastBatch = 7, worker = "w1", resident = true,
        });
        worker.On("DELETE /v1/actors/Account/a", () =>
        {
            state = null;
            return new { outcome = "committed" };
        });
    }

    private static AngleSharp.Dom.IElement Delete(Screen screen) =>
        screen.All("button").Single(one => Screen.Text(one) == "Delete 1 state");
}
