using System.Net;
using System.Text;
using System.Text.Json;
using Microsoft.Playwright;
using Snapper.Dashboard.Tests.Fakes;
using Snapper.Live.Harness;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>States of a running system are saved to a file, changed there, put back and taken away: by a browser, with a reason and a typed confirmation.</summary>
[Collection(OnLiveSystem.Name)]
public sealed class StateChangeTests(Chromium chromium, LiveSystem system)
{
    private const string File = "a.jsonl";

    [Fact]
    public async Task States_are_saved_imported_and_deleted_under_load()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/types?type=Account&search=kept-");
        await Assertions.Expect(visit.Main).ToContainTextAsync("None is stored that begins like this.");
        await Import(visit, """
            {"type":"Account","id":"kept-1","state":{"checking":11,"savings":1}}
            {"type":"Account","id":"kept-2","state":{"checking":22,"savings":2}}
            """);
        var button = visit.Page.GetByRole(AriaRole.Button, new() { Name = "Import 2 states" });
        await visit.Page.GetByLabel("to confirm").FillAsync("import 2");
        await Assertions.Expect(button).ToBeDisabledAsync(); // there is no reason yet
        await visit.Page.GetByLabel("Reason").FillAsync("a test");
        await visit.Picture("import-confirm");
        await visit.Check();
        await button.ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("2 states changed.");
        Assert.Equal(22, (await Newest("kept-2")).GetProperty("state").GetProperty("checking").GetInt32());
        await Assertions.Expect(visit.Main.Locator("tbody a", new() { HasText = "kept-2" })).ToBeVisibleAsync();

        // What was saved is what can be imported.
        var saved = await Save(visit, "Save all states that begin so");
        Assert.Equal([11, 22], saved.Select(line => line.GetProperty("state").GetProperty("checking").GetInt32()).Order());
        Assert.All(saved, line => Assert.StartsWith("kept-", line.GetProperty("id").GetString(), StringComparison.Ordinal));

