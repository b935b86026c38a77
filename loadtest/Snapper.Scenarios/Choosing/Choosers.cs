using System.Globalization;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Scenarios.Choosing;

/// <summary>Every key is as likely as any other.</summary>
public sealed class UniformChooser(int count) : IKeyChooser
{
    /// <inheritdoc/>
    public int Count { get; } = count >= 1 ? count : throw new ArgumentOutOfRangeException(nameof(count), count, "There must be a key.");

    /// <inheritdoc/>
    public string Describe() => "uniform";

    /// <inheritdoc/>
    public int Draw(ref FastRandom random) => random.Next(Count);
}

/// <summary>Key k is drawn with probability proportional to 1 / (k + 1)^skew, exactly.</summary>
public sealed class ZipfChooser(int count, double skew) : IKeyChooser
{
    private readonly ZipfSampler _sampler = new(count, skew);

    /// <inheritdoc/>
    public int Count => _sampler.Count;

    /// <inheritdoc/>
    public string Describe() => string.Create(CultureInfo.InvariantCulture, $"zipf {_sampler.Exponent:0.###}");

    /// <inheritdoc/>
    public int Draw(ref FastRandom random) => _sampler.Draw(ref random);
}

/// <summary>A few hot keys get a fixed share of all draws; within the hot ones, and within the others, every key is as likely as any other.</summary>
public sealed class HotspotChooser : IKeyChooser
{
    private readonly int _hot;
    private readonly double _share;

    /// <param name="count">How many keys, at least 2.</param>
    /// <param name="hot">How many of them are hot, 1 to count - 1: the first ones.</param>
    /// <param name="share">Their share of the draws, 0 to 1.</param>
    public HotspotChooser(int count, int hot, double share)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 2);
        ArgumentOutOfRangeException.ThrowIfLessThan(hot, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(hot, count);
        ArgumentOutOfRangeException.ThrowIfNegative(share);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(share, 1);
        Count = count;
        _hot = hot;
        _share = share;
    }

    /// <inheritdoc/>
    public int Count { get; }

    /// <inheritdoc/>
    public string Describe() => string.Create(CultureInfo.InvariantCulture, $"hotspot: {_hot} of {Count} get {_share:P0}");

    /// <inheritdoc/>
    public int Draw(ref FastRandom random) => random.NextDouble() < _share ? random.Next(_hot) : _hot + random.Next(Count - _hot);
}
