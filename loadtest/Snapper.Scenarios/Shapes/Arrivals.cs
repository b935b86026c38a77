using Snapper.Benchmarks.Statistics;

namespace Snapper.Scenarios.Shapes;

/// <summary>How arrivals lie around their expected moments.</summary>
public enum ArrivalProcess
{
    /// <summary>As those of many callers who know nothing of each other: exponential gaps.</summary>
    Poisson,

    /// <summary>Evenly.</summary>
    Even,
}

/// <summary>
/// The moments at which transactions arrive. They follow from shape, process and seed alone, never from the answers: that is what makes the loop open. A Poisson process
/// with a rate that changes is one of rate 1 on a clock that runs as fast as the rate.
/// </summary>
/// <param name="shape">The rate over time.</param>
/// <param name="process">Around it.</param>
/// <param name="seed">The same one gives the same moments.</param>
public sealed class Arrivals(LoadShape shape, ArrivalProcess process, ulong seed)
{
    private FastRandom _random = new(seed);
    private double _expected = process == ArrivalProcess.Even ? -0.5 : 0;

    /// <summary>The next moment, in seconds from the beginning, never before the last one; null: there is none.</summary>
    public double? Next()
    {
        _expected += process == ArrivalProcess.Even ? 1 : -Math.Log(1 - _random.NextDouble());
        return shape.TimeOf(_expected);
    }
}
