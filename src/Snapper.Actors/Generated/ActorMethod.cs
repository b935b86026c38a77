namespace Snapper.Actors.Generated;

/// <summary>How one method of an actor class is run. Made by generated code; never by name from the wire.</summary>
public abstract class ActorMethod
{
    private protected ActorMethod(string name, bool mayAbort, bool readOnly)
    {
        Name = name;
        MayAbort = mayAbort;
        ReadOnly = readOnly;
    }

    /// <summary>The method's name.</summary>
    public string Name { get; }

    /// <summary>Carries <see cref="MayAbortAttribute"/>.</summary>
    public bool MayAbort { get; }

    /// <summary>Carries <see cref="ReadOnlyMethodAttribute"/>.</summary>
    public bool ReadOnly { get; }

    /// <summary>
    /// The generator has proven that inputs never change once they are made: all attempts of a root share the one that
    /// was read, and each attempt reads any other anew.
    /// </summary>
    public bool InputIsImmutable { get; init; }

    /// <summary>
    /// The generator has proven that the method's declaration ends soon, whatever the input: the worker runs it where
    /// the request comes in. Any other runs on a thread that the worker can do without.
    /// </summary>
    public bool DeclarationIsBounded { get; init; }

    /// <summary>Type of the input; <see cref="Nothing"/> when there is none.</summary>
    public abstract Type InputType { get; }

    /// <summary>Type of the result; <see cref="Nothing"/> when there is none.</summary>
    public abstract Type ResultType { get; }

    /// <summary>Hands the typed method to a visitor, so that the runtime can build typed frames without reflection.</summary>
    public abstract TOut Accept<TOut>(IActorMethodVisitor<TOut> visitor);
}

/// <summary>Receives a method with its types.</summary>
public interface IActorMethodVisitor<out TOut>
{
    /// <summary>Called back once by <see cref="ActorMethod.Accept{TOut}"/>.</summary>
    TOut Visit<TInput, TResult>(ActorMethod<TInput, TResult> method);
}

/// <summary>A method with its input and result types.</summary>
/// <param name="name">The method's name.</param>
/// <param name="mayAbort">Carries <see cref="MayAbortAttribute"/>.</param>
/// <param name="readOnly">Carries <see cref="ReadOnlyMethodAttribute"/>.</param>
/// <param name="run">
/// Runs the method on an actor object: casts it to the class and calls it. For a method with a result the returned task
/// is a <see cref="Task{TResult}"/> of <typeparamref name="TResult"/>; for one without, any task.
/// </param>
public sealed class ActorMethod<TInput, TResult>(string name, bool mayAbort, bool readOnly, Func<TransactionalActor, TInput, Task> run)
    : ActorMethod(name, mayAbort, readOnly)
{
    /// <summary>Runs the method on an actor object.</summary>
    public Func<TransactionalActor, TInput, Task> Run { get; } = run;

    /// <summary>
    /// The method's <see cref="DeclaresAttribute"/> function, of the declaration to fill, the actor's id and the input;
    /// null: it has none.
    /// </summary>
    public Action<Declaration, string, TInput>? Declares { get; init; }

    /// <summary>The same method, run in another way: for what wraps it.</summary>
    /// <param name="run">In place of <see cref="Run"/>; it calls that.</param>
    public ActorMethod<TInput, TResult> RunBy(Func<TransactionalActor, TInput, Task> run) =>
        new(Name, MayAbort, ReadOnly, run)
        {
            InputIsImmutable = InputIsImmutable,
            DeclarationIsBounded = DeclarationIsBounded,
            Declares = Declares,
        };

    /// <inheritdoc/>
    public override Type InputType => typeof(TInput);

    /// <inheritdoc/>
    public override Type ResultType => typeof(TResult);

    /// <inheritdoc/>
    public override TOut Accept<TOut>(IActorMethodVisitor<TOut> visitor) => visitor.Visit(this);
}
