using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Snapper.Generators.Models;

namespace Snapper.Generators.Reading;

/// <summary>
/// Turns a class that carries [TransactionalActor], or one that was a plain Dapr actor, into the model of its
/// descriptor.
/// </summary>
internal static class ActorReader
{
    private const int LongestTypeName = 64;

    public static Reading<ActorModel> Read(
        INamedTypeSymbol actor, AttributeData attribute, Compilation compilation, CancellationToken cancellation) =>
        Read(actor, NameIn(attribute), TurnBoundMs(attribute), isCompatible: false, compilation, cancellation);

    /// <summary>
    /// The same for a class whose base class is that for plain Dapr actors. Its type is named by Dapr's attribute, or
    /// like the class.
    /// </summary>
    public static Reading<ActorModel> ReadCompatible(
        INamedTypeSymbol actor, Compilation compilation, CancellationToken cancellation)
    {
        var own = Names.Find(actor, Names.ActorAttribute);
        var type = TypeNameOf(actor, isCompatible: true);
        return Read(actor, type, own is null ? 0 : TurnBoundMs(own), isCompatible: true, compilation, cancellation);
    }

    private static Reading<ActorModel> Read(
        INamedTypeSymbol actor, string? type, int turnBoundMs, bool isCompatible, Compilation compilation,
        CancellationToken cancellation)
    {
        var findings = new List<Finding>();
        var separator = PartitionSeparator(actor);
        CheckClass(actor, type, turnBoundMs, separator, findings);

        var actorBase = Names.ActorBaseOf(actor);
        if (actorBase is null)
        {
            findings.Add(Finding.Of(Rules.NotAnActorClass, actor, actor.Name));
        }

        var contracts = ContractsOf(actor, isCompatible);
        if (contracts.IsEmpty)
        {
            findings.Add(Finding.Of(
                Rules.NoContract, actor, actor.Name, isCompatible ? "Dapr's IActor" : "ITransactionalActor"));
        }

        if (isCompatible && actor.AllInterfaces.Any(static one => one.ToDisplayString() == Names.DaprRemindable))
        {
            findings.Add(Finding.Of(Rules.Remindable, actor, actor.Name));
        }

        var methods = Methods(actor, contracts, isCompatible, findings, out var brokenContract);
        var declarations = DeclarationReader.Read(actor, methods, findings);
        var evolution = actorBase is null ? null : EvolutionReader.Read(actor, actorBase.TypeArguments[0], findings);
        var services = Obstacle(actor) is null ? Services(actor, findings) : default;

        // What is wrong with an interface of this project is reported where it stands, once.
        if (findings.Count > 0 || brokenContract)
        {
            return new Reading<ActorModel>(null, new EquatableArray<Finding>(findings.ToImmutableArray()));
        }

        var state = actorBase!.TypeArguments[0];
        var model = new ActorModel(
            actor.ContainingNamespace.IsGlobalNamespace ? "" : NamespaceOf(actor),
            actor.Name,
            Names.Identifier(actor),
            type!,
            turnBoundMs,
            separator,
            Names.Plain(state),
            isCompatible || StateImmutability.IsProven(state), // of the values of a plain actor: they are bytes
            isCompatible || StateReading.IsProven(state),
            evolution,
            new EquatableArray<string>(contracts.Select(Names.Plain).ToImmutableArray()),
            services,
            new EquatableArray<ActorMethodModel>(
                methods.Select(m => ToModel(actor, m, declarations, compilation, cancellation)).ToImmutableArray()),
            isCompatible);
        return new Reading<ActorModel>(model, default);
    }

    /// <summary>Why generated code cannot speak of a class; null when it can.</summary>
    public static string? Obstacle(INamedTypeSymbol actor) => actor switch
    {
        { ContainingType: not null } => "nested",
        { IsStatic: true } => "static",
        { IsAbstract: true } => "abstract",
        { IsGenericType: true } => "generic",
        { IsFileLocal: true } => "file-local",
        _ => null,
    };

    /// <summary>The actor interfaces of a class.</summary>
    public static ImmutableArray<INamedTypeSymbol> ContractsOf(INamedTypeSymbol actor, bool isCompatible) =>
        actor.AllInterfaces.Where(one => Names.IsContract(one) || (isCompatible && Names.IsDaprContract(one)))
            .ToImmutableArray();

    /// <summary>The name of a class's actor type; null: it has none.</summary>
    public static string? TypeNameOf(INamedTypeSymbol actor, bool isCompatible) =>
        Names.Find(actor, Names.ActorAttribute) is { } own ? NameIn(own)
        : isCompatible ? DaprNameOf(actor) ?? actor.Name : null;

    private static string? NameIn(AttributeData attribute) =>
        attribute.ConstructorArguments.Length == 1 ? attribute.ConstructorArguments[0].Value as string : null;

    private static string? DaprNameOf(INamedTypeSymbol actor)
    {
        var attribute = Names.Find(actor, Names.CompatibleActorAttribute)
            ?? Names.Find(actor, Names.DaprActorAttribute);
        return attribute?.NamedArguments.FirstOrDefault(static one => one.Key == "TypeName").Value.Value as string;
    }

    private static void CheckClass(INamedTypeSymbol actor, string? type, int turnBoundMs, char? separator, List<Finding> findings)
    {
        if (Obstacle(actor) is { } obstacle)
        {
            findings.Add(Finding.Of(Rules.UnsupportedClass, actor, actor.Name, obstacle));
        }

        if (!IsTypeName(type))
        {
            findings.Add(Finding.Of(Rules.InvalidTypeName, actor, actor.Name, type ?? "null"));
        }

        if (turnBoundMs < 0)
        {
            findings.Add(Finding.Of(Rules.NegativeTurnBound, actor, actor.Name, turnBoundMs.ToString()));
        }

        if (separator is { } given && (given is <= ' ' or >= (char)127 || IsLetter(given) || given is >= '0' and <= '9'))
        {
            findings.Add(Finding.Of(Rules.InvalidSeparator, actor, actor.Name, "U+" + ((int)given).ToString("X4", System.Globalization.CultureInfo.InvariantCulture)));
        }
    }