        await visit.Main.Locator("summary", new() { HasText = "Delete actors" }).ClickAsync();
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "The 2 actors listed above" }).ClickAsync();
        await visit.Page.GetByLabel("Reason").FillAsync("no more needed");
        await visit.Page.GetByLabel("to confirm").FillAsync("delete 2");
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Delete 2 states" }).ClickAsync();

        // The list tells what is stored, which follows the log by 5 s at most.
        await Assertions.Expect(visit.Main).ToContainTextAsync("None is stored that begins like this.");
        Assert.Equal(JsonValueKind.Null, (await Newest("kept-1")).GetProperty("state").ValueKind);
        var audits = await Task.WhenAll(system.Ask(0, "/v1/audit"), system.Ask(1, "/v1/audit"));
        var told = audits.SelectMany(audit => audit.GetProperty("entries").EnumerateArray()).Select(entry => $"{entry.GetProperty("action")} {entry.GetProperty("target")} {entry.GetProperty("reason")}").ToArray();
        Assert.Contains("import Account/kept-1 a test", told);
        Assert.Contains("delete Account/kept-2 no more needed", told);
    }

    [Fact]
    public async Task One_actor_is_deleted_on_its_page()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        using var http = new HttpClient();
        using var put = await http.PutAsync(new Uri(system.Snapper.Ready.Workers[0].Url, "/v1/actors/Account/one-gone"), new StringContent("""{"checking":1,"savings":1}"""));
        Assert.Equal(HttpStatusCode.OK, put.StatusCode);
        await visit.Go("/actor?type=Account&id=one-gone");
        await visit.Main.Locator("summary", new() { HasText = "Delete it" }).ClickAsync();
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "This actor", Exact = true }).ClickAsync();
        await visit.Page.GetByLabel("Reason").FillAsync("closed");
        await visit.Page.GetByLabel("to confirm").FillAsync("delete Account/one-gone");
        await visit.Picture("delete-confirm");
        await visit.Check();
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Delete 1 state" }).ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("It was deleted.");
        Assert.Equal(2, (await Newest("one-gone")).GetProperty("version").GetInt32());
    }

    [Fact]
    public async Task What_cannot_be_read_is_deleted_only_with_the_box()
    {
        var password = RedisLine.PasswordIn(system.Snapper.Options.Data);
        Assert.Equal(":2", await RedisLine.Ask(new Uri("redis://" + system.Snapper.Ready.Redis).Port, "HSET snapper:{state}:Account/torn version 3 state {", password));
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/actor?type=Account&id=torn");
        await Assertions.Expect(visit.Main).ToContainTextAsync("cannot be read");
        await Delete(false);
        await Assertions.Expect(visit.Main).ToContainTextAsync("0 states changed, 1 not");
        await Delete(true);
        await Assertions.Expect(visit.Main).ToContainTextAsync("It was deleted.");
        Assert.Equal(4, (await Newest("torn")).GetProperty("version").GetInt32());

        async Task Delete(bool overDamage)
        {
            if (!overDamage) await visit.Main.Locator("summary", new() { HasText = "Delete it" }).ClickAsync();
            await visit.Page.GetByRole(AriaRole.Button, new() { Name = "This actor", Exact = true }).ClickAsync();
            await visit.Page.GetByLabel("Reason").FillAsync("torn");
            await visit.Page.GetByLabel("to confirm").FillAsync("delete Account/torn");
            if (overDamage) await visit.Page.GetByLabel("cannot be read").CheckAsync();
            await visit.Picture(overDamage ? "delete-damaged" : "delete-damaged-refused");
            await visit.Check();
            await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Delete 1 state" }).ClickAsync();
        }
    }

    [Fact]
    public async Task What_is_wrong_with_a_file_is_told_by_line_and_nothing_is_imported()
    {
        await using var visit = await chromium.Open(system.Dashboard);
        await visit.Go("/types?type=Account");
        await Import(visit, """
            {"type":"Account","id":"x","state":{"checking":1,"savings":1}}
            {"type":"Account","id":"x","state":{"checking":2,"savings":1}}
            {"type":"Account"}
            """);
        await Assertions.Expect(visit.Main.Locator("li", new() { HasText = "line 2: Account/x stands in line 1 already" })).ToBeVisibleAsync();
        await Assertions.Expect(visit.Main.Locator("li", new() { HasText = "line 3: type and id must be texts" })).ToBeVisibleAsync();
        await Assertions.Expect(visit.Page.GetByLabel("to confirm")).ToHaveCountAsync(0);

        // What only the worker can tell stands beside its actor, and the others are imported.
        await Import(visit, """
            {"type":"Account","id":"good","state":{"checking":1,"savings":1}}
            {"type":"Account","id":"bad","state":{"chequing":1}}
            """, open: false);
        await visit.Page.GetByLabel("Reason").FillAsync("a test");
        await visit.Page.GetByLabel("to confirm").FillAsync("import 2");
        await visit.Page.GetByRole(AriaRole.Button, new() { Name = "Import 2 states" }).ClickAsync();
        await Assertions.Expect(visit.Main).ToContainTextAsync("1 state changed, 1 not");
        await Assertions.Expect(visit.Main.Locator("tr", new() { HasText = "Account/bad" }).Last).ToContainTextAsync("chequing");
        await visit.Check();
        Assert.Equal(JsonValueKind.Null, (await Newest("bad")).GetProperty("state").ValueKind);
        Assert.Equal(JsonValueKind.Object, (await Newest("good")).GetProperty("state").ValueKind);
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

    // The owner checkpoints before it answers; another worker tells what is in the store.
    private async Task<JsonElement> Newest(string id) =>
        (await Task.WhenAll(system.Ask(0, "/v1/actors/Account/" + id), system.Ask(1, "/v1/actors/Account/" + id))).MaxBy(answer => answer.GetProperty("version").GetInt64());

    private static async Task Import(Visit visit, string lines, bool open = true)
    {
        if (open) await visit.Main.Locator("summary", new() { HasText = "Import states" }).ClickAsync();
        await visit.Main.Locator("input[type=file]").SetInputFilesAsync(new FilePayload { Name = File, MimeType = "application/x-ndjson", Buffer = Encoding.UTF8.GetBytes(lines) });
    }

    private static async Task<JsonElement[]> Save(Visit visit, string link)
    {
        var download = await visit.Page.RunAndWaitForDownloadAsync(() => visit.Page.GetByRole(AriaRole.Link, new() { Name = link }).ClickAsync());
        Assert.Equal("snapper-Account.jsonl", download.SuggestedFilename);
        return [.. (await System.IO.File.ReadAllLinesAsync(await download.PathAsync())).Select(line => JsonSerializer.Deserialize<JsonElement>(line))];
    }
}
