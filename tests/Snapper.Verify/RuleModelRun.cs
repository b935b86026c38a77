using Snapper.Testing.Models;

namespace Snapper.Verify;

/// <summary>Random schedules of the rules alone: as written none may fail, and of each broken rule one must.</summary>
internal static class RuleModelRun
{
    public static int Run(VerifyOptions options)
    {
        var asWritten = ModelRun.Execute(new ModelRunOptions { Schedules = options.Schedules, FirstSeed = options.First, TimeBudget = options.Time });
        Console.WriteLine($"as written: {asWritten}");
        var missed = 0;
        foreach (var variant in Enum.GetValues<ModelVariant>())
        {
            if (variant == ModelVariant.AsWritten)
            {
                continue;
            }

            var broken = ModelRun.Execute(new ModelRunOptions { Variant = variant, Schedules = options.Schedules, Shrink = false });
            missed += broken.Passed ? 1 : 0;
            Console.WriteLine(broken.Passed ? $"MISSED {variant} in {broken.Schedules:N0} schedules" : $"caught {variant} after {broken.Schedules:N0} schedules: {broken.First!.Verdict}");
        }

        return asWritten.Passed && missed == 0 ? 0 : 1;
    }
}
