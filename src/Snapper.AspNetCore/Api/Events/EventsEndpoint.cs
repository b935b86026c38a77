using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>
/// GET /v1/events: server-sent events. With <c>view</c>, views of the worker by path and query, each when it has changed (<see cref="ViewStream"/>); without, what the worker has to tell by
/// itself (<see cref="OwnEvents"/>). Nothing is written down for readers: what they have not taken in time is left out.
/// </summary>
internal sealed class EventsEndpoint(IWorkerInspection inspection, ViewTable table, AuditLog audit, ApiOptions options, CancellationToken stopping)
{
    /// <summary>Streams at a time; more are answered 429.</summary>
    public const int WatchersMax = 64;

    private readonly FairShare<object> _shares = new(WatchersMax / 2, TimeProvider.System);
    private int _watchers;

    public async Task Watch(HttpContext context)
    {
        var ask = ViewSubscription.Read(context.Request.Query, table, out var wrong);
        if (wrong is not null)
        {
            await Respond.Send(context, Problem.Invalid(wrong));
            return;
        }

        var views = ask?.Views.Select(one => new WatchedView(one.View, one.Route, context.Features.Get<RequestCaller>(), context.RequestServices)).ToArray() ?? [];
        if (Refusal(context, views) is { } refused)
        {
            await Respond.Send(context, refused);
            return;
        }

        var (caller, stream) = (context.Features.Get<RequestCaller>(), new object());
        if (!_shares.Take(caller, stream, Timeout.InfiniteTimeSpan))
        {
            await TooMany(context, $"{caller!.Principal.Name} has {_shares.Most} streams already, which is one token's part.");
            return;
        }

        try
        {
            if (Interlocked.Increment(ref _watchers) > WatchersMax)
            {
                await TooMany(context, $"{WatchersMax} others are watching.");
                return;
            }

            // A watcher stays until it leaves; it must not hold up the end of the process.
            using var writer = new EventWriter(context, options.StalledReaderMax, stopping);
            await writer.Run(() => ask is null ? OwnEvents.Send(inspection, writer) : ViewStream.Send(views, ask.Every, writer));
        }
        finally
        {
            Interlocked.Decrement(ref _watchers);
            _shares.Leave(caller, stream);
        }
    }

    private static Task TooMany(HttpContext context, string detail) =>
        Respond.Send(context, Problem.Overloaded(detail, TimeSpan.FromSeconds(5)));

    /// <summary>A view that the caller may not see is told as refused, once, and the others go on; where it may see none, the stream is refused.</summary>
    private Problem? Refusal(HttpContext context, WatchedView[] views)
    {
        foreach (var view in views)
        {
            if (view.Refusal is { } refusal) audit.Refused(view.Route.Row, context.Features.Get<RequestCaller>()!, refusal);
        }

        return views.Length > 0 && views.All(view => view.Refusal is not null) ? views[0].Refusal : null;
    }
}
