using Snapper.RuleModel;
using Xunit.Abstractions;

namespace Snapper.Simulation.Tests.RuleModel;

/// <summary>The proposed rules D1 to D8; more schedules by <c>./snapper verify --model --dependency</c>.</summary>
public sealed class DependencyModelTests(ITestOutputHelper output)
{
    [Fact]
    public void Commit_by_dependency_holds_in_every_schedule()
    {
        var one = Run(ModelSize.OneWorker, schedules: 1_000);
        var several = Run(ModelSize.SeveralWorkers, schedules: 1_000);

        Assert.True(one.Ahead.OfBatches > 50);
        Assert.True(one.Ahead.DuringUndos > 5);
        Assert.True(several.Ahead.OfBatches > 20);
        Assert.True(several.Ahead.OfParts > 10);
        Assert.True(several.Ahead.DuringUndos > 5);
        Assert.All(
            one.StepCounts.Zip(several.StepCounts),
            static step => Assert.True(step.First.Value + step.Second.Value > 0, $"{step.First.Key} never ran"));
    }

    [Theory]
    [InlineData(ModelVariant.FinalWithoutTheChain, 2_000)]
    [InlineData(ModelVariant.RecordIgnoresTheChain, 5_000)]
    [InlineData(ModelVariant.EndsBeforeOrderIsFinal, 1_000)]
    [InlineData(ModelVariant.CompletionsCarryNoUndo, 10_000)]
    [InlineData(ModelVariant.ReadersAreNoVictims, 5_000)]
    [InlineData(ModelVariant.MarkedReadersAreNoVictims, 5_000)]
    [InlineData(ModelVariant.AbortedMarkedIsNoVictim, 20_000)]
    public void A_broken_rule_is_caught_on_one_worker(ModelVariant variant, int seeds) =>
        AssertCaught(variant, ModelSize.OneWorker, seeds);

    [Theory]
    [InlineData(ModelVariant.FinalWithoutTheChain, 1_000)]
    [InlineData(ModelVariant.LocalIgnoresPreparedParts, 2_000)]
    [InlineData(ModelVariant.PartsPreparedOutOfOrder, 1_000)]
    [InlineData(ModelVariant.DependentsGoOn, 1_000)]
    [InlineData(ModelVariant.MovesBeforeDurable, 30_000)]
    public void A_broken_rule_is_caught_on_several_workers(ModelVariant variant, int seeds) =>
        AssertCaught(variant, ModelSize.SeveralWorkers, seeds);

    [Theory]
    [InlineData(ModelVariant.UndoBySuffix, 2_000)]
    [InlineData(ModelVariant.LaterPartsStay, 2_000)]
    public void An_undo_that_takes_too_much_or_too_little_meets_what_is_decided(ModelVariant variant, int seeds)
    {
        var options = DirectedScenarios.For(variant)!.Options with
        {
            Schedules = seeds, Shrink = false, LookingFor = ModelVerdict.BrokenInvariant,
        };

        var broken = ModelRun.Execute(options with { Variant = variant });
        var asWritten = ModelRun.Execute(options);

        output.WriteLine(broken.ToString());
        Assert.False(broken.Passed);
        Assert.Contains("is decided, and must be undone", broken.First!.Problem, StringComparison.Ordinal);
        Assert.True(asWritten.Passed, asWritten.ToString());
    }

    [Fact]
    public void A_variant_of_the_other_rules_is_refused()
    {
        var options = new ModelRunOptions
        {
            Rules = ModelRules.Dependency, Variant = ModelVariant.LocalIsFinalBeforeEarlierGlobal,
        };

        var refused = Assert.Throws<ArgumentException>(() => ModelRun.Execute(options));

        Assert.Contains("breaks no rule", refused.Message, StringComparison.Ordinal);
    }

    private ModelRunResult Run(IReadOnlyList<ModelSize> sizes, long schedules)
    {
        var result = ModelRun.Execute(new ModelRunOptions
        {
            Rules = ModelRules.Dependency, Sizes = sizes, Schedules = schedules,
        });
        output.WriteLine(result.ToString());
        Assert.True(result.Passed, result.ToString());
        Assert.Equal(schedules, result.Schedules);
        Assert.Equal(0, result.GivenUp);
        return result;
    }

    private void AssertCaught(ModelVariant variant, IReadOnlyList<ModelSize> sizes, int seeds)
    {
        var result = ModelRun.Execute(new ModelRunOptions
        {
            Rules = ModelRules.Dependency, Variant = variant, Sizes = sizes, Schedules = seeds, Shrink = false,
        });

        output.WriteLine(result.ToString());
        Assert.False(result.Passed, $"{variant} was not caught in {result.Schedules} schedules.");
    }
}
