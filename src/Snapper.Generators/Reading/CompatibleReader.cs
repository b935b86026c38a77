using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Snapper.Generators.Models;

namespace Snapper.Generators.Reading;

/// <summary>
/// Reads classes that were plain Dapr actors. Their interfaces derive from Dapr's <c>IActor</c> and may stand in
/// projects that know nothing of us: the proxies are made where the classes are.
/// </summary>
internal static class CompatibleReader
{
    /// <summary>
    /// A class whose base class is that for plain Dapr actors; null: another one, or no actor by itself.
    /// </summary>
    public static CompatibleReading? Read(
        ClassDeclarationSyntax syntax, SemanticModel semantics, CancellationToken cancellation)
    {
        if (semantics.GetDeclaredSymbol(syntax, cancellation) is not INamedTypeSymbol { IsAbstract: false } actor
            || !Names.IsCompatibleActor(actor)
            || FirstPartWithBases(actor, cancellation) != syntax)
        {
            return null;
        }

        var reading = ActorReader.ReadCompatible(actor, semantics.Compilation, cancellation);
        return new CompatibleReading(reading, new EquatableArray<ContractModel>(
            ActorReader.ContractsOf(actor, isCompatible: true).Where(static one => !Names.IsContract(one))
                .Select(static one => ContractReader.Read(one).Model).OfType<ContractModel>().ToImmutableArray()));
    }

    /// <summary>
    /// Whether a name may ask for a proxy, as in <c>ProxyFactory.CreateActorProxy&lt;IStock&gt;(...)</c>.
    /// </summary>
    public static bool MayCall(SyntaxNode node) =>
        node is GenericNameSyntax { Identifier.ValueText: "CreateActorProxy" or "Create" or "Actor" } name
        && name.TypeArgumentList.Arguments.Count == 1;

    /// <summary>The interface whose proxy is asked for within a transaction; null: it is none of Dapr's.</summary>
    public static ContractModel? ReadCalled(
        GenericNameSyntax name, SemanticModel semantics, CancellationToken cancellation) =>
        semantics.GetSymbolInfo(name, cancellation).Symbol is IMethodSymbol { TypeArguments.Length: 1 } method
        && method.ContainingType.ToDisplayString() is Names.CompatibleProxies or Names.CompatibleActor
        && method.TypeArguments[0] is INamedTypeSymbol contract
        && Names.IsDaprContract(contract) && !Names.IsContract(contract)
            ? ContractReader.Read(contract).Model
            : null;

    // A partial class has several declarations; one of them stands for all.
    private static SyntaxNode? FirstPartWithBases(INamedTypeSymbol actor, CancellationToken cancellation) =>
        actor.DeclaringSyntaxReferences.Select(reference => reference.GetSyntax(cancellation))
            .FirstOrDefault(static part => part is ClassDeclarationSyntax { BaseList: not null });
}

/// <summary>What a class that was a plain Dapr actor gives.</summary>
/// <param name="Actor">Its model, or why there is none.</param>
/// <param name="Contracts">Those of its interfaces that derive from Dapr's <c>IActor</c>.</param>
internal sealed record CompatibleReading(Reading<ActorModel> Actor, EquatableArray<ContractModel> Contracts);
