using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;
using Snapper.Generators.CodeFixes;

namespace Snapper.Generators.Tests;

/// <summary>What is offered in the place of what a method may not do compiles, and is not found again.</summary>
public sealed class CodeFixTests
{
    [Theory]
    [InlineData("DateTimeOffset now = DateTimeOffset.UtcNow;", "DateTimeOffset now = Context.UtcNow;")]
    [InlineData("var day = DateTime.UtcNow.Day;", "var day = Context.UtcNow.UtcDateTime.Day;")]
    [InlineData("var now = TimeProvider.System;", null)]
    [InlineData("var id = Guid.NewGuid();", "var id = Context.NewGuid();")]
    [InlineData("Func<Guid> make = Guid.NewGuid;", "Func<Guid> make = Context.NewGuid;")]
    [InlineData("var random = new Random();", null)]
    [InlineData("await State.Get().ConfigureAwait(false);", "await State.Get();")]
    [InlineData("await Task.Delay(5);", "await Context.Delay(TimeSpan.FromMilliseconds(5));")]
    [InlineData("await Task.Delay(TimeSpan.Zero);", "await Context.Delay(TimeSpan.Zero);")]
    [InlineData("await Task.Delay(5, default);", null)]
    [InlineData("await Task.Run(() => 1);", null)]
    [InlineData("try { await State.Get(); } catch (Exception) { }",
        "try { await State.Get(); } catch (Exception) { throw; }")]
    [InlineData("try { await State.Get(); } catch { Log(); return; }",
        "try { await State.Get(); } catch { Log(); throw; }")]
    public async Task A_fix_takes_its_place(string body, string? expected)
    {
        var offered = await Fixed(Source(body, ""));
        if (expected is null)
        {
            Assert.Null(offered);
            return;
        }

        Assert.Equal(Words(Source(expected, "")), Words(offered!));
        Assert.Empty(await Compile.Warnings(offered!, new BodyAnalyzer()));
    }

    [Theory]
    [InlineData("private static Guid Make() => Guid.NewGuid();")]
    [InlineData("private readonly Guid _id = Guid.NewGuid();")]
    public async Task None_is_offered_where_there_is_no_context(string member) =>
        Assert.Null(await Fixed(Source("await Task.Yield();", member)));

    // The first finding's first fix, applied; null: it has none.
    private static async Task<string?> Fixed(string source)
    {
        using var workspace = new AdhocWorkspace();
        var sources = Compile.Sources("Sample", source);
        var project = workspace.AddProject("Sample", LanguageNames.CSharp)
            .WithMetadataReferences(sources.References).WithCompilationOptions(sources.Options)
            .WithParseOptions((CSharpParseOptions)sources.SyntaxTrees[0].Options);
        project = project.AddDocument("Usings.cs", sources.SyntaxTrees[0].GetText()).Project;
        var document = project.AddDocument("Sample.cs", SourceText.From(source));
        var compilation = (await document.Project.GetCompilationAsync())!;
        var found = await compilation.WithAnalyzers([new BodyAnalyzer()]).GetAnalyzerDiagnosticsAsync();
        var fixer = new BodyCodeFix();
        var finding = Assert.Single(found);
        if (!fixer.FixableDiagnosticIds.Contains(finding.Id))
        {
            return null;
        }

        var actions = new List<CodeAction>();
        var context = new CodeFixContext(document, finding, (action, _) => actions.Add(action), CancellationToken.None);
        await fixer.RegisterCodeFixesAsync(context);
        if (actions.Count == 0)
        {
            return null;
        }

        var operation = Assert.Single(await Assert.Single(actions).GetOperationsAsync(CancellationToken.None));
        var changed = ((ApplyChangesOperation)operation).ChangedSolution.GetDocument(document.Id)!;
        return (await changed.GetTextAsync()).ToString();
    }

    private static string Words(string text) => string.Concat(text.Where(static c => !char.IsWhiteSpace(c)));

    private static string Source(string body, string member) => $$"""
        public interface ISample : ITransactionalActor { Task Do(); }
        public sealed record Count(int Value);
        [TransactionalActor("Sample")]
        public sealed class Sample : TransactionalActor<Count>, ISample
        {
            protected override Count InitialState() => new(0);
            public async Task Do()
            {
                await Task.Yield();
                {{body}}
            }
            private void Log() { }
            {{member}}
        }
        """;
}
