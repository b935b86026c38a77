using System.Text.Json.Nodes;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Sidecar;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Applications;

/// <summary>
/// <c>GET /dapr/config</c> of an application that hosts plain Dapr actors, too: all types of both. What the other host
/// says of its actors holds for its own, what we say for ours (<c>entitiesConfig</c>).
/// </summary>
/// <param name="endpoints">Of the whole application.</param>
internal sealed class SharedDaprConfig(IEndpointRouteBuilder endpoints)
{
    private const string Entities = "entities";
    private const string PerType = "entitiesConfig";

    /// <summary>Adds what the other host says to what ours does.</summary>
    public RequestDelegate Merged(RequestDelegate own) => async context =>
    {
        if (Other() is not { } other)
        {
            await own(context);
            return;
        }

        var ours = await Ask(own, context.RequestServices);
        var theirs = await Ask(other, context.RequestServices);
        context.Response.ContentType = "application/json";
        await context.Response.WriteAsync(Merge(ours, theirs).ToJsonString(), context.RequestAborted);
    };

    /// <summary>Looks whether the other host is served, and whether both have an actor type of one name.</summary>
    /// <param name="types">All that this worker registers.</param>
    /// <param name="services">Of the application.</param>
    /// <exception cref="UsageException">It is not, or they have; the message names the types.</exception>
    public async Task Check(IReadOnlyList<string> types, IServiceProvider services)
    {
        await using var scope = services.CreateAsyncScope();
        if (Other() is not { } other)
        {
            var unserved = string.Join(", ", PlainActors(scope.ServiceProvider));
            if (unserved.Length > 0)
            {
                throw new UsageException(
                    $"AddActors of Dapr's SDK registers the plain actors {unserved}, and nothing serves them: "
                    + "app.MapActorsHandlers() is missing (app.MapSnapper() serves transactional ones).");
            }

            return;
        }

        var plain = Names(await Ask(other, scope.ServiceProvider)).FirstOrDefault(types.Contains);
        if (plain is not null)
        {
            throw new UsageException(
                $"The actor type {plain} is hosted twice: as a plain Dapr actor (AddActors of Dapr's SDK), "
                + "and as a transactional one (AddSnapper). Give one of them another name.");
        }
    }

    /// <summary>The actor types that are registered with Dapr's SDK, which is no package of ours.</summary>
    private static IEnumerable<string> PlainActors(IServiceProvider services)
    {
        var runtime = Type.GetType("Dapr.Actors.Runtime.ActorRuntime, Dapr.Actors");
        if (runtime is null || services.GetService(runtime) is not { } registered)
        {
            yield break;
        }

        foreach (dynamic actor in ((dynamic)registered).RegisteredActors)
        {
            yield return actor.Type.ActorTypeName;
        }
    }

    private RequestDelegate? Other() => endpoints.DataSources.SelectMany(EndpointsOf)
        .OfType<RouteEndpoint>()
        .FirstOrDefault(static one =>
            "/" + one.RoutePattern.RawText?.TrimStart('/') == HttpActorTransport.ConfigAddress
            && one.Metadata.GetMetadata<AccessRow>() is null)
        ?.RequestDelegate;

    // The application's own are made here for the first time. What is wrong with one is not of this class.
    private static IReadOnlyList<Endpoint> EndpointsOf(EndpointDataSource source)
    {
        try
        {
            return source.Endpoints;
        }
        catch (InvalidOperationException wrong)
        {
            throw new InvalidOperationException(
                "The application's own endpoints cannot be made: one that it has mapped has a mistake. A parameter "
                + "that no service is registered for is taken for the body; for an injected IActorProxyFactory, "
                + "services.AddActorProxyFactory() of Snapper.DaprCompatibility registers one. ASP.NET says: "
                + wrong.Message,
                wrong);
        }
    }

    private static async Task<JsonObject> Ask(RequestDelegate endpoint, IServiceProvider services)
    {
        using var body = new MemoryStream();
        var context = new DefaultHttpContext { RequestServices = services };
        context.Request.Method = HttpMethods.Get;
        context.Request.Path = HttpActorTransport.ConfigAddress;
        context.Request.Headers[DaprHeaders.ApiToken] = services.GetRequiredService<WorkerSettings>().AppApiToken;
        context.Response.Body = body;
        await endpoint(context);
        await context.Response.BodyWriter.FlushAsync();
        return JsonNode.Parse(body.ToArray()) as JsonObject
            ?? throw new InvalidOperationException("An answer to GET /dapr/config is no JSON object.");
    }

    private static JsonObject Merge(JsonObject ours, JsonObject theirs)
    {
        var perType = theirs[PerType]?.DeepClone() as JsonArray ?? [];
        perType.Add(ours.DeepClone());
        theirs[Entities] = new JsonArray([.. Names(theirs).Concat(Names(ours)).Select(static name => (JsonNode)name)]);
        theirs[PerType] = perType;
        return theirs;
    }

    private static IEnumerable<string> Names(JsonObject config) =>
        config[Entities] is JsonArray names ? names.Select(static name => (string)name!) : [];
}
