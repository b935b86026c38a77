using Snapper.Simulation.Cluster;

namespace Snapper.Verify;

/// <summary>Seeds of several workers.</summary>
internal sealed class SeveralWorkersRun(VerifyOptions options) : SeedRun<ClusterScenario, ClusterRunResult>(options)
{
    private const int ShrinkingRuns = 300;

    private readonly ClusterCoverage _coverage = new();

    protected override long Runs => _coverage.Runs;

    protected override IReadOnlyList<string> Missing => _coverage.Missing;

    protected override string OfWorkers => $"of {(Options.Workers == 0 ? "2 to 4" : Options.Workers)} workers, ";

    protected override ClusterScenario Draw(ulong seed) => ClusterScenario.Draw(seed, Options.Workers!.Value);

    protected override ClusterRunResult Simulate(ClusterScenario scenario) => ClusterSimulator.Run(scenario);

    protected override IEnumerable<string> Taken(ClusterRunResult result) =>
        CoverageReport.Taken(result.ClusterTransitions).Concat(CoverageReport.Taken(result.Transitions));

    protected override ClusterRunResult Shrink(ClusterRunResult failing, CancellationToken interrupted) =>
        ClusterShrinker.Shrink(failing, ShrinkingRuns, interrupted);

    protected override void Cover(ClusterRunResult result) => _coverage.Add(result);

    protected override void PrintCoverage() => CoverageReport.Print(_coverage, Options.Markdown);

    protected override void PrintSums(TimeSpan elapsed)
    {
        Console.WriteLine(
            $"{Runs:N0} seeds from {Options.First}: {Committed:N0} transactions committed, {Aborted:N0} aborted, {Unknown:N0} unknown to their clients, {Steps:N0} steps");
        Console.WriteLine(
            $"{elapsed.TotalSeconds:0.0} s, {Runs / elapsed.TotalMinutes:N0} seeds per minute, {VirtualTime.TotalHours:0.0} hours of virtual time; {Failures} seeds with violations");
    }
}
