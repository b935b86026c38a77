using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Snapper.Sidecar.Embedded;

/// <summary>
/// Service invocation of the stand-in: <c>/v1.0/invoke/{appId}/method/{path}</c> with any verb, and any other path with the header <c>dapr-app-id</c>.
/// The app's status, headers and body come back as they are.
/// </summary>
internal sealed class ServiceEndpoint(EmbeddedSidecarOptions options, AppChannel app)
{
    private const string Prefix = "/v1.0/invoke/";
    private const string MethodSeparator = "/method/";

    public async Task Call(HttpContext context)
    {
        if (!TryFindTarget(context, out var appId, out var path, out var query))
        {
            await DaprError.NoAppId(context);
            return;
        }

        if (appId != options.AppId)
        {
            await DaprError.DirectInvoke(context, appId, "couldn't find service: " + appId);
            return;
        }

        if (!GoUrl.TryUnescape(path.Replace("+", "%2B", StringComparison.Ordinal), out var decoded, out var broken)
            || !GoUrl.TryEscapePath(CleanPath(decoded), out var escaped, out broken))
        {
            await DaprError.DirectInvoke(context, appId, $"parse \"{app.Base}/{path}\": invalid URL escape \"{broken}\"");
            return;
        }

        await Forward(context, appId, escaped + query);
    }

    private async Task Forward(HttpContext context, string appId, string pathAndQuery)
    {
        using var request = app.Request(new HttpMethod(context.Request.Method), pathAndQuery);
        var hasBody = context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody ?? true;
        if (hasBody)
        {
            request.Content = new StreamContent(context.Request.Body);
        }

        AppChannel.CopyRequestHeaders(context.Request.Headers, request);
        try
        {
            using var response = await app.Send(request, context.RequestAborted);
            context.Response.StatusCode = (int)response.StatusCode;
            AppChannel.CopyResponseHeaders(response, context.Response);
            if (!HttpMethods.IsHead(context.Request.Method))
            {
                await response.Content.CopyToAsync(context.Response.Body, context.RequestAborted);
            }
        }
        catch (HttpRequestException failure)
        {
            var cause = DaprError.IsTooLarge(failure.InnerException) ? DaprError.TooLarge : failure.Message;
            await DaprError.DirectInvoke(context, appId, $"{Verb(context)} \"{app.Base}{pathAndQuery}\": {cause}");
        }
        catch (BadHttpRequestException problem) when (DaprError.IsTooLarge(problem))
        {
            context.Response.Headers.Connection = "close";
            var call = $"{Verb(context)} \"{app.Base}{pathAndQuery}\"";
            await DaprError.DirectInvoke(context, appId, $"{call}: {DaprError.TooLarge}");
        }
    }

    private static bool TryFindTarget(HttpContext context, out string appId, out string path, out string query)
    {
        var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        var question = target.IndexOf('?', StringComparison.Ordinal);
        query = question < 0 ? "" : target[question..];
        path = question < 0 ? target : target[..question];
        if (context.Request.Headers[DaprHeaders.AppId] is [{ Length: > 0 } named])
        {
            appId = named;
            return true;
        }

        appId = "";
        if (!path.StartsWith(Prefix, StringComparison.Ordinal))
        {
            return false;
        }

        var separator = path.IndexOf(MethodSeparator, Prefix.Length, StringComparison.Ordinal);
        if (separator <= Prefix.Length || !GoUrl.TryUnescape(path[Prefix.Length..separator], out appId, out _))
        {
            return false;
        }

        path = path[(separator + MethodSeparator.Length)..];
        return true;
    }

    // daprd removes empty and dot segments before it calls the app.
    private static string CleanPath(string path)
    {
        var kept = new List<string>();
        foreach (var segment in path.Split('/', StringSplitOptions.RemoveEmptyEntries))
        {
            if (segment == "..")
            {
                if (kept.Count > 0)
                {
                    kept.RemoveAt(kept.Count - 1);
                }
            }
            else if (segment != ".")
            {
                kept.Add(segment);
            }
        }

        return "/" + string.Join('/', kept);
    }

    // Go writes verbs so in its errors.
    private static string Verb(HttpContext context)
    {
        var verb = context.Request.Method;
        return string.Concat(verb[..1].ToUpperInvariant(), verb[1..].ToLowerInvariant());
    }
}
