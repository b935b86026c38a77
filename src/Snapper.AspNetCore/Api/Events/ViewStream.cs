namespace Snapper.AspNetCore.Api.Events;

/// <summary>
/// Views of the worker to one reader: each at once, and then whenever it has changed, as <c>event: view</c> with <c>{"view","status","body"}</c>. They are looked at each <c>every</c>, and when
/// the reader is slower than that, when it has taken what it was sent: it gets the newest, and nothing queues up.
/// </summary>
internal static class ViewStream
{
    /// <summary>Something is written at least so often, if only a comment, with a second to spare for the way.</summary>
    private static readonly TimeSpan s_quietMax = TimeSpan.FromSeconds(14);

    /// <summary>Sends them until the reader has gone.</summary>
    public static async Task Send(WatchedView[] views, TimeSpan every, EventWriter writer)
    {
        var cancellation = writer.Over;
        using var timer = new PeriodicTimer(every);
        do
        {
            foreach (var view in views)
            {
                await view.Tell(writer);
                view.Begin(cancellation);
                await view.Tell(writer);
            }

            // What must be asked for elsewhere, of Redis, does not hold up the others: it is told when it comes soon, else the next time.
            if (UnderWay(views) is { Length: > 0 } slow)
            {
                await Task.WhenAny(Task.WhenAll(slow), Task.Delay(every / 2, cancellation));
                foreach (var view in views) await view.Tell(writer);
            }

            if (Environment.TickCount64 - writer.WrittenAt + every.TotalMilliseconds > s_quietMax.TotalMilliseconds) await writer.SendComment();
        }
        while (await timer.WaitForNextTickAsync(cancellation));
    }

    private static Task[] UnderWay(WatchedView[] views) => [.. views.Select(view => view.UnderWay).OfType<Task>()];
}
