using Microsoft.CodeAnalysis;
using Snapper.Generators.Models;
using Snapper.Generators.Reading;

namespace Snapper.Generators.Baselines;

/// <summary>Reads what callers and stored states rely on out of a project's actor classes.</summary>
internal sealed class BaselineReader
{
    private readonly Compilation _compilation;
    private readonly CancellationToken _cancellation;
    private readonly ShapeReader _shapes;
    private readonly Dictionary<string, ISymbol> _places = new(StringComparer.Ordinal);

    private BaselineReader(Compilation compilation, CancellationToken cancellation)
    {
        _compilation = compilation;
        _cancellation = cancellation;
        _shapes = new ShapeReader(Baseline.Types);
        Visit(compilation.Assembly.GlobalNamespace);
    }

    private Baseline Baseline { get; } = new();

    /// <summary>Reads a project.</summary>
    /// <param name="compilation">The project.</param>
    /// <param name="cancellation">Ends it.</param>
    /// <param name="places">
    /// Where actor types (<c>Cart</c>) and methods (<c>Cart.Add</c>) stand.
    /// </param>
    public static Baseline Read(
        Compilation compilation, CancellationToken cancellation, out IReadOnlyDictionary<string, ISymbol> places)
    {
        var reader = new BaselineReader(compilation, cancellation);
        places = reader._places;
        return reader.Baseline;
    }

    private void Visit(INamespaceSymbol space)
    {
        foreach (var member in space.GetMembers())
        {
            if (member is INamespaceSymbol inner)
            {
                Visit(inner);
            }
            else if (member is INamedTypeSymbol { TypeKind: TypeKind.Class } type)
            {
                Visit(type);
            }
        }
    }

    private void Visit(INamedTypeSymbol type)
    {
        var isCompatible = Names.IsCompatibleActor(type);
        if ((isCompatible || Names.Has(type, Names.ActorAttribute)) && ActorReader.Obstacle(type) is null
            && ActorReader.TypeNameOf(type, isCompatible) is { Length: > 0 } name)
        {
            _cancellation.ThrowIfCancellationRequested();
            Baseline.Actors[name] = Read(type, name, isCompatible);
            _places[name] = type;
        }
    }

    private ActorContract Read(INamedTypeSymbol actor, string name, bool isCompatible)
    {
        var contract = new ActorContract(name) { Partition = ActorReader.PartitionSeparator(actor) };
        var methods = new List<IMethodSymbol>();
        foreach (var one in ActorReader.ContractsOf(actor, isCompatible))
        {
            contract.Contracts.Add(ShapeReader.NameOf(one));
            methods.AddRange(ContractReader.Methods(one, new List<Finding>()));
        }

        var declarations = DeclarationReader.Read(actor, methods, new List<Finding>());
        foreach (var method in methods)
        {
            var implementation = actor.FindImplementationForInterfaceMember(method);
            contract.Methods[method.Name] = new MethodContract(
                method.Name,
                ContractReader.InputOf(method) is { } input ? _shapes.Read(input.Type) : null,
                ContractReader.ResultOf(method) is { } result ? _shapes.Read(result) : null,
                declarations.ContainsKey(method.Name),
                Names.Has(implementation, Names.ReadOnlyAttribute));
            _places[name + "." + method.Name] = implementation ?? method;
        }

        if (!isCompatible && Names.ActorBaseOf(actor)?.TypeArguments[0] is { } state)
        {
            var (version, oldest) = EvolutionReader.NumbersOf(actor, state) ?? (1, 1);
            contract.State = new StateContract(version, oldest, _shapes.Read(state));
        }

        contract.Aborts.UnionWith(AbortCodes.Of(actor, _compilation, _cancellation));
        return contract;
    }
}
