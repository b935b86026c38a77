using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;

namespace Snapper.Doors;

/// <summary>A request that goes through an actor of the SDK to our own door.</summary>
/// <param name="context">Of the request.</param>
/// <param name="door">Of the type <c>Account</c>.</param>
internal sealed class PassedRequest(HttpContext context, Endpoint door)
{
    private const string OwnDoor = "/actors/Account/{**actor}";
    private static readonly AsyncLocal<PassedRequest?> s_current = new();

    /// <summary>That of the method that runs.</summary>
    public static PassedRequest? Current => s_current.Value;

    /// <summary>
    /// What stands before the SDK's endpoints: the SDK's actors learn nothing of a request, and know the methods of
    /// their interface alone.
    /// </summary>
    /// <param name="handlers">The SDK's endpoints.</param>
    /// <param name="application">Has our own door, too.</param>
    /// <param name="types">The actor types whose requests are passed on.</param>
    public static void Before(
        IEndpointConventionBuilder handlers, IEndpointRouteBuilder application, params string[] types) =>
        handlers.Add(endpoint =>
        {
            var pattern = ((RouteEndpointBuilder)endpoint).RoutePattern.RawText!;
            if (!pattern.EndsWith("/method/{methodName}", StringComparison.Ordinal))
            {
                return;
            }

            var next = endpoint.RequestDelegate!;
            Endpoint? door = null;
            endpoint.RequestDelegate = context =>
            {
                var values = context.Request.RouteValues;
                if (values["actorTypeName"] is not string type || !types.Contains(type))
                {
                    return next(context);
                }

                door ??= Find(application);
                values["methodName"] = nameof(IPassingAccount.Pass);
                var request = context.Features.GetRequiredFeature<IHttpRequestFeature>();
                var rest = request.RawTarget.AsSpan("/actors/".Length + type.Length);
                request.RawTarget = string.Concat("/actors/Account", rest);
                s_current.Value = new PassedRequest(context, door);
                return next(context);
            };
        });

    /// <summary>Answers it.</summary>
    public Task Go()
    {
        context.SetEndpoint(door); // which says what right it needs
        return door.RequestDelegate!(context);
    }

    private static RouteEndpoint Find(IEndpointRouteBuilder application) => application.DataSources
        .SelectMany(static source => source.Endpoints).OfType<RouteEndpoint>()
        .First(static one => one.RoutePattern.RawText == OwnDoor
            && one.Metadata.GetMetadata<HttpMethodMetadata>()!.HttpMethods.Contains(HttpMethods.Put));
}
