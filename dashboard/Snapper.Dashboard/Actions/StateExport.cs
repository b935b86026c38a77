using System.Net.Mime;
using Microsoft.Net.Http.Headers;
using Snapper.Contracts;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Actions;

/// <summary>
/// All states of a type as a download, as <see cref="StateFile"/> reads them: each is durable, but they are of different moments. Asked for page by page, so that it takes no more memory for more
/// actors. When a worker does not answer any more the connection is cut, so that a browser does not take the half for the whole.
/// </summary>
internal static class StateExport
{
    private const int PerPage = 500;
    private const int AtOnce = 8;

    /// <summary>GET /export/{type}?search=.</summary>
    public static void Map(IEndpointRouteBuilder endpoints) => endpoints.MapGet("/export/{type}", Write);

    /// <summary>Its address.</summary>
    public static string Url(string type, string? search) => $"/export/{Uri.EscapeDataString(type)}{(string.IsNullOrEmpty(search) ? "" : $"?search={Uri.EscapeDataString(search)}")}";

    private static async Task Write(HttpContext context, string type, string? search, WorkerApi api, Fleet fleet, ILoggerFactory logs)
    {
        var gone = context.RequestAborted;
        var workers = fleet.Workers.Where(worker => worker.IsUp).ToArray();
        if (workers.Length == 0 || workers.Length < fleet.Workers.Count)
        {
            await Refuse(context, "Not all workers answer, so that not all actors would be in the file. Try again when they do.");
            return;
        }

        foreach (var worker in workers)
        {
            string? after = null;
            do
            {
                var page = await api.Get<ActorListView>(worker.Url, WorkerPaths.Actors(type, PerPage, search, after), gone);
                if (page.Data is not { } list)
                {
                    await Fail(context, $"{worker.Name}: {page.Problem}", logs);
                    return;
                }

                if (!context.Response.HasStarted)
                {
                    var name = new ContentDispositionHeaderValue("attachment");
                    name.SetHttpFileName($"snapper-{type}.jsonl");
                    context.Response.ContentType = "application/x-ndjson; charset=utf-8";
                    context.Response.Headers[HeaderNames.ContentDisposition] = name.ToString();
                    context.Response.Headers[HeaderNames.CacheControl] = "no-store";
                }

                foreach (var some in list.Actors.Chunk(AtOnce))
                {
                    var replies = await Task.WhenAll(some.Select(one => api.Get<ActorView>(worker.Url, WorkerPaths.Actor(type, one.Id), gone)));
                    foreach (var reply in replies)
                    {
                        if (reply.Data is not { } actor)
                        {
                            await Fail(context, $"{worker.Name}: {reply.Problem}", logs);
                            return;
                        }

                        // Deleted since it was listed: it has none.
                        if (actor.State is { ValueKind: not System.Text.Json.JsonValueKind.Null } state) await context.Response.Body.WriteAsync(StateFile.Line(type, actor.Id, actor.Version, state), gone);
                    }
                }

                after = list.Next;
            }
            while (after is not null);
        }
    }

    private static async Task Fail(HttpContext context, string problem, ILoggerFactory logs)
    {
        if (!context.Response.HasStarted)
        {
            await Refuse(context, problem);
            return;
        }

        logs.CreateLogger(typeof(StateExport)).LogWarning("An export was cut off: {Problem}", problem);
        context.Abort();
    }

    private static Task Refuse(HttpContext context, string problem)
    {
        context.Response.Clear();
        context.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
        context.Response.ContentType = MediaTypeNames.Text.Plain;
        return context.Response.WriteAsync(problem);
    }
}
