using System.Collections.Concurrent;
using System.Diagnostics;

namespace Snapper.Live.Faults;

/// <summary>One fault while it happens: whom it strikes, and what is to be told of it.</summary>
/// <param name="random">All its choices.</param>
/// <param name="brief">Nothing lasts longer than a second or two.</param>
/// <param name="cancellation">The run is over.</param>
internal class Blow(Random random, bool brief, CancellationToken cancellation)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(200);

    public Random Random => random;

    public CancellationToken Cancellation => cancellation;

    /// <summary>Nothing is to last longer than it must.</summary>
    public bool IsBrief => brief;

    /// <summary>From when on the fault may have lost what was acknowledged, in ticks of <see cref="Stopwatch"/>; null: it must not lose anything.</summary>
    public long? LosesSince { get; set; }

    /// <summary>When the bound begins to count, in ticks of <see cref="Stopwatch"/>: the last blow, or its end where the fault is a state that lasts.</summary>
    public long Hit { get; private set; }

    /// <summary>Only transactions sent from now on can show that it is over; not before <see cref="Hit"/>.</summary>
    public long Since { get; private set; }

    /// <summary>What exactly happened, in words.</summary>
    public string Detail { get; set; } = "";

    /// <summary>Why this machine cannot do it; null: it was done.</summary>
    public string? NotRun { get; set; }

    /// <summary>Set where the fault measures itself.</summary>
    public TimeSpan? Measured { get; set; }

    /// <summary>Answers that must not be given.</summary>
    public ConcurrentQueue<string> Problems { get; } = new();

    /// <summary>The blow, or the end of what lasts, is now.</summary>
    public void Mark() => Hit = Since = Stopwatch.GetTimestamp();

    /// <summary>The bound counts on, but what is sent before now shows nothing.</summary>
    public void NotBeforeNow() => Since = Stopwatch.GetTimestamp();

    /// <summary>How long something lasts: mostly up to 2 s, sometimes up to 10 s, seldom up to <paramref name="longest"/>.</summary>
    public TimeSpan Span(TimeSpan longest)
    {
        var most = brief ? TimeSpan.FromSeconds(1) : random.Next(100) switch
        {
            < 75 => TimeSpan.FromSeconds(2),
            < 97 => TimeSpan.FromSeconds(10),
            _ => longest,
        };
        return Shortest + ((most - Shortest) * random.NextDouble());
    }

    /// <summary>Between the two.</summary>
    public TimeSpan Between(double leastMs, double mostMs) => TimeSpan.FromMilliseconds(leastMs + ((mostMs - leastMs) * random.NextDouble()));

    public Task Wait(TimeSpan time) => Task.Delay(time, cancellation);
}
