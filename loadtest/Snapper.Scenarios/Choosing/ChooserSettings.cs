namespace Snapper.Scenarios.Choosing;

/// <summary>The distributions that there are.</summary>
public enum Distribution
{
    /// <summary><see cref="UniformChooser"/>.</summary>
    Uniform,

    /// <summary><see cref="ZipfChooser"/>.</summary>
    Zipf,

    /// <summary><see cref="HotspotChooser"/>.</summary>
    Hotspot,
}

/// <summary>Which distribution, with its numbers.</summary>
public sealed record ChooserSettings
{
    /// <summary>Which.</summary>
    public Distribution Distribution { get; init; }

    /// <summary>Of zipf: 0 is uniform, 0.9 is skewed, above 1 a few keys get most.</summary>
    public double Skew { get; init; } = 0.9;

    /// <summary>Of hotspot: how many keys are hot.</summary>
    public int HotKeys { get; init; } = 10;

    /// <summary>Of hotspot: their share of the draws, 0 to 1.</summary>
    public double HotShare { get; init; } = 0.75;

    /// <summary>The chooser over that many keys.</summary>
    /// <exception cref="ArgumentException">The numbers do not fit each other.</exception>
    public IKeyChooser Over(int count) => Distribution switch
    {
        Distribution.Uniform => new UniformChooser(count),
        Distribution.Zipf => new ZipfChooser(count, Skew),
        _ => new HotspotChooser(count, HotKeys, HotShare),
    };
}