    private static bool IsTypeName(string? type)
    {
        if (type is null || type.Length is 0 or > LongestTypeName || !IsLetter(type[0]))
        {
            return false;
        }

        foreach (var c in type)
        {
            if (!IsLetter(c) && c is not ((>= '0' and <= '9') or '_' or '-' or '.'))
            {
                return false;
            }
        }

        return true;
    }

    private static bool IsLetter(char c) => c is (>= 'a' and <= 'z') or (>= 'A' and <= 'Z');

    /// <summary>Where the partition key of a class's actors ends; null: they have none.</summary>
    public static char? PartitionSeparator(INamedTypeSymbol actor) =>
        Names.Find(actor, Names.PartitionKeyAttribute) is { ConstructorArguments.Length: 1 } key ? key.ConstructorArguments[0].Value as char? : null;

    private static int TurnBoundMs(AttributeData attribute)
    {
        foreach (var argument in attribute.NamedArguments)
        {
            if (argument.Key == "TurnBoundMs" && argument.Value.Value is int value)
            {
                return value;
            }
        }

        return 0;
    }

    private static List<IMethodSymbol> Methods(
        INamedTypeSymbol actor, ImmutableArray<INamedTypeSymbol> contracts, bool isCompatible, List<Finding> findings,
        out bool brokenContract)
    {
        var methods = new List<IMethodSymbol>();
        brokenContract = false;
        foreach (var contract in contracts)
        {
            var broken = new List<Finding>();
            var ofContract = ContractReader.Methods(contract, broken);
            brokenContract |= broken.Count > 0;
            if (!contract.Locations.Any(l => l.IsInSource) || (isCompatible && !Names.IsContract(contract)))
            {
                findings.AddRange(broken);
            }

            foreach (var method in ofContract)
            {
                var other = methods.Find(m => m.Name == method.Name);
                if (other is null)
                {
                    methods.Add(method);
                }
                else if (!SymbolEqualityComparer.Default.Equals(other, method)
                    && !SymbolEqualityComparer.Default.Equals(other.ContainingType, method.ContainingType))
                {
                    findings.Add(Finding.Of(
                        Rules.AmbiguousMethod, actor, actor.Name, method.Name, other.ContainingType.Name, method.ContainingType.Name));
                }
            }
        }

        return methods;
    }

    private static EquatableArray<ServiceModel> Services(INamedTypeSymbol actor, List<Finding> findings)
    {
        var constructors = actor.InstanceConstructors
            .Where(c => c.DeclaredAccessibility is Accessibility.Public or Accessibility.Internal or Accessibility.ProtectedOrInternal)
            .ToImmutableArray();
        if (constructors.Length != 1)
        {
            findings.Add(Finding.Of(
                Rules.UnsupportedConstructor, actor, actor.Name, "has " + constructors.Length + " constructors that generated code can call"));
            return default;
        }

        var services = ImmutableArray.CreateBuilder<ServiceModel>();
        foreach (var parameter in constructors[0].Parameters)
        {
            if (parameter.RefKind != RefKind.None || parameter.IsParams || parameter.Type.IsRefLikeType
                || parameter.Type.TypeKind is TypeKind.Pointer or TypeKind.FunctionPointer)
            {
                findings.Add(Finding.Of(
                    Rules.UnsupportedConstructor, parameter, actor.Name, "takes '" + parameter.Name + "' in a way that no service can fill"));
            }

            var optional = parameter.NullableAnnotation == NullableAnnotation.Annotated
                || (parameter.HasExplicitDefaultValue && parameter.ExplicitDefaultValue is null && !parameter.Type.IsValueType);
            var isHost = parameter.Type.ToDisplayString() == Names.CompatibleHost;
            services.Add(new ServiceModel(Names.Plain(parameter.Type), optional, isHost));
        }

        return new EquatableArray<ServiceModel>(services.ToImmutable());
    }

    private static ActorMethodModel ToModel(
        INamedTypeSymbol actor, IMethodSymbol method, Dictionary<string, IMethodSymbol> declarations,
        Compilation compilation, CancellationToken cancellation)
    {
        declarations.TryGetValue(method.Name, out var declares);
        var implementation = actor.FindImplementationForInterfaceMember(method) as IMethodSymbol;

        // Explicit, inherited and default implementations may be hidden or invisible on the class.
        var callable = implementation is { MethodKind: MethodKind.Ordinary }
            && SymbolEqualityComparer.Default.Equals(implementation.ContainingType, actor);
        var result = ContractReader.ResultOf(method);
        return new ActorMethodModel(
            Names.Plain(callable ? actor : method.ContainingType),
            method.Name,
            Names.Identifier(method),
            ContractReader.InputOf(method) is { } input ? Names.Annotate(input.Type) : null,
            result is null ? null : Names.Annotate(result),
            Names.Has(implementation, Names.MayAbortAttribute),
            Names.Has(implementation, Names.ReadOnlyAttribute),
            ContractReader.IsInputImmutable(method),
            declares is null ? null : Names.Identifier(declares),
            declares is not null && DeclarationProof.IsBounded(declares, compilation, cancellation),
            ContractReader.TakesCancellation(method));
    }

    private static string NamespaceOf(INamedTypeSymbol actor) =>
        string.Join(".", actor.ContainingNamespace.ToDisplayString().Split('.').Select(part => Names.Identifier(part.TrimStart('@'))));
}
