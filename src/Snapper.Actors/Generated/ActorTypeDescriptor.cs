namespace Snapper.Actors.Generated;

/// <summary>Everything the runtime needs to know of one actor class. Made by generated code.</summary>
/// <param name="Type">Name of the actor type.</param>
/// <param name="ActorClass">The class.</param>
/// <param name="StateType">Type of its state.</param>
/// <param name="Interfaces">The actor interfaces that the class implements.</param>
/// <param name="Create">Makes an actor object; called once per transaction attempt and actor.</param>
/// <param name="Methods">All methods of all interfaces; names are unique within the class.</param>
/// <param name="StateIsImmutable">
/// True when the state is a record whose properties can be set only while it is made: it is then shared between
/// attempts; otherwise each writing attempt works on a copy.
/// </param>
/// <param name="TurnBoundMs">See <see cref="TransactionalActorAttribute.TurnBoundMs"/>.</param>
/// <param name="PartitionSeparator">See <see cref="PartitionKeyAttribute.Separator"/>; null: the class names no partition key.</param>
public sealed record ActorTypeDescriptor(
    string Type,
    Type ActorClass,
    Type StateType,
    IReadOnlyList<Type> Interfaces,
    Func<IServiceProvider?, TransactionalActor> Create,
    IReadOnlyList<ActorMethod> Methods,
    bool StateIsImmutable,
    int TurnBoundMs,
    char? PartitionSeparator = null)
{
    /// <summary>
    /// What is written of any state as JSON can be read again: proven when the class was compiled. Where it is not, the
    /// worker reads each state before it keeps it.
    /// </summary>
    public bool StateReadsAsWritten { get; init; }

    /// <summary>
    /// Which versions of the state are read; null: the class numbers none, and its states are of version 1.
    /// </summary>
    public StateEvolution? Evolution { get; init; }
}
