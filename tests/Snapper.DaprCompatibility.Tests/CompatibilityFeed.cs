using Snapper.Cli.Tests;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>The packages of the sample.</summary>
public sealed class CompatibilityFeed : PackedFeed
{
    /// <inheritdoc/>
    protected override IEnumerable<string> Packages => ["Snapper.DaprCompatibility"];

    /// <inheritdoc/>
    protected override IEnumerable<string> Tools => [];
}
