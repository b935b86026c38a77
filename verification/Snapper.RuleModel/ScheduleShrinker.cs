namespace Snapper.RuleModel;

/// <summary>Looks for a smaller scenario, and then a shorter schedule of it, that fails in the same way.</summary>
/// <remarks>A smaller scenario has other schedules, so each candidate is searched with fresh seeds; what is found is real, only not always the smallest.</remarks>
internal sealed class ScheduleShrinker(ModelRules rules, ModelVariant variant, ModelVerdict verdict)
{
    private const int SeedsPerCandidate = 20_000;
    private const int SeedsForLength = 50_000;

    private readonly RuleModel _model = new(rules, variant);

    /// <summary>The smallest scenario found, and the seed of its shortest failing schedule.</summary>
    public (Scenario Scenario, ulong Seed) Shrink(Scenario failing, ulong seed)
    {
        var best = new Scenario();
        best.CopyFrom(failing);
        for (var found = true; found;)
        {
            found = false;
            foreach (var candidate in Smaller(best))
            {
                if (Search(candidate, SeedsPerCandidate) is { } smaller)
                {
                    (best, seed) = (candidate, smaller);
                    found = true;
                    break;
                }
            }
        }

        return (best, Shortest(best, seed));
    }

    private ulong? Search(Scenario scenario, int seeds)
    {
        for (var seed = 1UL; seed <= (ulong)seeds; seed++)
        {
            if (_model.Run(scenario, seed) == verdict)
            {
                return seed;
            }
        }

        return null;
    }

    private ulong Shortest(Scenario scenario, ulong seed)
    {
        _model.Run(scenario, seed);
        var shortest = _model.Steps;
        for (var other = 1UL; other <= SeedsForLength; other++)
        {
            if (_model.Run(scenario, other) == verdict && _model.Steps < shortest)
            {
                (seed, shortest) = (other, _model.Steps);
            }
        }

        return seed;
    }

    private static IEnumerable<Scenario> Smaller(Scenario scenario)
    {
        for (var index = 0; index < scenario.Count && scenario.Count > 1; index++)
        {
            var dropped = index;
            yield return Changed(scenario, copy => copy.Remove(dropped));
        }

        if (scenario.Crashes > 0)
        {
            yield return Changed(scenario, static copy => copy.Crashes--);
        }

        if (scenario.MasterCrashes > 0)
        {
            yield return Changed(scenario, static copy => copy.MasterCrashes--);
        }

        if (scenario.MayMove)
        {
            yield return Changed(scenario, static copy => copy.MayMove = false);
        }

        for (var index = 0; index < scenario.Count; index++)
        {
            var changed = index;
            var script = scenario.Scripts[index];
            for (var operation = 0; operation < script.Operations && script.Operations > 1; operation++)
            {
                var dropped = operation;
                yield return Changed(scenario, copy => copy.Scripts[changed].Remove(dropped));
            }

            if (script.IsParallel)
            {
                yield return Changed(scenario, copy => copy.Scripts[changed].IsParallel = false);
            }

            if (script.MayAbort)
            {
                yield return Changed(scenario, copy => copy.Scripts[changed].MayAbort = false);
            }

            if (script.Aborts)
            {
                yield return Changed(scenario, copy => copy.Scripts[changed].Aborts = false);
            }

            if (script.ThrowsAt >= 0)
            {
                yield return Changed(scenario, copy => copy.Scripts[changed].ThrowsAt = -1);
            }

            if (!script.DeclaresExactly)
            {
                yield return Changed(scenario, copy => copy.Scripts[changed].DeclareExactly());
            }
        }
    }

    private static Scenario Changed(Scenario scenario, Action<Scenario> change)
    {
        var copy = new Scenario();
        copy.CopyFrom(scenario);
        change(copy);
        return copy;
    }
}
