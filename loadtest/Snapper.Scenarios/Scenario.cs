using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Workloads;

namespace Snapper.Scenarios;

/// <summary>How the rate goes over time.</summary>
public enum ShapeKind
{
    /// <summary>One rate.</summary>
    Steady,

    /// <summary>From a tenth of the rate to the whole.</summary>
    Ramp,

    /// <summary>Three times the rate for a fifth of the time.</summary>
    Spike,
}

/// <summary>A load test: what is sent and how, what is done to the system meanwhile, what must be true in the end, and which bounds must be kept.</summary>
public sealed record Scenario
{
    private const double RampBegins = 0.1;
    private const double SpikeFactor = 3;

    /// <summary>On the command line.</summary>
    public required string Name { get; init; }

    /// <summary>What it asks of the system, in a line.</summary>
    public required string Summary { get; init; }

    /// <summary>Makes what is sent.</summary>
    public required Func<WorkloadSettings, IWorkload> Workload { get; init; }

    /// <summary>The part of the transactions that are PACTs, unless told otherwise.</summary>
    public double PactShare { get; init; } = 1;

    /// <summary>Which actors they touch, unless told otherwise.</summary>
    public ChooserSettings Chooser { get; init; } = new();

    /// <summary>How the rate goes, unless told otherwise.</summary>
    public ShapeKind Shape { get; init; }

    /// <summary>What is done to the system after a third of the time; null: nothing.</summary>
    public Func<IChange>? Change { get; init; }

    /// <summary>Bounds that must be kept; a bound given on the command line takes the place of the same measure's.</summary>
    public required IReadOnlyList<Threshold> Thresholds { get; init; }

    /// <summary>The rate over time.</summary>
    public static LoadShape ShapeOf(ShapeKind kind, double rate, TimeSpan length) => kind switch
    {
        ShapeKind.Steady => LoadShape.Steady(rate, length),
        ShapeKind.Ramp => LoadShape.Ramp(rate * RampBegins, rate, length),
        _ => LoadShape.Spike(rate, SpikeFactor, length),
    };

    /// <summary>Its thresholds with some replaced or added.</summary>
    public IReadOnlyList<Threshold> With(IReadOnlyList<Threshold> given) =>
        [.. Thresholds.Where(own => given.All(other => other.Measure != own.Measure || other.AtLeast != own.AtLeast)), .. given];
}
