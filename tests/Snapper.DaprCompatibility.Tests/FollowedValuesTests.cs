using System.Net.Http.Json;
using System.Text.Json;
using System.Text.Json.Nodes;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Tests;
using Snapper.Client;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Testing;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>A value that was set is saved as it is at the end of the method, whatever was called in between.</summary>
public sealed class FollowedValuesTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_actors = [InvoiceDescriptor.Instance, CounterDescriptor.Instance];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-followed-");

    public void Dispose() => _data.Delete(recursive: true);

    [Theory]
    [InlineData("set", """{"paper":{"number":1,"remark":"numbered","lines":[]}}""")]
    [InlineData("getOrAdd", """{"paper":{"number":1,"remark":"numbered","lines":[]}}""")]
    [InlineData("addOrUpdate", """{"paper":{"number":1,"remark":"","lines":["2"]}}""")]
    [InlineData("only read", """{"paper":{"number":0,"remark":"stored","lines":[]}}""")]
    [InlineData("saved", """{"paper":{"number":0,"remark":"","lines":[]}}""")]
    [InlineData("set again", """{"paper":{"number":0,"remark":"another","lines":[]}}""")]
    [InlineData("removed", "{}")]
    [InlineData("unloaded", """{"paper":{"number":0,"remark":"","lines":[]}}""")]
    [InlineData("a call back reads", """{"paper":{"number":1,"remark":"1 was seen","lines":[]}}""")]
    [InlineData("a call back writes another", """{"paper":{"number":1,"remark":"","lines":[]},"other":1}""")]
    [InlineData("a call back writes", """{"paper":{"number":1,"remark":"by the call back","lines":[]}}""")]
    [InlineData("a call back wins", """{"paper":{"number":0,"remark":"by the call back","lines":[]}}""")]
    public async Task What_was_set_is_saved_as_it_is_at_the_end(string way, string state)
    {
        await using (var app = await WebApp.Start(_data.FullName, s_actors))
        {
            await app.Commit("Invoice", "a", "Run", way);
            Assert.Equal(state, await State(app.Client));
        }

        // A state in memory proves little: what was recorded is what comes back.
        await using var again = await WebApp.Start(_data.FullName, s_actors);
        Assert.Equal(state, await State(again.Client));
    }

    [Theory]
    [InlineData("both write", "The actor state 'paper' was set by this method, then by a call back")]
    [InlineData("failed", "after the call")]
    public async Task What_would_be_lost_or_has_failed_aborts(string way, string words)
    {
        await using var app = await WebApp.Start(_data.FullName, s_actors);
        using var answer = await app.Client.PostAsJsonAsync(
            "/v1/transactions", new { actor = new { type = "Invoice", id = "a" }, method = "Run", input = way });
        var failed = (await answer.Content.ReadFromJsonAsync<JsonNode>())!;
        Assert.Equal("aborted", (string?)failed["outcome"]);
        Assert.Contains(words, (string?)failed["abort"]!["message"], StringComparison.Ordinal);
        var actor = await app.Client.GetFromJsonAsync<JsonNode>("/v1/actors/Invoice/a");
        Assert.Equal(0, (int)actor!["version"]!);
    }

    [Theory]
    [InlineData("set")]
    [InlineData("addOrUpdate")]
    [InlineData("a call back reads")]
    [InlineData("a call back writes")]
    [InlineData("a call back wins")]
    public async Task Methods_that_run_twice_do_the_same(string way)
    {
        await using var test = await SnapperTest.Start(options =>
        {
            options.RunMethodsTwice = true;
            options.AddActors(s_actors);
        });
        var reply = await test.Client.Submit(new TransactionRequestMessage
        {
            Actor = new ActorKey("Invoice", "a"), Method = "Run", Mode = TransactionMode.Act,
            Input = JsonSerializer.SerializeToUtf8Bytes(way),
        });
        Assert.Equal((TransactionOutcome.Committed, null), (reply.Outcome, reply.Abort?.Message));
    }

    private static async Task<string> State(HttpClient client)
    {
        var actor = await client.GetFromJsonAsync<JsonNode>("/v1/actors/Invoice/a");
        return actor!["state"]!.ToJsonString();
    }
}
