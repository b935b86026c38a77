namespace Snapper.RuleModel;

/// <summary>A scenario in whose schedules a broken rule shows.</summary>
/// <param name="Variant">The rule that is broken.</param>
/// <param name="Options">What to explore; its variant is not set: the rules as written must hold there as well.</param>
public sealed record DirectedScenario(ModelVariant Variant, ModelRunOptions Options);

/// <summary>Scenarios for broken rules that random ones meet too seldom.</summary>
public static class DirectedScenarios
{
    /// <summary>All of them.</summary>
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

        // D8: a local PACT throws. The part behind it in the worker's order shares no actor with it, and is decided.
        new(ModelVariant.UndoBySuffix, new ModelRunOptions
        {
            Rules = ModelRules.Dependency,
            Sizes = [new ModelSize(4, 2, 2, 2)],
            Scripts = ["pact w X, r V", "pact r Y, throws 1"],
        }),

        // D8: a part comes to its worker when an earlier one was taken back there, and elsewhere it is behind that one.
        new(ModelVariant.LaterPartsStay, new ModelRunOptions
        {
            Rules = ModelRules.Dependency,
            Sizes = [new ModelSize(4, 2, 2, 2)],
            Scripts = ["pact r V, w Z", "pact w V, r Z, aborts"],
        }),
    ];

    /// <summary>That of a broken rule; null: random scenarios show it.</summary>
    public static DirectedScenario? For(ModelVariant variant) => All.FirstOrDefault(scenario => scenario.Variant == variant);
}
