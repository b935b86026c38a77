using System.Diagnostics;

namespace Snapper.RuleModel;

/// <summary>Runs the rule model over many seeds. Single-threaded; several may run side by side on different seeds.</summary>
public static class ModelRun
{
    /// <summary>Explores schedules until the count, the time or the number of failures is reached.</summary>
    /// <exception cref="ArgumentException">An option lies outside its range.</exception>
    public static ModelRunResult Execute(ModelRunOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Validate(options);
        var model = new RuleModel(options.Rules, options.Variant);
        var scenario = new Scenario();
        var sizes = options.Sizes.ToArray();
        var started = Stopwatch.GetTimestamp();
        long schedules = 0, steps = 0, givenUp = 0, failures = 0;
        var seed = options.FirstSeed;
        ulong? failed = null;
        while (schedules < options.Schedules && failures < options.StopAfterFailures)
        {
            if ((schedules & 0xFF) == 0 && IsOver(options, started))
            {
                break;
            }

            Draw(scenario, options, sizes, seed);
            var verdict = model.Run(scenario, seed);
            if (verdict != ModelVerdict.Held && (options.LookingFor ?? verdict) == verdict)
            {
                failures++;
                failed ??= seed;
            }

            givenUp += model.WasGivenUp ? 1 : 0;
            steps += model.Steps;
            schedules++;
            seed++;
        }

        var elapsed = Stopwatch.GetElapsedTime(started);
        return new ModelRunResult
        {
            Schedules = schedules,
            Steps = steps,
            GivenUp = givenUp,
            Failures = failures,
            First = failed is { } first ? Explain(options, first) : null,
            StepCounts = model.StepCounts(),
            Ahead = model.Ahead,
            Elapsed = elapsed,
            NextSeed = seed,
        };
    }

    /// <summary>Runs one seed again and tells it in words, shrunken when the options ask for it.</summary>
    /// <returns>Null when the seed holds.</returns>
    public static ModelFailure? Explain(ModelRunOptions options, ulong seed)
    {
        ArgumentNullException.ThrowIfNull(options);
        Validate(options);
        var scenario = new Scenario();
        var size = Draw(scenario, options, [.. options.Sizes], seed);
        var model = new RuleModel(options.Rules, options.Variant);
        var verdict = model.Run(scenario, seed);
        if (verdict == ModelVerdict.Held)
        {
            return null;
        }

        var schedule = seed;
        if (options.Shrink)
        {
            (scenario, schedule) = new ScheduleShrinker(options.Rules, options.Variant, verdict).Shrink(scenario, seed);
        }

        var trace = new List<string>();
        var teller = new RuleModel(options.Rules, options.Variant, trace);
        verdict = teller.Run(scenario, schedule);
        var transactions = new List<string>();
        for (var client = 0; client < scenario.Count; client++)
        {
            transactions.Add(scenario.Scripts[client].Describe(client));
        }

        transactions.Add($"on {Placement(scenario)}");
        return new ModelFailure
        {
            Variant = options.Variant,
            Seed = seed,
            Size = size,
            Verdict = verdict,
            Problem = teller.Problem,
            Transactions = transactions,
            Steps = trace,
        };
    }

    private static string Placement(Scenario scenario) => string.Join(
        "; ",
        Enumerable.Range(0, scenario.Workers).Select(worker => $"worker {worker + 1}: " + string.Join(
            ", ",
            Enumerable.Range(0, scenario.Actors).Where(actor => scenario.OwnerOf(actor) == worker).Select(RuleModel.ActorName))));

    private static ModelSize Draw(Scenario scenario, ModelRunOptions options, ModelSize[] sizes, ulong seed)
    {
        // The scenario's draws are mixed away from the schedule's, which start at the seed itself.
        var random = new ModelRandom(seed ^ 0xA5A5_5A5A_F00D_BEEF);
        var size = sizes[random.Next(sizes.Length)];
        scenario.Draw(ref random, size, options.Misfortunes);
        scenario.FirstLocksWait = options.FirstLocksWait
            || options.Variant is ModelVariant.HoldersWaitForOlder or ModelVariant.FirstWaiterCountsAsYoung;
        scenario.MayMove = options.Rules == ModelRules.Dependency && options.Scripts.Count == 0;
        for (var index = 0; index < options.Scripts.Count; index++)
        {
            ScriptText.Read(options.Scripts[index], size.Actors, scenario.Scripts[index]);
            scenario.Count = options.Scripts.Count;
        }

        return size;
    }

    private static bool IsOver(ModelRunOptions options, long started) =>
        options.Cancellation.IsCancellationRequested
        || (options.TimeBudget != Timeout.InfiniteTimeSpan && Stopwatch.GetElapsedTime(started) >= options.TimeBudget);

    private static void Validate(ModelRunOptions options)
    {
        if (options.Sizes.Count == 0)
        {
            throw new ArgumentException("At least one size is needed.");
        }

        if (options.Scripts.Count > ModelSize.MaxTransactions || (options.Scripts.Count > 0 && options.Sizes.Count != 1))
        {
            throw new ArgumentException($"Scripts need exactly one size, and there are at most {ModelSize.MaxTransactions}.");
        }

        foreach (var size in options.Sizes)
        {
            size.Validate();
        }

        ArgumentOutOfRangeException.ThrowIfLessThan(options.Schedules, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.StopAfterFailures, 1);
        if (!Enum.IsDefined(options.Variant))
        {
            throw new ArgumentException($"There is no variant {options.Variant}.");
        }

        if (!options.Variant.Breaks(options.Rules))
        {
            throw new ArgumentException($"{options.Variant} breaks no rule of those by {options.Rules}.");
        }
    }
}
