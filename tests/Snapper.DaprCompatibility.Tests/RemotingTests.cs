using System.Net;
using System.Text.RegularExpressions;
using Dapr.Actors;
using Dapr.Actors.Client;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>What the typed proxies of Dapr's SDK send.</summary>
public sealed class RemotingTests
{
    /// <summary>
    /// While this holds, a call without argument of a proxy that expects DataContract cannot be refused: the worker
    /// learns nothing by which to tell it from one that expects JSON. The first one that differs makes it possible.
    /// </summary>
    [Fact]
    public async Task A_call_without_argument_is_the_same_with_JSON_and_with_DataContract()
    {
        var (json, xml) = (new Recorder(), new Recorder());
        await Send(json, true);
        await Send(xml, false);

        Assert.Contains("X-DaprRequestHeader", json.Request, StringComparison.Ordinal);
        Assert.Equal(json.Request, xml.Request);
    }

    private static async Task Send(Recorder recorder, bool useJson)
    {
        var options = new ActorProxyOptions { HttpEndpoint = "http://127.0.0.1:1", UseJsonSerialization = useJson };
        var proxy = new ActorProxyFactory(options, recorder).CreateActorProxy<ICounter>(new ActorId("c"), "Counter");
        await Assert.ThrowsAnyAsync<Exception>(proxy.Next);
    }

    private sealed class Recorder : HttpMessageHandler
    {
        public string Request { get; private set; } = "";

        protected override async Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request, CancellationToken cancellationToken)
        {
            var body = request.Content is null ? "no body" : await request.Content.ReadAsStringAsync(cancellationToken);
            Request = Regex.Replace($"{request}\n{body}", "[0-9a-f-]{36}", "ID OF THE CALL");
            return new HttpResponseMessage(HttpStatusCode.InternalServerError);
        }
    }
}
