using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Tests;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>Classes that were plain Dapr actors, in a worker.</summary>
public sealed class CompatibilityTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_actors = [BasketActorDescriptor.Instance, RelayDescriptor.Instance];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-compat-");

    public void Dispose() => _data.Delete(recursive: true);

    [Fact]
    public void A_class_is_described_by_its_interfaces_and_names()
    {
        Assert.Equal(["Basket", "Relay"], s_actors.Select(static one => one.Type));
        Assert.Equal(
            ["Put", "Read", "Move", "Try", "CallBack", "Bump", "Seen", "$importNew"],
            s_actors[0].Methods.Select(static one => one.Name));
        Assert.Equal(typeof(Snapper.Actors.Nothing), s_actors[0].Methods[1].InputType);
        Assert.Equal((typeof(Move), typeof(NamedStates)), (s_actors[0].Methods[2].InputType, s_actors[0].StateType));
        Assert.Contains("BasketActor", NamesInCatalogue());
    }

    [Fact]
    public async Task Values_are_kept_by_name_as_JSON_of_the_SDK()
    {
        await using (var app = await Start())
        {
            Assert.Equal(1, (int)await app.Commit("Basket", "a", "Put", new { product = "pen", count = 2 }));
            Assert.Equal(2, (int)await app.Commit("Basket", "a", "Put", new { product = "ink", count = 1 }));
            Assert.Equal("False True 5", (string?)await app.Commit("Basket", "a", "Try", "try"));
            Assert.Equal("True False False", (string?)await app.Commit("Basket", "a", "Try", "remove"));
            Assert.Equal(
                "False x An actor state with the name 'added' already exists.",
                (string?)await app.Commit("Basket", "a", "Try", "add"));
        }

        await using var again = await Start();
        Assert.Equal("True,False,True", (string?)await again.Commit("Basket", "a", "Try", "kept"));
        Assert.Equal(
            "Actor state with name no was not found.", (string?)await again.Commit("Basket", "a", "Try", "missing"));
        Assert.Equal("False", (string?)await again.Commit("Basket", "a", "Try", "clear"));
        Assert.Equal("a a a False", (string?)await again.Commit("Basket", "a", "Try", "id"));
        Assert.Equal(
            """{"basket":{"items":{"pen":2,"ink":1}},"puts":2,"yes":5,"added":"x"}""", await State(again, "a"));
        Assert.Equal(
            """{"items":{"pen":2,"ink":1}}""",
            (await again.Commit("Basket", "a", "Read", null)).ToJsonString());
    }

    [Theory]
    [InlineData("proxy")]
    [InlineData("options")]
    [InlineData("factory")]
    [InlineData("type")]
    [InlineData("untyped")]
    [InlineData("own")]
    public async Task Every_way_to_call_another_actor_is_in_the_transaction(string way)
    {
        await using var app = await Start();
        await app.Commit("Basket", "a", "Put", new { product = "pen", count = 2 });

        var failed = await Send(app, "a", "Move", new { to = "b", product = "pen", way, fail = true });
        Assert.Equal("aborted", (string?)failed["outcome"]);
        Assert.Contains("after the call", failed.ToJsonString(), StringComparison.Ordinal);
        Assert.Equal("""{"basket":{"items":{"pen":2}},"puts":1}""", await State(app, "a"));
        var untouched = await app.Client.GetFromJsonAsync<JsonNode>("/v1/actors/Basket/b");
        Assert.Equal(0, (int)untouched!["version"]!);

        await app.Commit("Basket", "a", "Move", new { to = "b", product = "pen", way });
        Assert.Equal("""{"basket":{"items":{}},"puts":1}""", await State(app, "a"));
        Assert.Equal("""{"basket":{"items":{"pen":2}},"puts":1}""", await State(app, "b"));
    }

    [Theory]
    [InlineData("a")]
    [InlineData("r")]
    public async Task A_call_back_sees_what_was_set_and_is_seen(string by)
    {
        await using var app = await Start();
        Assert.Equal("11 11", (string?)await app.Commit("Basket", "a", "CallBack", by));
        Assert.Equal(12, (int)await app.Commit("Basket", "a", "Bump", null));
    }

    [Fact]
    public async Task What_the_base_class_calls_around_a_method_is_called_for_each()
    {
        await using var app = await Start();
        for (var i = 0; i < 2; i++)
        {
            Assert.Equal(
                """["activated","ActorInterfaceMethod Seen"]""",
                (await app.Commit("Basket", "a", "Seen", null)).ToJsonString());
        }
    }

    [Theory]
    [InlineData("deep", "depth")]
    [InlineData("ttl", "live for a time only")]
    public async Task What_cannot_be_kept_aborts_in_words(string what, string words)
    {
        await using var app = await Start();
        var failed = await Send(app, "a", "Try", what);
        Assert.Equal("aborted", (string?)failed["outcome"]);
        Assert.Contains(words, (string?)failed["abort"]!["message"], StringComparison.Ordinal);
    }

    /// <summary>None is lost, though each reads and then writes.</summary>
    [Fact]
    public async Task Calls_on_one_actor_at_once_all_count()
    {
        await using var app = await Start();
        var bumps = await Task.WhenAll(Enumerable.Range(0, 50).Select(_ => Send(app, "a", "Bump", null)));
        Assert.Equal(
            Enumerable.Range(1, 50), bumps.Select(static one => (int)one["result"]!).Order());
    }

    private static IEnumerable<string> NamesInCatalogue() =>
        ActorCatalogueAttribute.TypesOf(typeof(CompatibilityTests).Assembly)!.Select(static one => one.ActorClass.Name);

    private Task<WebApp> Start() => WebApp.Start(_data.FullName, s_actors);

    private static async Task<JsonNode> Send(WebApp app, string id, string method, object? input)
    {
        using var answer = await app.Client.PostAsJsonAsync(
            "/v1/transactions", new { actor = new { type = "Basket", id }, method, input });
        return (await answer.Content.ReadFromJsonAsync<JsonNode>())!;
    }

    private static async Task<string> State(WebApp app, string id)
    {
        var actor = await app.Client.GetFromJsonAsync<JsonNode>($"/v1/actors/Basket/{id}");
        return actor!["state"]!.ToJsonString();
    }
}
