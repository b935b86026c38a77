namespace Snapper.Generators.Models;

/// <summary>
/// What the descriptor of one actor class is made of. Holds no symbols, so that it can be compared and kept.
/// </summary>
/// <param name="Namespace">Empty for the global one.</param>
/// <param name="Name">Of the class.</param>
/// <param name="Identifier">Of the class, as C# writes it.</param>
/// <param name="Type">Name of the actor type.</param>
/// <param name="TurnBoundMs">As in the attribute; 0: not given.</param>
/// <param name="PartitionSeparator">As in the attribute; null: it has none.</param>
/// <param name="State">Full name of the state's type.</param>
/// <param name="StateIsImmutable">Proven to be shareable between attempts.</param>
/// <param name="StateReadsAsWritten">Proven to be readable from the JSON that is written of it.</param>
/// <param name="Evolution">Versions of the state; null: they are not numbered.</param>
/// <param name="Contracts">Full names of the actor interfaces.</param>
/// <param name="Services">The constructor's parameters in order.</param>
/// <param name="Methods">All methods of all interfaces; names are unique.</param>
/// <param name="IsCompatible">
/// It was a plain Dapr actor: what its base class does around each method is called, too.
/// </param>
internal sealed record ActorModel(
    string Namespace,
    string Name,
    string Identifier,
    string Type,
    int TurnBoundMs,
    char? PartitionSeparator,
    string State,
    bool StateIsImmutable,
    bool StateReadsAsWritten,
    EvolutionModel? Evolution,
    EquatableArray<string> Contracts,
    EquatableArray<ServiceModel> Services,
    EquatableArray<ActorMethodModel> Methods,
    bool IsCompatible)
{
    /// <summary>Of the class, with <c>global::</c>.</summary>
    public string FullName => "global::" + (Namespace.Length == 0 ? Identifier : Namespace + "." + Identifier);

    /// <summary>Of the class, for file names.</summary>
    public string HintName => Namespace.Length == 0 ? Name : Namespace.Replace("@", "") + "." + Name;
}

/// <summary>The versions of a state.</summary>
/// <param name="Version">The newest.</param>
/// <param name="Oldest">The oldest that is read.</param>
/// <param name="Upcasts">From each version to the next, in order.</param>
internal sealed record EvolutionModel(int Version, int Oldest, EquatableArray<UpcastModel> Upcasts);

/// <summary>One step from a version to the next.</summary>
/// <param name="From">The version that it takes.</param>
/// <param name="Old">Full name of what it takes.</param>
/// <param name="Next">Full name of what it makes.</param>
/// <param name="Method">Full name of the function.</param>
internal sealed record UpcastModel(int From, string Old, string Next, string Method);

/// <summary>A constructor's parameter, taken from the services of the host.</summary>
/// <param name="Type">Full name without nullability.</param>
/// <param name="IsOptional">Null is passed when there is no such service.</param>
/// <param name="IsHost">It is what the base class for plain Dapr actors asks for, and is made anew.</param>
internal sealed record ServiceModel(string Type, bool IsOptional, bool IsHost);

/// <summary>One method of an actor class.</summary>
/// <param name="Receiver">
/// Type through which it is called: the class, or the interface that it implements explicitly.
/// </param>
/// <param name="Name">As a caller writes it.</param>
/// <param name="Identifier">As C# writes it.</param>
/// <param name="Input">Full name of the input's type; null: none.</param>
/// <param name="Result">Full name of the result's type; null: none.</param>
/// <param name="MayAbort">Carries the attribute.</param>
/// <param name="ReadOnly">Carries the attribute.</param>
/// <param name="InputIsImmutable">Proven, or there is no input.</param>
/// <param name="Declares">Name of its declaring function, as C# writes it; null: it has none.</param>
/// <param name="DeclarationIsBounded">The function is proven to end soon.</param>
/// <param name="TakesCancellation">Its last parameter is a cancellation token, which is no input.</param>
internal sealed record ActorMethodModel(
    string Receiver,
    string Name,
    string Identifier,
    string? Input,
    string? Result,
    bool MayAbort,
    bool ReadOnly,
    bool InputIsImmutable,
    string? Declares,
    bool DeclarationIsBounded,
    bool TakesCancellation);
