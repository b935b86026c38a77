using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Dapr.Actors;
using Dapr.Actors.Client;
using Dapr.Actors.Runtime;

namespace Snapper.AspNetCore.Tests;

public sealed record Degrees(int Value);

/// <summary>A plain actor's interface.</summary>
public interface IProbe : IActor
{
    Task<int> Add(Degrees more);

    Task<int> Refuse();
}

/// <summary>A method of the same name in an interface of the caller's own.</summary>
public interface IProbeOfTheCaller : IActor
{
    Task<int> Add(int amount);
}

/// <summary>A plain actor of Dapr's SDK.</summary>
public sealed class Probe(ActorHost host) : Actor(host), IProbe
{
    private int _degrees;

    public Task<int> Add(Degrees more) => Task.FromResult(_degrees += more.Value);

    public Task<int> Refuse() => throw new InvalidOperationException("too hot");
}

/// <summary>
/// What the SDK's host of actors does otherwise than the actor door promises, each beside what the door does: why the
/// door is no actor of the SDK (docs/decisions/actor-door.md). Where one of them fails with a newer SDK, that page is
/// to be looked at.
/// </summary>
public sealed class SdkActorTests : IAsyncLifetime
{
    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-sdk-");
    private WebApp _app = null!;

    public async Task InitializeAsync() => _app = await WebApp.Start(
        _data.FullName, [Counter()],
        static builder => builder.Services.AddActors(static options =>
        {
            options.UseJsonSerialization = true;
            options.Actors.RegisterActor<Probe>();
        }),
        static application =>
        {
            application.MapActorsHandlers();
            application.MapSnapper();
        });

    public async Task DisposeAsync()
    {
        await _app.DisposeAsync();
        _data.Delete(recursive: true);
    }

    [Fact]
    public async Task The_ids_a_slash_b_and_its_escaped_text_are_two_actors_here_and_one_of_the_SDK()
    {
        // "a/b", and the five characters "a%2Fb".
        Assert.Equal("1", await Text("Counter", "a%2Fb", "Add", "1"));
        Assert.Equal("1", await Text("Counter", "a%252Fb", "Add", "1"));
        Assert.Equal("1", await Text("Probe", "a%2Fb", "Add", """{"value":1}"""));
        Assert.Equal("2", await Text("Probe", "a%252Fb", "Add", """{"value":1}"""));
    }

    [Theory]
    [InlineData("%20", "Add", "1", """{"value":1}""", HttpStatusCode.OK)] // an id that is a space
    [InlineData("x", "Nothing", "1", "{}", HttpStatusCode.NotFound)]
    [InlineData("x", "Add", "[1]", """[{"value":1}]""", HttpStatusCode.OK)] // arguments of the SDK for JavaScript
    [InlineData("x", "Add", "{", "{", HttpStatusCode.BadRequest)]
    [InlineData("x", "Refuse", "1", "", HttpStatusCode.NotFound)]
    public async Task Of_what_the_door_answers_with_words_the_SDK_makes_an_empty_500(
        string id, string method, string ours, string theirs, HttpStatusCode expected)
    {
        using var here = await Call("Counter", id, method, ours);
        Assert.Equal(expected, here.StatusCode);
        Assert.NotEqual("", await here.Content.ReadAsStringAsync());
        using var there = await Call("Probe", id, method, theirs);
        Assert.Equal(HttpStatusCode.InternalServerError, there.StatusCode);
        Assert.Equal("", await there.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task A_field_that_an_input_does_not_have_is_refused_here_and_passed_over_by_the_SDK()
    {
        using var here = await Call("Counter", "x", "StartTransaction", """{"method":"Add","input":1,"acces":{}}""");
        var refused = await here.Content.ReadAsStringAsync();
        Assert.Contains("\"outcome\":\"rejected\"", refused, StringComparison.Ordinal);
        Assert.Contains("acces", refused, StringComparison.Ordinal);
        Assert.Equal("1", await Text("Probe", "x", "Add", """{"value":1,"unit":"C"}"""));
    }

    [Fact]
    public async Task A_reminder_is_refused_here_and_passed_over_by_the_SDK()
    {
        const string due = """{"dueTime":"1s","period":"1s"}""";
        using var here = await Call("Counter", "x", "remind/daily", due);
        Assert.Equal(HttpStatusCode.NotFound, here.StatusCode);
        using var there = await Call("Probe", "x", "remind/daily", due);
        Assert.Equal(HttpStatusCode.OK, there.StatusCode);
    }

    [Fact]
    public async Task A_typed_proxy_needs_the_host_s_own_interface_with_the_SDK_and_the_method_s_name_alone_here()
    {
        var options = new ActorProxyOptions
        {
            HttpEndpoint = _app.Sidecar.BaseAddress!.GetLeftPart(UriPartial.Authority), UseJsonSerialization = true,
        };
        Assert.Equal(3, await ActorProxy.Create<IProbeOfTheCaller>(new ActorId("x"), "Counter", options).Add(3));
        var plain = ActorProxy.Create<IProbeOfTheCaller>(new ActorId("x"), "Probe", options);
        await Assert.ThrowsAsync<ActorMethodInvocationException>(() => plain.Add(3));
        Assert.Equal(3, await ActorProxy.Create<IProbe>(new ActorId("x"), "Probe", options).Add(new Degrees(3)));
    }

    private static Actors.Generated.ActorTypeDescriptor Counter() =>
        SnapperAspNetCoreTestsActors.All.Single(static type => type.Type == "Counter");

    private async Task<string> Text(string type, string id, string method, string body)
    {
        using var answer = await Call(type, id, method, body);
        return await answer.Content.ReadAsStringAsync();
    }

    private async Task<HttpResponseMessage> Call(string type, string id, string method, string body)
    {
        using var request = new HttpRequestMessage(
            HttpMethod.Put, new Uri($"/actors/{type}/{id}/method/{method}", UriKind.Relative))
        {
            Content = new StringContent(body, Encoding.UTF8, new MediaTypeHeaderValue("application/json")),
        };
        return await _app.Client.SendAsync(request);
    }
}
