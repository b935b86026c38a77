using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.WebUtilities;

namespace Snapper.Sidecar.Hosting;

/// <summary>Answers to callbacks that never reach the host. daprd shows the text of most of them to its caller.</summary>
internal static class Refusal
{
    public static Task WrongToken(HttpContext context) =>
        Write(context, StatusCodes.Status401Unauthorized, "The dapr-api-token header is missing or wrong: start the sidecar with the APP_API_TOKEN that this app has.");

    public static Task Unreadable(HttpContext context) =>
        Write(context, StatusCodes.Status400BadRequest, "The path is not /actors/{type}/{id}/method/{method} with type, id and method percent-encoded in UTF-8.");

    public static Task UnknownType(HttpContext context) =>
        Write(context, StatusCodes.Status404NotFound, "This app does not host this actor type.");

    // daprd 1.18.1 logs "actor method not found" and tries a reminder four times in all, a second apart. One that fires
    // once was deleted then.
    public static Task NoTimers(HttpContext context, string type) =>
        Write(context, StatusCodes.Status404NotFound, $"Actors of type {type} take no Dapr timers or reminders: let a plain actor or a job submit a transaction instead.");

    public static Task BrokenBody(HttpContext context, BadHttpRequestException unreadable) =>
        Write(context, unreadable.StatusCode, "The request body could not be read: " + unreadable.Message);

    public static Task Failed(HttpContext context, string type, string method) =>
        Write(context, StatusCodes.Status500InternalServerError, $"The call of {method} on an actor of type {type} failed in the app; its log says why.");

    private static Task Write(HttpContext context, int status, string detail)
    {
        if (context.Response.HasStarted)
        {
            context.Abort();
            return Task.CompletedTask;
        }

        context.Response.Clear();
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/problem+json";
        var problem = new JsonObject
        {
            ["type"] = "about:blank",
            ["title"] = ReasonPhrases.GetReasonPhrase(status),
            ["status"] = status,
            ["detail"] = detail,
        };
        return context.Response.WriteAsync(problem.ToJsonString(), context.RequestAborted);
    }
}
