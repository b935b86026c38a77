using System.Collections.Immutable;
using System.Reflection;
using System.Runtime.Loader;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Snapper.Actors.Generated;

namespace Snapper.Generators.Tests;

/// <summary>Compiles sources together with what the generator makes of them.</summary>
internal static class Compile
{
    private const string Usings = """
        global using System;
        global using System.Collections.Generic;
        global using System.Collections.Immutable;
        global using System.Threading.Tasks;
        global using Snapper.Actors;
        """;

    private static readonly CSharpParseOptions Parse = new(LanguageVersion.Latest);

    private static readonly ImmutableArray<MetadataReference> References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!)
            .Split(Path.PathSeparator)
            .Where(path => !Path.GetFileName(path).StartsWith("Snapper.Apps", StringComparison.Ordinal))
            .Select(path => (MetadataReference)MetadataReference.CreateFromFile(path)),
    ];

    public static CSharpCompilation Sources(string assembly, params string[] sources) => CSharpCompilation.Create(
        assembly,
        [Tree(Usings), .. sources.Select(Tree)],
        References,
        new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));

    public static SyntaxTree Tree(string source) => CSharpSyntaxTree.ParseText(source, Parse, path: "Sample.cs");

    public static GeneratorDriver Driver() => CSharpGeneratorDriver.Create(
        [new ActorGenerator().AsSourceGenerator()],
        parseOptions: Parse,
        driverOptions: new GeneratorDriverOptions(IncrementalGeneratorOutputKind.None, trackIncrementalGeneratorSteps: true));

    /// <summary>Ids of what the generator reports.</summary>
    public static string[] Findings(string source)
    {
        var result = Driver().RunGenerators(Sources("Sample", source)).GetRunResult();
        Assert.All(result.Results, r => Assert.Null(r.Exception));
        return [.. result.Diagnostics.Select(d => d.Id)];
    }

    /// <summary>What the analyzer reports: id and text.</summary>
    public static Task<string[]> Warnings(string source) => Warnings(source, new ActorAnalyzer());

    /// <summary>What an analyzer reports of a source that compiles, in the order of places: id and text.</summary>
    public static async Task<string[]> Warnings(string source, DiagnosticAnalyzer analyzer, params string[] more)
    {
        var sources = Sources("Sample", [source, .. more]);
        Assert.DoesNotContain(sources.GetDiagnostics(), static one => one.Severity == DiagnosticSeverity.Error);
        var found = await sources.WithAnalyzers([analyzer]).GetAnalyzerDiagnosticsAsync();
        return
        [
            .. found.Where(static one => !one.IsSuppressed).OrderBy(static one => one.Location.SourceSpan.Start)
                .Select(static one => one.Id + " " + one.GetMessage(null)),
        ];
    }

    /// <summary>The generated file whose name ends so.</summary>
    public static string Generated(string source, string suffix)
    {
        var files = Driver().RunGenerators(Sources("Sample", source)).GetRunResult().Results.Single().GeneratedSources;
        return files.Single(f => f.HintName.EndsWith(suffix, StringComparison.Ordinal)).SourceText.ToString();
    }

    /// <summary>What is generated of an actor whose state is the record or class <c>S</c>, which compiles.</summary>
    public static string DescriptorOf(string state)
    {
        var source = state + """

            public interface ISample : ITransactionalActor { Task Do(); }
            [TransactionalActor("Sample")]
            public sealed class Sample : TransactionalActor<S>, ISample
            {
                protected override S InitialState() => throw new NotSupportedException();
                public Task Do() => Task.CompletedTask;
            }
            """;
        var found = Sources("Sample", source).GetDiagnostics();
        Assert.DoesNotContain(found, static one => one.Severity == DiagnosticSeverity.Error);
        return Generated(source, "Sample.Descriptor.g.cs");
    }

    /// <summary>Errors and warnings of the compiler, with what is generated: id and text.</summary>
    public static string[] Errors(string source)
    {
        Driver().RunGeneratorsAndUpdateCompilation(Sources("Sample", source), out var compilation, out _);
        return [.. compilation.GetDiagnostics().Where(static d => d.Severity >= DiagnosticSeverity.Warning)
            .Select(static d => $"{d.Id} {d.GetMessage(null)}")];
    }

    /// <summary>Compiles without an error or a warning and loads the assembly.</summary>
    public static Assembly Load(string assembly, params string[] sources)
    {
        Driver().RunGeneratorsAndUpdateCompilation(Sources(assembly, sources), out var compilation, out var findings);
        Assert.Empty(findings);
        Assert.Empty(compilation.GetDiagnostics().Where(d => d.Severity >= DiagnosticSeverity.Warning));

        using var image = new MemoryStream();
        var emitted = compilation.Emit(image);
        Assert.True(emitted.Success);
        image.Position = 0;
        return AssemblyLoadContext.Default.LoadFromStream(image);
    }

    /// <summary>The generated list of an assembly's actor types.</summary>
    public static IReadOnlyList<ActorTypeDescriptor> Actors(Assembly assembly, string catalogue) =>
        (IReadOnlyList<ActorTypeDescriptor>)assembly.GetType(catalogue, throwOnError: true)!.GetProperty("All")!.GetValue(null)!;

}
