using System.Text;
using System.Text.Json;
using Microsoft.Playwright;

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

    // The owner checkpoints before it answers; another worker tells what is in the store.
    private async Task<JsonElement> Newest(string id) =>
        (await Task.WhenAll(system.Ask(0, "/v1/actors/Account/" + id), system.Ask(1, "/v1/actors/Account/" + id))).MaxBy(answer => answer.GetProperty("version").GetInt64());

    private static async Task Import(Visit visit, string lines)
    {
        await visit.Main.Locator("summary", new() { HasText = "Import states" }).ClickAsync();
        await visit.Main.Locator("input[type=file]").SetInputFilesAsync(new FilePayload { Name = File, MimeType = "application/x-ndjson", Buffer = Encoding.UTF8.GetBytes(lines) });
    }

    private static async Task<JsonElement[]> Save(Visit visit, string link)
    {
        var download = await visit.Page.RunAndWaitForDownloadAsync(() => visit.Page.GetByRole(AriaRole.Link, new() { Name = link }).ClickAsync());
        Assert.Equal("snapper-Account.jsonl", download.SuggestedFilename);
        return [.. (await System.IO.File.ReadAllLinesAsync(await download.PathAsync())).Select(line => JsonSerializer.Deserialize<JsonElement>(line))];
    }
}
