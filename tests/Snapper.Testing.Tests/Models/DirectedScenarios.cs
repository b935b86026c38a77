using Snapper.Testing.Models;

namespace Snapper.Testing.Tests.Models;

/// <summary>Scenarios for broken rules that random ones meet too seldom.</summary>
internal sealed record DirectedScenario(ModelVariant Variant, ModelRunOptions Options);

internal static class DirectedScenarios
{
    public static IReadOnlyList<DirectedScenario> All { get; } =
    [
        // H2: T1 reads X on worker 1 and writes Y on worker 2 behind a batch that is not final. Worker 1 votes, crashes, and forgets that it did.
        new(ModelVariant.CrashReleasesReaders, new ModelRunOptions
        {
            Sizes = [new ModelSize(4, 3, 2, 2)],
            Scripts = ["act w Y, r X", "act w X, w V", "pact w V, w Y, parallel"],
        }),

        // H5: two wait for the lock of a third. One of them gets it, and comes behind the batch that is behind the other.
        new(ModelVariant.NoTestAtGrants, new ModelRunOptions
        {
            Sizes = [new ModelSize(4, 4, 1, 3)],
            Scripts = ["pact w Z", "act w V", "act w Z, w V", "act r Z, w V, parallel"],
            Misfortunes = false,
        }),

        // H5: a reader behind a waiting writer is overtaken by an upgrade, and then the writer dies elsewhere.
        new(ModelVariant.QueueDoesNotTellOfUpgrades, new ModelRunOptions
        {
            Sizes = [new ModelSize(4, 4, 1, 3)],
            Scripts = ["act w Z, w V, r X", "act w X, w V, parallel", "act r X, w X, r Y", "pact w Y, w Z"],
            Misfortunes = false,
        }),
    ];

    public static DirectedScenario? For(ModelVariant variant) => All.FirstOrDefault(scenario => scenario.Variant == variant);
}
