namespace Snapper.Client.Sending;

/// <summary>Waits between repetitions: doubling, with jitter, never past the deadline.</summary>
/// <param name="min">The first wait.</param>
/// <param name="max">The longest, unless the server asks for more.</param>
/// <param name="deadline">As <see cref="Environment.TickCount64"/>.</param>
internal sealed class Backoff(TimeSpan min, TimeSpan max, long deadline)
{
    private double _milliseconds = min.TotalMilliseconds;

    /// <summary>How long to wait now; null when the deadline would be over before.</summary>
    /// <param name="atLeast">What the server asked for.</param>
    public TimeSpan? Next(TimeSpan? atLeast = null)
    {
        // Between half and all of it: callers that failed together do not come back together.
        var wait = TimeSpan.FromMilliseconds(_milliseconds * (0.5 + (Random.Shared.NextDouble() / 2)));
        _milliseconds = Math.Min(_milliseconds * 2, max.TotalMilliseconds);
        if (atLeast > wait)
        {
            wait = atLeast.Value;
        }

        return Environment.TickCount64 + wait.TotalMilliseconds < deadline ? wait : null;
    }
}
