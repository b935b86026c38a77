using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Snapper.Sidecar.Embedded;

/// <summary><c>/v1.0/actors/{type}/{id}/method/{method}</c> of the stand-in.</summary>
internal sealed class ActorEndpoint(EmbeddedSidecarOptions options, AppChannel app, AppConfigReader config)
{
    public const string Prefix = "/v1.0/actors/";

    private readonly ConcurrentDictionary<(string Type, string Id), ActorLock> _actors = new();

    public int Count(string actorType) => _actors.Keys.Count(actor => actor.Type == actorType);

    /// <summary>Serves a call, or hands it to <paramref name="otherwise"/> when the path is none of a method.</summary>
    public async Task Call(HttpContext context, RequestDelegate otherwise)
    {
        var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        if (!target.StartsWith(Prefix, StringComparison.Ordinal))
        {
            // The server saw the prefix only after decoding; daprd would not have.
            await otherwise(context);
            return;
        }

        var question = target.IndexOf('?', StringComparison.Ordinal);
        var query = question < 0 ? "" : target[question..];
        var parts = (question < 0 ? target : target[..question])[Prefix.Length..].Split('/');
        if (parts is [{ Length: > 0 }, { Length: > 0 }, "state" or "timers" or "reminders", ..])
        {
            await DaprError.NoStates(context);
            return;
        }

        if (parts is not [{ Length: > 0 }, { Length: > 0 }, "method", { Length: > 0 }] || !IsVerb(context.Request.Method))
        {
            await otherwise(context);
            return;
        }

        if (!GoUrl.TryUnescape(parts[0], out var type, out var broken)
            || !GoUrl.TryUnescape(parts[1], out var id, out broken)
            || !GoUrl.TryUnescape(parts[3], out var method, out broken))
        {
            context.Response.StatusCode = 400;
            await context.Response.WriteAsync($"failed to unescape request parameter. Error: invalid URL escape \"{broken}\"", context.RequestAborted);
            return;
        }

        if (Objection(type) is { } typeObjection)
        {
            await DaprError.BadRequest(context, "invalid actorType: " + typeObjection);
            return;
        }

        if (Objection(id) is { } idObjection)
        {
            await DaprError.BadRequest(context, "invalid actorId: " + idObjection);
            return;
        }

        await Call(context, type, id, method, query);
    }

    /// <summary>Tells the app that its actors are deactivated, as a daprd that stops does; within a bound, and not for certain.</summary>
    public async Task DeactivateAll(CancellationToken cancellation)
    {
        var parallel = new ParallelOptions { MaxDegreeOfParallelism = 16, CancellationToken = cancellation };
        await Parallel.ForEachAsync(_actors.Keys, parallel, async (actor, token) =>
        {
            if (GoUrl.TryEscapePath($"/actors/{actor.Type}/{actor.Id}", out var path, out _))
            {
                using var request = app.Request(HttpMethod.Delete, path);
                using var response = await app.Send(request, token);
            }
        });
    }

    private async Task Call(HttpContext context, string type, string id, string method, string query)
    {
        using var body = new MemoryStream();
        try
        {
            await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        }
        catch (BadHttpRequestException problem) when (DaprError.IsTooLarge(problem))
        {
            context.Response.Headers.Connection = "close";
            await DaprError.BadRequest(context, "failed to read body: " + DaprError.TooLarge);
            return;
        }

        // As daprd: before the app was asked for its types, calls wait.
        var known = await config.Ready.WaitAsync(context.RequestAborted);
        if (!known.Entities.Contains(type))
        {
            await DaprError.ActorInvoke(context, $"failed to lookup actor: api error: code = FailedPrecondition desc = did not find address for actor '{type}/{id}'");
            return;
        }

        if (!GoUrl.TryEscapePath($"/actors/{type}/{id}/method/{method}", out var path, out var broken))
        {
            await DaprError.ActorInvoke(context, $"parse \"{app.Base}/actors/{type}/{id}/method/{method}\": invalid URL escape \"{broken}\"");
            return;
        }

        var reentrancy = known.ReentrancyOf(type);
        var reentrancyId = reentrancy.Enabled
            && context.Request.Headers[DaprHeaders.ReentrancyId] is [{ Length: > 0 } given]
            ? given
            : Guid.NewGuid().ToString("D", CultureInfo.InvariantCulture);
        var actor = _actors.GetOrAdd((type, id), static (_, depth) => new ActorLock(depth), reentrancy.MaxStackDepth);
        ActorLock.Flight flight;
        try
        {
            flight = await actor.Enter(reentrancyId, context.RequestAborted);
        }
        catch (ActorStackDepthException)
        {
            await DaprError.StackDepth(context);
            return;
        }

        try
        {
            var sent = body.GetBuffer().AsMemory(0, (int)body.Length);
            await Forward(context, path, query, sent, reentrancyId, $"actors/{type}/{id}/method/{method}");
        }
        finally
        {
            actor.Release(flight);
        }
    }

    private async Task Forward(HttpContext context, string path, string query, ReadOnlyMemory<byte> body, string reentrancyId, string name)
    {
        using var request = app.Request(HttpMethod.Put, path + query);
        request.Content = new ReadOnlyMemoryContent(body);
        AppChannel.CopyRequestHeaders(context.Request.Headers, request);
        Set(request, DaprHeaders.ApiCall, "true");
        Set(request, DaprHeaders.ReentrancyId, reentrancyId);
        if (!request.Headers.Contains(DaprHeaders.CallerAppId))
        {
            Set(request, DaprHeaders.CallerAppId, options.AppId);
        }

        if (!request.Headers.Contains(DaprHeaders.CallerNamespace))
        {
            Set(request, DaprHeaders.CallerNamespace, "default");
        }

        byte[] answer;
        HttpResponseMessage response;
        try
        {
            response = await app.Send(request, context.RequestAborted);
            answer = await response.Content.ReadAsByteArrayAsync(context.RequestAborted);
        }
        catch (HttpRequestException failure)
        {
            await DaprError.ActorInvoke(context, $"Put \"{app.Base}{path}{query}\": {failure.Message}");
            return;
        }

        using (response)
        {
            var status = (int)response.StatusCode;
            if (status == 404)
            {
                await DaprError.ActorInvoke(context, "actor method not found: " + name);
            }
            else if (status != 200)
            {
                await DaprError.ActorInvoke(context, string.Create(CultureInfo.InvariantCulture, $"error from actor service: ({status}) {System.Text.Encoding.UTF8.GetString(answer)}"));
            }
            else
            {
                AppChannel.CopyResponseHeaders(response, context.Response);
                context.Response.ContentLength = answer.Length;
                await context.Response.Body.WriteAsync(answer, context.RequestAborted);
            }
        }
    }

    private static void Set(HttpRequestMessage request, string name, string value)
    {
        request.Headers.Remove(name);
        request.Headers.TryAddWithoutValidation(name, value);
    }

    private static bool IsVerb(string method) =>
        HttpMethods.IsPut(method) || HttpMethods.IsPost(method) || HttpMethods.IsGet(method) || HttpMethods.IsDelete(method);

    private static string? Objection(string name)
    {
        for (var i = 0; i < name.Length; i++)
        {
            if (ActorPath.IsForbiddenByDapr(name[i]))
            {
                return $"name contains forbidden character: \"{name}\"";
            }

            if (char.IsControl(name[i]))
            {
                return string.Create(CultureInfo.InvariantCulture, $"name contains control character at position {i}: \"{name}\"");
            }
        }

        return null;
    }
}
