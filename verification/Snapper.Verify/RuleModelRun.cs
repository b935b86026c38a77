using Snapper.RuleModel;

namespace Snapper.Verify;

/// <summary>Random schedules of the rules alone: as written none may fail, and of each broken rule one must.</summary>
internal static class RuleModelRun
{
    /// <summary>So many schedules of each broken rule show it, from seed 1 on; the test of the model runs as many.</summary>
    private const long EnoughForAll = 300_000;

    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        var asWritten = ModelRun.Execute(new ModelRunOptions { Schedules = options.Schedules, FirstSeed = options.First, TimeBudget = options.Time, Cancellation = interrupted });
        Console.WriteLine($"as written: {asWritten}");
        var (missed, caught) = (0, 0);
        foreach (var variant in Enum.GetValues<ModelVariant>())
        {
            if (variant == ModelVariant.AsWritten || interrupted.IsCancellationRequested)
            {
                continue;
            }

            // Three need a meeting that random scenarios make too seldom; each has a scenario of its own.
            var explored = DirectedScenarios.For(variant)?.Options ?? new ModelRunOptions();
            var broken = ModelRun.Execute(explored with { Variant = variant, Schedules = options.Schedules, Shrink = false, Cancellation = interrupted });
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

        Console.WriteLine($"{caught} of {Enum.GetValues<ModelVariant>().Length - 1} broken rules caught, {missed} missed");
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine($"INTERRUPTED: {asWritten.Schedules:N0} schedules of the rules as written, and the broken rules above, are all that was run.");
        }
        else if (missed > 0 && options.Schedules < EnoughForAll)
        {
            Console.WriteLine($"What is missed in {options.Schedules:N0} schedules may only need more of them: every broken rule is caught within {EnoughForAll:N0} (--schedules {EnoughForAll}).");
        }

        return asWritten.Passed && missed == 0 ? 0 : 1;
    }
}
