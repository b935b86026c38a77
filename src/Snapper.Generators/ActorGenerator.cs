using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Snapper.Generators.Emit;
using Snapper.Generators.Models;
using Snapper.Generators.Reading;

namespace Snapper.Generators;

/// <summary>
/// Generates a proxy for each actor interface, a descriptor for each actor class, and one list of all descriptors per
/// assembly, so that a worker calls user code and user code calls actors without reflection.
/// </summary>
[Generator(LanguageNames.CSharp)]
public sealed class ActorGenerator : IIncrementalGenerator
{
    /// <summary>Names of the pipeline's steps, for tests of the caching.</summary>
    public const string ContractsStep = "Contracts", ActorsStep = "Actors", ProxiesStep = "Proxies";

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        var contractReadings = context.SyntaxProvider
            .CreateSyntaxProvider(
                static (node, _) => node is InterfaceDeclarationSyntax { BaseList: not null },
                static (found, cancellation) =>
                    ContractReader.Read((InterfaceDeclarationSyntax)found.Node, found.SemanticModel, cancellation))
            .Where(static reading => reading is not null);
        var actorReadings = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ActorAttribute,
                static (node, _) => node is ClassDeclarationSyntax or RecordDeclarationSyntax,
                static (found, cancellation) => Names.IsCompatibleActor((INamedTypeSymbol)found.TargetSymbol)
                    ? null
                    : ActorReader.Read(
                        (INamedTypeSymbol)found.TargetSymbol, found.Attributes[0], found.SemanticModel.Compilation,
                        cancellation))
            .Where(static reading => reading is not null);

        // What were plain Dapr actors: classes, and the interfaces that they implement or call.
        var compatibleReadings = context.SyntaxProvider
            .CreateSyntaxProvider(
                static (node, _) => node is ClassDeclarationSyntax { BaseList: not null },
                static (found, cancellation) => CompatibleReader.Read(
                    (ClassDeclarationSyntax)found.Node, found.SemanticModel, cancellation))
            .Where(static reading => reading is not null);
        var calledReadings = context.SyntaxProvider
            .CreateSyntaxProvider(
                static (node, _) => CompatibleReader.MayCall(node),
                static (found, cancellation) => CompatibleReader.ReadCalled(
                    (GenericNameSyntax)found.Node, found.SemanticModel, cancellation))
            .Where(static reading => reading is not null);

        var contracts = contractReadings.Select(static (r, _) => r!.Model).Where(static m => m is not null).WithTrackingName(ContractsStep);
        var ownActors = actorReadings.Select(static (r, _) => r!.Model).Where(static m => m is not null)
            .WithTrackingName(ActorsStep);
        var compatibleActors = compatibleReadings.Select(static (r, _) => r!.Actor.Model)
            .Where(static m => m is not null);
        var actors = ownActors.Collect().Combine(compatibleActors.Collect())
            .SelectMany(static (both, _) => both.Left.AddRange(both.Right));
        context.RegisterSourceOutput(contractReadings.SelectMany(static (r, _) => r!.Findings), Report);
        context.RegisterSourceOutput(actorReadings.SelectMany(static (r, _) => r!.Findings), Report);
        context.RegisterSourceOutput(compatibleReadings.SelectMany(static (r, _) => r!.Actor.Findings), Report);

        // Which type an interface means depends on the classes; that alone is looked at, so that an edit of a class
        // does not write every proxy anew.
        var implementations = actors
            .SelectMany(static (actor, _) => actor!.Contracts.Select(contract => new Implementation(contract, actor.Type)))
            .Collect()
            .Select(static (all, _) => new EquatableArray<Implementation>(all));
        var plainContracts = compatibleReadings.SelectMany(static (r, _) => r!.Contracts).Collect()
            .Combine(calledReadings.Collect())
            .SelectMany(static (both, _) => both.Left.AddRange(both.Right!).Distinct());
        context.RegisterSourceOutput(
            plainContracts.Combine(implementations)
                .Select(static (pair, _) => new ProxyModel(pair.Left!, ActorTypeOf(pair.Left!, pair.Right))),
            static (output, proxy) => output.AddSource(
                proxy.Contract.HintName + ".Proxy.g.cs", ProxyEmitter.Emit(proxy.Contract, proxy.ActorType)));
        var proxies = contracts
            .Combine(implementations)
            .Select(static (pair, _) => new ProxyModel(pair.Left!, ActorTypeOf(pair.Left!, pair.Right)))
            .WithTrackingName(ProxiesStep);
        context.RegisterSourceOutput(proxies, static (output, proxy) =>
            output.AddSource(proxy.Contract.HintName + ".Proxy.g.cs", ProxyEmitter.Emit(proxy.Contract, proxy.ActorType)));

        context.RegisterSourceOutput(actors, static (output, actor) =>
            output.AddSource(actor!.HintName + ".Descriptor.g.cs", DescriptorEmitter.Emit(actor)));

        var assembly = context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? "Assembly");
        context.RegisterSourceOutput(actors.Collect().Combine(assembly), static (output, all) => Catalogue(output, all.Left!, all.Right));
    }

    private static void Report(SourceProductionContext output, Finding finding) => output.ReportDiagnostic(finding.ToDiagnostic());

    // One class, or the one whose type is named like the interface; else the convention decides.
    private static string ActorTypeOf(ContractModel contract, EquatableArray<Implementation> implementations)
    {
        string? only = null;
        foreach (var implementation in implementations)
        {
            if (implementation.Contract != contract.FullName)
            {
                continue;
            }

            if (only is not null && only != implementation.ActorType)
            {
                return contract.ConventionalActorType;
            }

            only = implementation.ActorType;
        }

        return only ?? contract.ConventionalActorType;
    }

    private static void Catalogue(SourceProductionContext output, ImmutableArray<ActorModel?> actors, string assembly)
    {
        if (actors.IsEmpty)
        {
            return;
        }

        var ordered = actors.OfType<ActorModel>().OrderBy(a => a.FullName, StringComparer.Ordinal).ToList();
        var named = new Dictionary<string, ActorModel>(StringComparer.Ordinal);
        foreach (var actor in ordered)
        {
            if (named.TryGetValue(actor.Type, out var other))
            {
                output.ReportDiagnostic(Diagnostic.Create(Rules.DuplicateActorType, Location.None, other.Name, actor.Name, actor.Type));
                continue;
            }

            named.Add(actor.Type, actor);
        }

        output.AddSource("Actors.g.cs", CatalogueEmitter.Emit(assembly, ordered));
    }

    private sealed record Implementation(string Contract, string ActorType);

    private sealed record ProxyModel(ContractModel Contract, string ActorType);
}
