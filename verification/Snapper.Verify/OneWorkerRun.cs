using System.Globalization;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>Seeds of one worker.</summary>
internal sealed class OneWorkerRun(VerifyOptions options) : SeedRun<Scenario, SimulationResult>(options)
{
    private const int ShrinkingRuns = 400;

    private readonly Coverage _coverage = new();

    protected override long Runs => _coverage.Runs;

    protected override IReadOnlyList<string> Missing => _coverage.Missing;

    protected override string OfHowMany => $" of {(Options.Seeds == int.MaxValue ? "as many as fit" : Options.Seeds.ToString("N0", CultureInfo.InvariantCulture))}";

    protected override Scenario Draw(ulong seed) => Scenario.Draw(seed);

    protected override SimulationResult Simulate(Scenario scenario) => Simulator.Run(scenario);

    protected override IEnumerable<string> Taken(SimulationResult result) => CoverageReport.Taken(result.Transitions);

    protected override SimulationResult Shrink(SimulationResult failing, CancellationToken interrupted) => Shrinker.Shrink(failing.Scenario, ShrinkingRuns, interrupted);

    protected override void Cover(SimulationResult result) => _coverage.Add(result);

    protected override void PrintCoverage() => CoverageReport.Print(_coverage, Options.Markdown);

    protected override void PrintSums(TimeSpan elapsed)
    {
        var transactions = Committed + Aborted + Unknown;
        Console.WriteLine($"{Runs:N0} seeds from {Options.First}: {transactions:N0} transactions ({Committed:N0} committed, {Aborted:N0} aborted, {Unknown:N0} unknown to their clients), {Steps:N0} steps");
        var processor = Environment.CpuUsage.TotalTime.TotalSeconds; // of all threads since the program began, its compiling included
        Console.WriteLine($"{processor:0.0} s of processor time, {transactions / processor:N0} transactions per second of one core");
        Console.WriteLine($"{elapsed.TotalSeconds:0.0} s, {transactions / elapsed.TotalSeconds:N0} transactions/s, {VirtualTime.TotalHours:0.0} hours of virtual time; {Failures} seeds with violations");
    }
}
