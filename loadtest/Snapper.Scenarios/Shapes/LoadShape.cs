using System.Globalization;

namespace Snapper.Scenarios.Shapes;

/// <summary>A stretch of time in which the rate goes evenly from one value to another.</summary>
/// <param name="From">Arrivals per second at its beginning, 0 and above.</param>
/// <param name="To">Arrivals per second at its end, 0 and above.</param>
/// <param name="Length">Above 0.</param>
public readonly record struct Segment(double From, double To, TimeSpan Length)
{
    /// <summary>Arrivals that are expected in it.</summary>
    public double Expected => (From + To) / 2 * Length.TotalSeconds;
}

/// <summary>How the rate of arrivals goes over time: a sequence of segments.</summary>
public sealed class LoadShape
{
    private const double SpikeBegins = 0.4;
    private const double SpikeEnds = 0.6;

    /// <param name="name">For reports.</param>
    /// <param name="segments">At least one; together they must expect an arrival.</param>
    public LoadShape(string name, IReadOnlyList<Segment> segments)
    {
        foreach (var segment in segments)
        {
            if (!double.IsFinite(segment.From) || !double.IsFinite(segment.To) || segment.From < 0 || segment.To < 0 || segment.Length <= TimeSpan.Zero)
            {
                throw new ArgumentException($"A segment of a load shape has rates of 0 and above and a length above 0, not {segment}.", nameof(segments));
            }
        }

        Name = name;
        Segments = segments;
        Length = TimeSpan.FromTicks(segments.Sum(static segment => segment.Length.Ticks));
        Expected = segments.Sum(static segment => segment.Expected);
        if (Expected <= 0)
        {
            throw new ArgumentException("A load shape without any arrival is no load.", nameof(segments));
        }
    }

    /// <summary>steady, ramp or spike.</summary>
    public string Name { get; }

    /// <summary>In order of time.</summary>
    public IReadOnlyList<Segment> Segments { get; }

    /// <summary>All segments together.</summary>
    public TimeSpan Length { get; }

    /// <summary>Arrivals that are expected in all.</summary>
    public double Expected { get; }

    /// <summary>One rate all the time.</summary>
    public static LoadShape Steady(double rate, TimeSpan length) => new("steady", [new(rate, rate, length)]);

    /// <summary>From one rate to another, evenly.</summary>
    public static LoadShape Ramp(double from, double to, TimeSpan length) =>
        new(string.Create(CultureInfo.InvariantCulture, $"ramp from {from:0.##} to {to:0.##}"), [new(from, to, length)]);

    /// <summary>One rate, several times that for the fifth of the time around the middle, and the same rate again.</summary>
    public static LoadShape Spike(double rate, double factor, TimeSpan length) => new(
        string.Create(CultureInfo.InvariantCulture, $"spike of {factor:0.##} times"),
        [
            new(rate, rate, length * SpikeBegins),
            new(rate * factor, rate * factor, length * (SpikeEnds - SpikeBegins)),
            new(rate, rate, length * (1 - SpikeEnds)),
        ]);

    /// <summary>The same after some time at its first rate, or at 1 in a second if that is 0: the warm-up.</summary>
    public LoadShape After(TimeSpan warmUp)
    {
        if (warmUp <= TimeSpan.Zero)
        {
            return this;
        }

        var rate = Math.Max(1, Segments[0].From);
        return new LoadShape(Name, [new(rate, rate, warmUp), .. Segments]);
    }

    /// <summary>The moment by which that many arrivals are expected, in seconds from the beginning; null: more than are expected at all.</summary>
    public double? TimeOf(double arrivals)
    {
        var begins = 0.0;
        foreach (var segment in Segments)
        {
            if (arrivals <= segment.Expected)
            {
                return begins + WithIn(segment, arrivals);
            }

            arrivals -= segment.Expected;
            begins += segment.Length.TotalSeconds;
        }

        return null;
    }

    // Solves from*t + (to - from)/(2*length) * t^2 = arrivals, in the form that has no difference of nearly equal numbers.
    private static double WithIn(Segment segment, double arrivals)
    {
        if (arrivals <= 0)
        {
            return 0;
        }

        var growth = (segment.To - segment.From) / segment.Length.TotalSeconds;
        var root = Math.Sqrt(Math.Max(0, (segment.From * segment.From) + (2 * growth * arrivals)));
        return Math.Min(2 * arrivals / (segment.From + root), segment.Length.TotalSeconds);
    }
}
