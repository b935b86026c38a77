using Microsoft.CodeAnalysis;

namespace Snapper.Generators.Tests;

public sealed class CachingTests
{
    private const string Contract = "public interface ICounter : ITransactionalActor { Task Add(int input); }";

    private const string Class = """
        public sealed record Count(int Value);
        [TransactionalActor("Counter")]
        public sealed class Counter : TransactionalActor<Count>, ICounter
        {
            protected override Count InitialState() => new(0);
            public async Task Add(int input) { await State.ForUpdate(); }
        }
        """;

    [Fact]
    public void An_edit_of_a_method_body_writes_no_file_anew()
    {
        var reasons = ReasonsAfter(Class.Replace("await State.ForUpdate();", "await State.Get(); // changed", StringComparison.Ordinal));

        Assert.All(reasons, reason => Assert.True(reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged, reason.ToString()));
    }

    [Fact]
    public void Lines_added_above_write_no_file_anew()
    {
        var reasons = ReasonsAfter("// A comment.\n\n\n" + Class);

        Assert.All(reasons, reason => Assert.True(reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged, reason.ToString()));
    }

    [Fact]
    public void A_new_mark_writes_the_descriptor_anew() => Assert.Contains(
        IncrementalStepRunReason.Modified,
        ReasonsAfter(Class.Replace("public async Task Add", "[MayAbort] public async Task Add", StringComparison.Ordinal)));

    [Fact]
    public void A_new_type_name_writes_the_proxy_anew()
    {
        var run = RunAfter(Class.Replace("\"Counter\"", "\"Tally\"", StringComparison.Ordinal));

        var proxies = run.TrackedSteps[ActorGenerator.ProxiesStep].SelectMany(s => s.Outputs).Select(o => o.Reason);
        Assert.Equal([IncrementalStepRunReason.Modified], proxies);
    }

    private static List<IncrementalStepRunReason> ReasonsAfter(string changed)
    {
        var run = RunAfter(changed);
        string[] models = [ActorGenerator.ContractsStep, ActorGenerator.ActorsStep, ActorGenerator.ProxiesStep];
        var reasons = models.SelectMany(name => run.TrackedSteps[name]).Concat(run.TrackedOutputSteps.SelectMany(s => s.Value))
            .SelectMany(step => step.Outputs).Select(output => output.Reason).ToList();
        Assert.True(reasons.Count >= 6, "Expected 3 models and 3 files or more, got " + reasons.Count);
        return reasons;
    }

    private static GeneratorRunResult RunAfter(string changed)
    {
        var before = Compile.Sources("Sample", Contract, Class);
        var driver = Compile.Driver().RunGenerators(before);
        var after = before.ReplaceSyntaxTree(before.SyntaxTrees[^1], Compile.Tree(changed));
        return driver.RunGenerators(after).GetRunResult().Results.Single();
    }
}
