namespace Snapper.Generators.Models;

/// <summary>
/// What the proxy of one actor interface is made of. Holds no symbols, so that it can be compared and kept.
/// </summary>
/// <param name="FullName">Of the interface, with <c>global::</c>.</param>
/// <param name="HintName">Name of the generated file.</param>
/// <param name="ConventionalActorType">The interface's name without its leading <c>I</c>.</param>
/// <param name="Methods">All methods, inherited ones included; names are unique.</param>
internal sealed record ContractModel(
    string FullName, string HintName, string ConventionalActorType, EquatableArray<ContractMethodModel> Methods);

/// <summary>One method of an actor interface.</summary>
/// <param name="DeclaredIn">Full name of the interface that declares it.</param>
/// <param name="Name">As a caller writes it.</param>
/// <param name="Identifier">As C# writes it (<c>@event</c>).</param>
/// <param name="ReturnType">Full name.</param>
/// <param name="Input">Full name of the input's type; null: none.</param>
/// <param name="Result">Full name of the result's type; null: none.</param>
/// <param name="InputIsImmutable">Proven, or there is no input.</param>
/// <param name="ResultIsImmutable">Proven, or there is no result.</param>
/// <param name="TakesCancellation">Its last parameter is a cancellation token, which is no input.</param>
internal sealed record ContractMethodModel(
    string DeclaredIn,
    string Name,
    string Identifier,
    string ReturnType,
    string? Input,
    string? Result,
    bool InputIsImmutable,
    bool ResultIsImmutable,
    bool TakesCancellation);
