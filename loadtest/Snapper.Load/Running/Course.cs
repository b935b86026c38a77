using Snapper.Runtime.Inspection;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Load.Running;

/// <summary>
/// A run over time: counts in steps of 100 ms, arrivals by their intended start and ends by when they ended; latencies in at most 120 stretches, by intended start, so that a stall shows where
/// its victims arrived. Thread-safe.
/// </summary>
internal sealed class Course
{
    /// <summary>Length of a step, in seconds.</summary>
    public const double Step = 0.1;

    private const int StretchesMax = 120;
    private const double StretchLeast = 0.25;

    private readonly int[] _arrived;
    private readonly int[][] _ended = new int[4][];
    private readonly LatencyHistogram[] _latency;

    /// <param name="length">The measured time.</param>
    /// <param name="timeout">How long after it the last one may end.</param>
    public Course(TimeSpan length, TimeSpan timeout)
    {
        Length = length.TotalSeconds;
        Stretch = Math.Max(StretchLeast, Length / StretchesMax);
        var steps = (int)Math.Ceiling((length + timeout).TotalSeconds / Step) + 1;
        _arrived = new int[steps];
        for (var kind = 0; kind < _ended.Length; kind++)
        {
            _ended[kind] = new int[steps];
        }

        // All of them now: they are large objects, which would bring on full collections while the time is kept.
        _latency = new LatencyHistogram[(int)Math.Ceiling(Length / Stretch)];
        for (var i = 0; i < _latency.Length; i++)
        {
            _latency[i] = new LatencyHistogram();
        }
    }

    /// <summary>The measured time in seconds.</summary>
    public double Length { get; }

    /// <summary>Length of a stretch, in seconds.</summary>
    public double Stretch { get; }

    /// <summary>Latencies of each stretch, of what arrived in it.</summary>
    public IReadOnlyList<LatencyHistogram> Latency => _latency;

    public void Arrive(double at) => Interlocked.Increment(ref _arrived[StepOf(at)]);

    public void End(double arrived, double ended, long latency, EndingKind kind)
    {
        Interlocked.Increment(ref _ended[(int)kind][StepOf(ended)]);
        _latency[Math.Clamp((int)(arrived / Stretch), 0, _latency.Length - 1)].Record(latency);
    }

    /// <summary>Arrivals from one moment to another, in whole steps.</summary>
    public int Arrived(double from, double to) => Sum(_arrived, from, to);

    /// <summary>Ends of a kind from one moment to another, in whole steps.</summary>
    public int Ended(EndingKind kind, double from, double to) => Sum(_ended[(int)kind], from, to);

    private int StepOf(double at) => Math.Clamp((int)(at / Step), 0, _arrived.Length - 1);

    // Steps are counted by rounding: 0.3 / 0.1 is below 3.
    private static int Sum(int[] counts, double from, double to)
    {
        var sum = 0;
        var end = Math.Min(counts.Length, (int)Math.Round(to / Step));
        for (var step = Math.Max(0, (int)Math.Round(from / Step)); step < end; step++)
        {
            sum += Volatile.Read(ref counts[step]);
        }

        return sum;
    }
}
