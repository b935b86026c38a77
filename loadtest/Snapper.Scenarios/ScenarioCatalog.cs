using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Workloads;

namespace Snapper.Scenarios;

/// <summary>The scenarios that there are.</summary>
public static class ScenarioCatalog
{
    private static readonly ChooserSettings s_zipf = new() { Distribution = Distribution.Zipf, Skew = 0.9 };
    private static readonly ChooserSettings s_hotspot = new() { Distribution = Distribution.Hotspot };

    // Nothing is lost, nothing is refused, and the system aborts next to nothing: at a load that it can carry, all of them hold.
    private static readonly Threshold[] s_calm = [new("error-percent", 0), new("abort-percent", 1), new("p99-ms", 250)];

    // What a migration may cost: one transaction of ten thousand aborted, a quarter of a second's throughput, a quarter of a second for an actor's callers.
    private static readonly Threshold[] s_migration = [new("error-percent", 0), new("change-abort-percent", 0.01), new("dip-percent", 25), new("pause-p99-ms", 250)];

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Scenario> All { get; } =
    [
        Bank("smallbank-pact", "bank transactions as PACTs, accounts drawn evenly"),
        Bank("smallbank-act", "the same as ACTs") with { PactShare = 0 },
        Bank("smallbank-mixed", "the same, nine of ten as PACTs") with { PactShare = 0.9 },
        Bank("smallbank-zipf", "nine of ten as PACTs, accounts drawn by zipf 0.9") with { PactShare = 0.9, Chooser = s_zipf },
        Bank("smallbank-hotspot", "nine of ten as PACTs, ten accounts get three quarters of all") with { PactShare = 0.9, Chooser = s_hotspot },
        new()
        {
            Name = "listappend",
            Summary = "appends to and reads of hot lists, half as PACTs; the history is judged in the end",
            Workload = static settings => new ListAppendWorkload(settings),
            PactShare = 0.5,
            Thresholds = [new("error-percent", 0), new("p99-ms", 1000)],
        },
        Bank("ramp", "mixed bank transactions from a tenth of the rate to the whole") with { PactShare = 0.9, Shape = ShapeKind.Ramp },
        Bank("spike", "mixed bank transactions, at three times the rate for a fifth of the time") with
        {
            PactShare = 0.9, Shape = ShapeKind.Spike, Thresholds = [new("error-percent", 0), new("abort-percent", 1), new("p99-ms", 2000)],
        },
        Moving("scale-out", "two workers join a system of two or more, and everything is divided anew", static () => new ScaleOut()),
        Moving("drain", "everything of a worker moves to the others, and its share moves back", static () => new DrainAndBack()),
        Moving("rebalance", "partitions move until every worker has its share", static () => new Rebalance()),
        Bank("kill-worker", "a worker's process is killed, and started again by its supervisor") with
        {
            PactShare = 0.9,
            Change = static () => new KillWorker(),
            Thresholds = [new("error-percent", 0), new("pause-p99-ms", 10_000), new("recovery-ms", 10_000)],
        },
    ];

    /// <summary>The scenario of that name; null: there is none.</summary>
    public static Scenario? Find(string name) => All.FirstOrDefault(scenario => scenario.Name == name);

    private static Scenario Bank(string name, string summary) => new()
    {
        Name = name,
        Summary = summary,
        Workload = static settings => new SmallBankWorkload(settings),
        Thresholds = s_calm,
    };

    private static Scenario Moving(string name, string summary, Func<IChange> change) => Bank(name, summary) with
    {
        PactShare = 0.9,
        Change = change,
        Thresholds = s_migration,
    };
}
