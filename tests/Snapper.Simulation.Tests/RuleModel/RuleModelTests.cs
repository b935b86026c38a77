using Snapper.RuleModel;
using Xunit.Abstractions;

namespace Snapper.Simulation.Tests.RuleModel;

public sealed class RuleModelTests(ITestOutputHelper output)
{
    /// <summary>Millions are for <c>./snapper verify --model</c>.</summary>
    private const long Schedules = 100_000;

    /// <summary>Seeds within which every broken rule must be caught; the rarest needs about a third of them.</summary>
    private const long SeedsPerVariant = 300_000;

    [Fact]
    public void The_rules_as_written_hold_in_every_schedule()
    {
        var result = ModelRun.Execute(new ModelRunOptions { Schedules = Schedules });

        output.WriteLine(result.ToString());
        Assert.True(result.Passed, result.ToString());
        Assert.Equal(Schedules, result.Schedules);
        Assert.Equal(0, result.GivenUp);
        Assert.All(result.StepCounts, static step => Assert.True(step.Value > 0, $"{step.Key} never ran"));
    }

    [Theory]
    [InlineData(ModelRules.Prefix)]
    [InlineData(ModelRules.Dependency)]
    public void First_locks_that_wait_hold_in_every_schedule(ModelRules rules)
    {
        var result = ModelRun.Execute(new ModelRunOptions
        {
            Rules = rules, FirstLocksWait = true, Schedules = Schedules / 2,
        });

        output.WriteLine(result.ToString());
        Assert.True(result.Passed, result.ToString());
    }

    public static TheoryData<ModelVariant> Variants()
    {
        var variants = new TheoryData<ModelVariant>();
        foreach (var variant in ModelVariants.Of(ModelRules.Prefix))
        {
            if (DirectedScenarios.For(variant) is null)
            {
                variants.Add(variant);
            }
        }

        return variants;
    }

    [Theory]
    [MemberData(nameof(Variants))]
    public void A_broken_rule_is_caught(ModelVariant variant)
    {
        var result = ModelRun.Execute(new ModelRunOptions { Variant = variant, Schedules = SeedsPerVariant, Shrink = false });

        output.WriteLine(result.ToString());
        Assert.False(result.Passed, $"{variant} was not caught in {result.Schedules} schedules.");
    }

    public static TheoryData<ModelVariant> DirectedVariants() => new(DirectedScenarios.All
        .Where(static scenario => scenario.Options.Rules == ModelRules.Prefix)
        .Select(static scenario => scenario.Variant));

    [Theory]
    [MemberData(nameof(DirectedVariants))]
    public void A_broken_rule_that_needs_a_rare_meeting_is_caught_in_its_scenario(ModelVariant variant)
    {
        var options = DirectedScenarios.For(variant)!.Options with { Schedules = SeedsPerVariant, Shrink = false };

        var broken = ModelRun.Execute(options with { Variant = variant });
        var asWritten = ModelRun.Execute(options with { Schedules = Math.Max(20_000, 2 * broken.Schedules) });

        output.WriteLine(broken.ToString());
        Assert.False(broken.Passed, $"{variant} was not caught in {broken.Schedules} schedules.");
        Assert.True(asWritten.Passed, asWritten.ToString());
    }

    [Theory]
    [InlineData(ModelVariant.ReleasesReadersAtVote)]
    [InlineData(ModelVariant.ChecksAndCommitsAtOnce)]
    public void What_is_wrong_across_workers_closes_a_circle_without_any_crash(ModelVariant variant)
    {
        var result = ModelRun.Execute(new ModelRunOptions
        {
            Variant = variant, Schedules = SeedsPerVariant, Misfortunes = false, LookingFor = ModelVerdict.Cycle, Shrink = false,
        });

        output.WriteLine(result.ToString());
        Assert.NotNull(result.First);
        Assert.StartsWith("A circle: ", result.First.Problem, StringComparison.Ordinal);
        Assert.True(result.First.Size.Workers > 1);
    }

    [Fact]
    public void A_failure_is_told_in_words_and_made_small()
    {
        var options = new ModelRunOptions { Variant = ModelVariant.UpgradeIgnoresReaders, LookingFor = ModelVerdict.Cycle, Misfortunes = false };

        var failure = ModelRun.Execute(options).First;

        Assert.NotNull(failure);
        output.WriteLine(failure.ToString());
        Assert.Equal(3, failure.Transactions.Count); // two that upgrade, and where their actors are
        Assert.Equal(failure.Problem, failure.Steps[^1]);
        Assert.InRange(failure.Steps.Count, 8, 25);
        Assert.Contains("saw", failure.Problem, StringComparison.Ordinal);
    }

    [Fact]
    public void The_same_seeds_give_the_same_result()
    {
        var options = new ModelRunOptions { Variant = ModelVariant.EndsBeforeOrderIsFinal, Schedules = 20_000, StopAfterFailures = int.MaxValue, Shrink = false };

        var once = ModelRun.Execute(options);
        var again = ModelRun.Execute(options);

        Assert.True(once.Failures > 1);
        Assert.Equal((once.Failures, once.Steps, once.NextSeed), (again.Failures, again.Steps, again.NextSeed));
        Assert.Equal(once.First!.Steps, again.First!.Steps);
        Assert.Equal(once.First.Steps, ModelRun.Explain(options, once.First.Seed)!.Steps);
    }

    [Fact]
    public void A_seed_that_holds_has_nothing_to_explain() => Assert.Null(ModelRun.Explain(new ModelRunOptions(), 1));

    [Fact]
    public void A_run_stops_when_its_time_is_over()
    {
        var result = ModelRun.Execute(new ModelRunOptions { Schedules = long.MaxValue, TimeBudget = TimeSpan.FromMilliseconds(50) });

        Assert.InRange(result.Schedules, 1, 10_000_000);
        Assert.Equal(1 + (ulong)result.Schedules, result.NextSeed);
    }

    [Theory]
    [InlineData("w X", "starts with 'act' or 'pact'")]
    [InlineData("act w Q", "followed by one of the 2 actors")]
    [InlineData("act w", "followed by one of the 2 actors")]
    [InlineData("act", "1 to 5 operations")]
    [InlineData("pact w X, throws 2", "throws after one of them")]
    [InlineData("pact w X, throws", "the number of an operation")]
    [InlineData("pact w X, sleeps", "'sleeps' is not known")]
    [InlineData("act w X, w X, w X, w X, w X, w X", "at most 5 operations")]
    public void A_script_that_is_not_understood_is_refused_in_words(string script, string words)
    {
        var options = new ModelRunOptions { Sizes = [new ModelSize(2, 1, 1, 1)], Scripts = [script] };

        var failure = Assert.Throws<ArgumentException>(() => ModelRun.Execute(options));

        Assert.Contains(words, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(5, 1, 1, 1, "Actors is 5")]
    [InlineData(1, 9, 1, 1, "Transactions is 9")]
    [InlineData(2, 1, 4, 1, "Workers is 4")]
    [InlineData(2, 1, 1, 0, "Operations is 0")]
    [InlineData(1, 1, 2, 1, "at least as many actors")]
    public void A_size_out_of_range_is_refused_by_name(int actors, int transactions, int workers, int operations, string words)
    {
        var options = new ModelRunOptions { Sizes = [new ModelSize(actors, transactions, workers, operations)] };

        var failure = Assert.Throws<ArgumentException>(() => ModelRun.Execute(options));

        Assert.Contains(words, failure.Message, StringComparison.Ordinal);
    }
}
