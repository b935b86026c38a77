using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Snapper.Generators.Models;

namespace Snapper.Generators.Reading;

/// <summary>Turns an interface that derives from ITransactionalActor into the model of its proxy.</summary>
internal static class ContractReader
{
    public static Reading<ContractModel>? Read(InterfaceDeclarationSyntax syntax, SemanticModel semantics, CancellationToken cancellation)
    {
        if (semantics.GetDeclaredSymbol(syntax, cancellation) is not INamedTypeSymbol contract
            || !Names.IsContract(contract)
            || !IsFirstPartWithBases(contract, syntax, cancellation))
        {
            return null;
        }

        return Read(contract);
    }

    /// <summary>The same for an interface that is known to be one of actors.</summary>
    public static Reading<ContractModel> Read(INamedTypeSymbol contract)
    {
        var findings = new List<Finding>();
        var methods = Methods(contract, findings);
        if (Obstacle(contract) is { } obstacle)
        {
            findings.Add(Finding.Of(Rules.UnsupportedInterface, contract, contract.Name, obstacle));
        }

        if (findings.Count > 0)
        {
            return new Reading<ContractModel>(null, new EquatableArray<Finding>(findings.ToImmutableArray()));
        }

        var model = new ContractModel(
            Names.Plain(contract),
            contract.ToDisplayString(SymbolDisplayFormat.CSharpErrorMessageFormat).Replace("@", ""),
            WithoutLeadingI(contract.Name),
            new EquatableArray<ContractMethodModel>(methods.Select(ToModel).ToImmutableArray()));
        return new Reading<ContractModel>(model, default);
    }

    /// <summary>
    /// The methods of an interface, inherited ones included, in order of declaration; what is wrong goes to the
    /// findings.
    /// </summary>
    public static List<IMethodSymbol> Methods(INamedTypeSymbol contract, List<Finding> findings)
    {
        var methods = new List<IMethodSymbol>();
        var inherited = contract.AllInterfaces.Where(i => !Names.IsContractRoot(i) && !Names.IsDaprContractRoot(i));
        foreach (var declaring in inherited.Concat(new[] { contract }))
        {
            foreach (var member in declaring.GetMembers())
            {
                Read(contract, member, methods, findings);
            }
        }

        return methods;
    }

    /// <summary>The type that a task carries; null for plain Task.</summary>
    public static ITypeSymbol? ResultOf(IMethodSymbol method) =>
        method.ReturnType is INamedTypeSymbol { Arity: 1 } task ? task.TypeArguments[0] : null;

    /// <summary>The input is proven never to change, or there is none.</summary>
    public static bool IsInputImmutable(IMethodSymbol method) =>
        InputOf(method) is not { } input || StateImmutability.IsProven(input.Type);

    /// <summary>The parameter that is the input; null: the method has none.</summary>
    public static IParameterSymbol? InputOf(IMethodSymbol method) =>
        method.Parameters.Length == (TakesCancellation(method) ? 1 : 0) ? null : method.Parameters[0];

    /// <summary>Dapr's SDK has callers give a token as the last argument, which no call carries.</summary>
    public static bool TakesCancellation(IMethodSymbol method) =>
        !method.Parameters.IsEmpty && Names.IsDaprContract(method.ContainingType)
        && method.Parameters[method.Parameters.Length - 1] is { RefKind: RefKind.None } last
        && last.Type.ToDisplayString() == "System.Threading.CancellationToken";

    private static void Read(INamedTypeSymbol contract, ISymbol member, List<IMethodSymbol> methods, List<Finding> findings)
    {
        switch (member)
        {
            case INamedTypeSymbol or IFieldSymbol:
            case IMethodSymbol { MethodKind: not MethodKind.Ordinary }:
            case IMethodSymbol { DeclaredAccessibility: Accessibility.Private }:
            case { IsStatic: true, IsAbstract: false }:
                return; // Not callable through an object: nothing for the proxy to do.
            case IMethodSymbol { IsStatic: false } method:
                CheckMethod(method, findings);
                if (method.Name == "StartTransaction")
                {
                    findings.Add(Finding.Of(Rules.ReservedMethod, method, contract.Name + "." + method.Name));
                }

                if (methods.Exists(other => other.Name == method.Name))
                {
                    findings.Add(Finding.Of(Rules.DuplicateMethod, method, contract.Name, method.Name));
                }

                methods.Add(method);
                return;
            default:
                findings.Add(Finding.Of(Rules.NotAMethod, member, contract.Name + "." + member.Name));
                return;
        }
    }

    private static void CheckMethod(IMethodSymbol method, List<Finding> findings)
    {
        var name = method.ContainingType.Name + "." + method.Name;
        if (method.IsGenericMethod)
        {
            findings.Add(Finding.Of(Rules.GenericMethod, method, name));
        }

        if (method.Parameters.Length > (TakesCancellation(method) ? 2 : 1))
        {
            findings.Add(Finding.Of(Rules.TooManyParameters, method, name, method.Parameters.Length.ToString()));
        }

        foreach (var parameter in method.Parameters)
        {
            if (parameter.RefKind != RefKind.None || parameter.IsParams || parameter.Type.IsRefLikeType
                || parameter.Type.TypeKind is TypeKind.Pointer or TypeKind.FunctionPointer)
            {
                findings.Add(Finding.Of(Rules.UnsupportedParameter, parameter, name, parameter.Name));
            }
        }

        if (method.ReturnsByRef || method.ReturnsByRefReadonly || !IsTask(method.ReturnType))
        {
            findings.Add(Finding.Of(Rules.WrongReturnType, method, name, method.ReturnType.ToDisplayString()));
        }
    }

    private static bool IsTask(ITypeSymbol type) =>
        type is INamedTypeSymbol { Name: "Task", Arity: <= 1 } task
        && task.ContainingNamespace.ToDisplayString() == "System.Threading.Tasks";

    private static string? Obstacle(INamedTypeSymbol contract)
    {
        for (var type = contract; type is not null; type = type.ContainingType)
        {
            if (type.IsGenericType)
            {
                return "generic";
            }

            if (type.IsFileLocal
                || type.DeclaredAccessibility is not (Accessibility.Public or Accessibility.Internal or Accessibility.ProtectedOrInternal))
            {
                return "not visible to generated code";
            }
        }

        return null;
    }

    // A partial interface has several declarations; one of them stands for all.
    private static bool IsFirstPartWithBases(INamedTypeSymbol contract, InterfaceDeclarationSyntax syntax, CancellationToken cancellation)
    {
        foreach (var reference in contract.DeclaringSyntaxReferences)
        {
            if (reference.GetSyntax(cancellation) is InterfaceDeclarationSyntax { BaseList: not null } part)
            {
                return part == syntax;
            }
        }

        return false;
    }

    private static string WithoutLeadingI(string name) =>
        name.Length > 1 && name[0] == 'I' && char.IsUpper(name[1]) ? name.Substring(1) : name;

    private static ContractMethodModel ToModel(IMethodSymbol method)
    {
        var result = ResultOf(method);
        return new ContractMethodModel(
            Names.Plain(method.ContainingType),
            method.Name,
            Names.Identifier(method),
            Names.Annotate(method.ReturnType),
            InputOf(method) is { } input ? Names.Annotate(input.Type) : null,
            result is null ? null : Names.Annotate(result),
            IsInputImmutable(method),
            result is null || StateImmutability.IsProven(result),
            TakesCancellation(method));
    }
}
