using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Snapper.Sidecar.Client;

namespace Snapper.Sidecar.Embedded;

/// <summary>daprd's error answers: <c>{"errorCode":"...","message":"..."}</c>, in daprd's own words.</summary>
internal static class DaprError
{
    /// <summary>What it says of a body over the limit.</summary>
    public const string TooLarge = "stream too large";

    private static readonly SidecarJson s_likeGo = new(new JsonSerializerOptions(SidecarJson.Default.Options)
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    });

    /// <summary>The web server has refused to read a body over the limit.</summary>
    public static bool IsTooLarge(Exception? problem) =>
        problem is BadHttpRequestException { StatusCode: StatusCodes.Status413PayloadTooLarge };

    public static Task ActorInvoke(HttpContext context, string cause) =>
        Write(context, 500, "ERR_ACTOR_INVOKE_METHOD", "error invoke actor method: " + cause);

    public static Task BadRequest(HttpContext context, string cause) =>
        Write(context, 400, "ERR_BAD_REQUEST", "invalid request: " + cause);

    public static Task StackDepth(HttpContext context) =>
        Write(context, 500, "ERR_ACTOR_STACK_DEPTH", "maximum stack depth exceeded");

    public static Task DirectInvoke(HttpContext context, string appId, string cause) =>
        Write(context, 500, "ERR_DIRECT_INVOKE", $"failed to invoke, id: {appId}, err: {cause}");

    public static Task NoAppId(HttpContext context) =>
        Write(context, 404, "ERR_DIRECT_INVOKE", "failed getting app id either from the URL path or the header dapr-app-id");

    /// <summary>daprd's code for it, in words of ours: what is missing is not a component.</summary>
    public static Task NoStates(HttpContext context) =>
        Write(context, 500, "ERR_ACTOR_STATE_STORE_NOT_FOUND",
            "the embedded stand-in has no states, timers or reminders of plain Dapr actors: run behind a real sidecar "
            + "('dapr run')");

    /// <summary>Not daprd's, which looks at no name: a page whose own name leads to loopback would read everything.</summary>
    public static Task AnotherHost(HttpContext context) =>
        Write(context, 403, "ERR_PERMISSION_DENIED", "the Host header names another server than this one, on loopback");

    public static Task NotReady(HttpContext context) =>
        Write(context, 500, "ERR_HEALTH_NOT_READY", "dapr is not ready: [runtime]");

    public static Task WrongToken(HttpContext context)
    {
        context.Response.StatusCode = 401;
        context.Response.ContentType = "text/plain; charset=utf-8";
        return context.Response.WriteAsync("invalid api token", context.RequestAborted);
    }

    private static Task Write(HttpContext context, int status, string code, string message)
    {
        if (context.Response.HasStarted)
        {
            // Half an answer is out: only a broken connection can still tell the caller.
            context.Abort();
            return Task.CompletedTask;
        }

        var body = JsonSerializer.SerializeToUtf8Bytes(new DaprErrorBody(code, message), s_likeGo.DaprErrorBody);
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        context.Response.ContentLength = body.Length;
        return context.Response.Body.WriteAsync(body, context.RequestAborted).AsTask();
    }
}
