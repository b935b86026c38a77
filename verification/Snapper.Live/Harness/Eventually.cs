using System.Diagnostics;

namespace Snapper.Live.Harness;

/// <summary>Polls for a condition, and says what was waited for when it does not come.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(25);

    /// <summary>Asks until the condition holds.</summary>
    /// <param name="what">What is awaited, for the message.</param>
    /// <param name="within">The deadline.</param>
    /// <param name="missing">Null when it holds, otherwise what is still missing.</param>
    public static async Task<TimeSpan> Holds(string what, TimeSpan within, Func<Task<string?>> missing)
    {
        var started = Stopwatch.GetTimestamp();
        while (await missing() is { } why)
        {
            if (Stopwatch.GetElapsedTime(started) > within)
            {
                throw new TimeoutException($"Waited {within.TotalSeconds:0.0} s for {what}; at last: {why}");
            }

            await Task.Delay(Step);
        }

        return Stopwatch.GetElapsedTime(started);
    }
}
