using Microsoft.CodeAnalysis;

namespace Snapper.Generators;

/// <summary>The types of Snapper.Actors that generated code speaks about, and how symbols are written in it.</summary>
internal static class Names
{
    public const string Contract = "Snapper.Actors.ITransactionalActor";
    public const string ActorAttribute = "Snapper.Actors.TransactionalActorAttribute";
    public const string PartitionKeyAttribute = "Snapper.Actors.PartitionKeyAttribute";
    public const string MayAbortAttribute = "Snapper.Actors.MayAbortAttribute";
    public const string ReadOnlyAttribute = "Snapper.Actors.ReadOnlyMethodAttribute";
    public const string DeclaresAttribute = "Snapper.Actors.DeclaresAttribute";
    public const string StateVersionAttribute = "Snapper.Actors.StateVersionAttribute";
    public const string UpcastsAttribute = "Snapper.Actors.UpcastsAttribute";
    public const string Declaration = "Snapper.Actors.Declaration";
    public const string State = "Snapper.Actors.State.ActorState<TState>";
    public const string UntypedActor = "Snapper.Actors.TransactionalActor";
    public const string AbortException = "Snapper.Actors.TransactionAbortException";
    public const string ActorBase = "Snapper.Actors.TransactionalActor<TState>";

    public const string DaprContract = "Dapr.Actors.IActor";
    public const string DaprActorAttribute = "Dapr.Actors.Runtime.ActorAttribute";
    public const string DaprRemindable = "Dapr.Actors.Runtime.IRemindable";
    public const string DaprProxy = "Dapr.Actors.Client.ActorProxy";
    public const string DaprProxyFactory = "Dapr.Actors.Client.IActorProxyFactory";
    public const string CompatibleActor = "Snapper.DaprCompatibility.TransactionalDaprActor";
    public const string CompatibleActorAttribute = "Snapper.DaprCompatibility.ActorAttribute";
    public const string CompatibleHost = "Snapper.DaprCompatibility.ActorHost";
    public const string CompatibleProxies = "Snapper.DaprCompatibility.TransactionProxies";

    private static readonly SymbolDisplayFormat Annotated = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier);

    /// <summary>With <c>global::</c> and nullable annotations; for signatures.</summary>
    public static string Annotate(ITypeSymbol type) => type.ToDisplayString(Annotated);

    /// <summary>With <c>global::</c>, without nullable annotations at the top; for typeof and casts.</summary>
    public static string Plain(ITypeSymbol type) => type.ToDisplayString(SymbolDisplayFormat.FullyQualifiedFormat);

    /// <summary>A name as C# writes it: keywords get an @.</summary>
    public static string Identifier(ISymbol symbol) => Identifier(symbol.Name);

    /// <summary>A name as C# writes it: keywords get an @.</summary>
    public static string Identifier(string name) =>
        Microsoft.CodeAnalysis.CSharp.SyntaxFacts.GetKeywordKind(name) == Microsoft.CodeAnalysis.CSharp.SyntaxKind.None ? name : "@" + name;

    /// <summary>Is it <see cref="Contract"/> itself?</summary>
    public static bool IsContractRoot(ITypeSymbol type) =>
        type.Name == "ITransactionalActor" && type.ToDisplayString() == Contract;

    /// <summary>Does the interface derive from <see cref="Contract"/>?</summary>
    public static bool IsContract(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Interface && type.AllInterfaces.Any(IsContractRoot);

    /// <summary>Is it <see cref="DaprContract"/> itself?</summary>
    public static bool IsDaprContractRoot(ITypeSymbol type) =>
        type.Name == "IActor" && type.ToDisplayString() == DaprContract;

    /// <summary>Does the interface derive from <see cref="DaprContract"/>?</summary>
    public static bool IsDaprContract(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Interface && type.AllInterfaces.Any(IsDaprContractRoot);

    /// <summary>Does the class derive from the base class for what was a plain Dapr actor?</summary>
    public static bool IsCompatibleActor(INamedTypeSymbol type)
    {
        for (var candidate = type.BaseType; candidate is not null; candidate = candidate.BaseType)
        {
            if (candidate.Name == "TransactionalDaprActor" && candidate.ToDisplayString() == CompatibleActor)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The <c>TransactionalActor&lt;TState&gt;</c> among the base classes; null when there is none.</summary>
    public static INamedTypeSymbol? ActorBaseOf(INamedTypeSymbol type)
    {
        for (var candidate = type.BaseType; candidate is not null; candidate = candidate.BaseType)
        {
            if (candidate.Name == "TransactionalActor" && candidate.Arity == 1
                && candidate.OriginalDefinition.ToDisplayString() == ActorBase)
            {
                return candidate;
            }
        }

        return null;
    }

    /// <summary>Does the symbol carry the attribute?</summary>
    public static bool Has(ISymbol? symbol, string attribute) => Find(symbol, attribute) is not null;

    /// <summary>The attribute on the symbol; null: it does not carry it.</summary>
    public static AttributeData? Find(ISymbol? symbol, string attribute)
    {
        if (symbol is null)
        {
            return null;
        }

        foreach (var candidate in symbol.GetAttributes())
        {
            if (candidate.AttributeClass?.ToDisplayString() == attribute)
            {
                return candidate;
            }
        }

        return null;
    }
}
