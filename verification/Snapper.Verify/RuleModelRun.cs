using Snapper.RuleModel;

namespace Snapper.Verify;

/// <summary>Random schedules of the rules alone: as written none may fail, and of each broken rule one must.</summary>
internal static class RuleModelRun
{
    /// <summary>So many schedules of each broken rule show it, from seed 1 on; the test of the model runs as many.</summary>
    private const long EnoughForAll = 300_000;

    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        var written = new ModelRunOptions
        {
            Rules = options.ByDependency ? ModelRules.Dependency : ModelRules.Prefix,
            Schedules = options.Schedules,
            FirstSeed = options.First,
            TimeBudget = options.Time,
            Cancellation = interrupted,
        };
        var (ran, passed) = (0L, true);
        foreach (var (name, sizes) in Sweeps(options.ByDependency))
        {
            var asWritten = ModelRun.Execute(written with { Sizes = sizes });
            Console.WriteLine($"as written{name}: {asWritten}");
            ran += asWritten.Schedules;
            passed &= asWritten.Passed;
        }

        var (missed, caught) = (0, 0);
        var variants = ModelVariants.Of(written.Rules).ToList();
        foreach (var variant in variants)
        {
            if (interrupted.IsCancellationRequested)
            {
                continue;
            }

            // Three need a meeting that random scenarios make too seldom; each has a scenario of its own.
            var explored = DirectedScenarios.For(variant)?.Options ?? new ModelRunOptions();
            var broken = ModelRun.Execute(explored with
            {
                Rules = written.Rules,
                Variant = variant,
                Schedules = options.Schedules,
                Shrink = false,
                Cancellation = interrupted,
            });
            if (!broken.Passed)
            {
                caught++;
                Console.WriteLine($"caught {variant} after {broken.Schedules:N0} schedules: {broken.First!.Verdict}");
            }
            else if (!interrupted.IsCancellationRequested)
            {
                missed++;
                Console.WriteLine($"MISSED {variant} in {broken.Schedules:N0} schedules");
            }
        }

        Console.WriteLine($"{caught} of {variants.Count} broken rules caught, {missed} missed");
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine(
                $"INTERRUPTED: {ran:N0} schedules of the rules as written, and the broken rules above, "
                + "are all that was run.");
        }
        else if (missed > 0 && options.Schedules < EnoughForAll)
        {
            Console.WriteLine($"What is missed in {options.Schedules:N0} schedules may only need more of them: every broken rule is caught within {EnoughForAll:N0} (--schedules {EnoughForAll}).");
        }

        return passed && missed == 0 ? 0 : 1;
    }

    private static IEnumerable<(string Name, IReadOnlyList<ModelSize> Sizes)> Sweeps(bool byDependency) => byDependency
        ? [(", one worker", ModelSize.OneWorker), (", two and three workers", ModelSize.SeveralWorkers)]
        : [("", ModelSize.Sweep)];
}
