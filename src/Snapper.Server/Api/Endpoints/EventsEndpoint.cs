using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Answers;

namespace Snapper.Server.Api.Endpoints;

/// <summary>
/// GET /v1/events: server-sent events with the forms of the other requests: <c>status</c> at once and then each second, <c>batches</c>
/// with the batches that committed since the last one, <c>aborts</c> with the aborts since; the last two only when there are any.
/// </summary>
/// <remarks>It reads what the worker keeps anyway, so watchers cost the worker's threads nothing. More than fit into that within a second are left out.</remarks>
internal sealed class EventsEndpoint(IWorkerInspection inspection, TimeSpan period, CancellationToken stopping)
{
    /// <summary>Watchers at a time; more are answered 429.</summary>
    public const int WatchersMax = 64;

    private const int RecentMax = 1000;

    private int _watchers;

    public async Task Watch(HttpContext context)
    {
        if (Interlocked.Increment(ref _watchers) > WatchersMax)
        {
            Interlocked.Decrement(ref _watchers);
            await Respond.Send(context, new Problem(429, "urn:snapper:overloaded", "Overloaded", $"{WatchersMax} others are watching.", TimeSpan.FromSeconds(5)));
            return;
        }

        // A watcher stays until it leaves; it must not hold up the end of the process.
        using var until = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, stopping);
        try
        {
            context.Response.ContentType = "text/event-stream";
            context.Response.Headers.CacheControl = "no-store";
            await Send(context, until.Token);
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested)
        {
            // The stream has no end of its own.
        }
        finally
        {
            Interlocked.Decrement(ref _watchers);
        }
    }

    private async Task Send(HttpContext context, CancellationToken cancellation)
    {
        var lastBatch = inspection.Status().HighestCommittedBatch;
        var lastAbort = (await inspection.Aborts(1, cancellation)).FirstOrDefault();
        using var timer = new PeriodicTimer(period);
        do
        {
            await Write(context, "status"u8.ToArray(), buffer => ViewWriter.Write(buffer.Json, inspection.Status()), cancellation);
            var batches = Since(await inspection.Batches(RecentMax, cancellation), lastBatch);
            if (batches.Count > 0)
            {
                lastBatch = batches[0].Batch;
                await Write(context, "batches"u8.ToArray(), buffer => ViewWriter.Write(buffer.Json, batches), cancellation);
            }

            var aborts = Since(await inspection.Aborts(RecentMax, cancellation), lastAbort);
            if (aborts.Count > 0)
            {
                lastAbort = aborts[0];
                await Write(context, "aborts"u8.ToArray(), buffer => ViewWriter.Write(buffer.Json, aborts), cancellation);
            }
        }
        while (await timer.WaitForNextTickAsync(cancellation));
    }

    /// <summary>Batches commit in the order of their numbers. An undone one never does; its PACTs come again in a later one.</summary>
    private static List<BatchView> Since(IReadOnlyList<BatchView> newestFirst, long last) =>
        [.. newestFirst.Where(batch => batch.Batch > last && batch.CommittedMs is not null)];

    private static List<AbortView> Since(IReadOnlyList<AbortView> newestFirst, AbortView? last) =>
        [.. newestFirst.TakeWhile(abort => !ReferenceEquals(abort, last))];

    private static async Task Write(HttpContext context, byte[] name, Action<JsonBuffer> view, CancellationToken cancellation)
    {
        // JSON escapes line ends, so a view is one line of data.
        using var buffer = JsonBuffer.Rent();
        view(buffer);
        var body = context.Response.BodyWriter;
        await body.WriteAsync((byte[])[.. "event: "u8, .. name, .. "\ndata: "u8, .. buffer.Written.Span, .. "\n\n"u8], cancellation);
    }
}
