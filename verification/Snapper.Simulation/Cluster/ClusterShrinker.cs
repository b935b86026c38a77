using Snapper.Simulation.Running;

namespace Snapper.Simulation.Cluster;

/// <summary>Makes a failing scenario of several workers smaller as long as it fails; what is left is what a person has to look at.</summary>
public static class ClusterShrinker
{
    /// <summary>Shrinks.</summary>
    /// <param name="failing">A run that fails.</param>
    /// <param name="runs">Most runs to try.</param>
    /// <param name="enough">Ends the search early; what was found until then is the result.</param>
    /// <returns>The smallest run found that fails.</returns>
    public static ClusterRunResult Shrink(ClusterRunResult failing, int runs, CancellationToken enough = default)
    {
        ArgumentNullException.ThrowIfNull(failing);
        var kind = ClassOf(failing);
        return Shrinker.Search<ClusterScenario, ClusterRunResult>(
            failing, runs, static scenario => Smaller(scenario, hasScripts: true), ClusterSimulator.Run,
            result => result.Violations.Count > 0 && ClassOf(result) == kind, enough);
    }

    /// <summary>Shrinks what another workload can run.</summary>
    internal static ClusterRunResult Shrink(
        ClusterRunResult failing, int runs, Func<ClusterScenario, ClusterRunResult> run)
    {
        var kind = ClassOf(failing);
        return Shrinker.Search(
            failing, runs, static scenario => Smaller(scenario, hasScripts: false), run,
            result => result.Violations.Count > 0 && ClassOf(result) == kind, CancellationToken.None);
    }

    /// <summary>What kind of thing is wrong, by the words that it begins with: another one is looked for in a run of its own.</summary>
    private static string ClassOf(ClusterRunResult result)
    {
        var words = string.Concat(result.Violations[0].Where(static c => !char.IsAsciiDigit(c)));
        return words[..Math.Min(words.Length, 12)];
    }

    private static IEnumerable<ClusterScenario> Smaller(ClusterScenario s, bool hasScripts)
    {
        for (var i = 0; i < s.Faults.Count; i++)
        {
            yield return s with { Faults = [.. s.Faults.Where((_, at) => at != i)] };
        }

        // What lasts for less tells which bound it is about.
        for (var i = 0; i < s.Faults.Count; i++)
        {
            if (s.Faults[i].ForMs is > 100 and < PlannedClusterFault.ForGood)
            {
                yield return s with { Faults = [.. s.Faults.Select((fault, at) => at == i ? fault with { ForMs = fault.ForMs / 2 } : fault)] };
            }
        }

        if (s.AloneMs != 0)
        {
            yield return s with { AloneMs = 0 };
        }

        if (s.ForgetPercent != 0)
        {
            yield return s with { ForgetPercent = 0 };
        }

        if (s.MasterForgottenMs != 0)
        {
            yield return s with { MasterForgottenMs = 0 };
        }

        if (s.FailOverMs != 0)
        {
            yield return s with { FailOverMs = 0 };
            yield return s with { FormerMs = s.FormerMs / 2 };
        }

        if (s.Paced != 0)
        {
            yield return s with { Paced = 0 };
        }

        foreach (var rate in Shrinker.Less(s.NetworkFaultPerMille, 0))
        {
            yield return s with { NetworkFaultPerMille = rate };
        }

        foreach (var rate in Shrinker.Less(s.StoreFaultPerMille, 0))
        {
            yield return s with { StoreFaultPerMille = rate };
        }

        if (s.DieAtEnd != 0)
        {
            yield return s with { DieAtEnd = 0 };
        }

        // What is planned names workers by number, so fewer of them leave gaps that strike nobody.
        foreach (var workers in Shrinker.Less(s.Workers, 1))
        {
            yield return s with { Workers = workers };
        }

        foreach (var load in Shrinker.Smaller(s.Load, hasScripts))
        {
            yield return s with { Load = load };
        }
    }
}
