using Snapper.Actors.State;

namespace Snapper.Actors;

/// <summary>
/// Base of all actor classes. An object belongs to one attempt of one transaction: fields are not state, and nothing
/// in it may outlive the method. Derive from <see cref="TransactionalActor{TState}"/>.
/// </summary>
public abstract class TransactionalActor
{
    private ActorContext? _context;

    private protected TransactionalActor()
    {
    }

    /// <summary>Facts of this attempt: transaction id, time, random ids, caller. The same for all its actors.</summary>
    protected ActorContext Context =>
        _context ?? throw new InvalidOperationException("The actor is not inside a transaction: contexts are not there in constructors.");

    /// <summary>Id of this actor within its type.</summary>
    protected string Id => Context.Actor.Id;

    /// <summary>Another actor (or this one), called within the same transaction.</summary>
    protected TActor Actor<TActor>(string id)
        where TActor : class, ITransactionalActor => Generated.ActorProxies.Create<TActor>(Context, id);

    /// <summary>As <see cref="Actor{TActor}(string)"/>, for an interface that several actor types implement.</summary>
    protected TActor Actor<TActor>(string type, string id)
        where TActor : class, ITransactionalActor => Generated.ActorProxies.Create<TActor>(Context, type, id);

    /// <summary>Use as <c>throw Abort("why")</c>: the transaction ends with reason <c>application</c> and leaves nothing behind.</summary>
    protected static TransactionAbortException Abort(string message) => new(message);

    /// <summary>
    /// Use as <c>throw Abort("insufficient_funds", new { needed, available })</c>: as <see cref="Abort(string)"/>, and
    /// the caller's program gets the code and the details.
    /// </summary>
    /// <param name="code">1 to 64 lower-case letters, digits or <c>_</c>.</param>
    /// <param name="details">What goes with it; written as JSON, at most 4,096 bytes. Null: nothing.</param>
    /// <param name="message">For people; null: the code.</param>
    protected static TransactionAbortException Abort(string code, object? details, string? message = null) =>
        new(code, details, message);

    /// <summary>Connects the object with its attempt. Called once by the runtime, before any method.</summary>
    public void Enter(ActorContext context)
    {
        if (_context is not null)
        {
            throw new InvalidOperationException("An actor object belongs to one attempt of one transaction.");
        }

        _context = context;
    }
}

/// <summary>Base of actor classes with state <typeparamref name="TState"/>, a type that System.Text.Json can read and write.</summary>
public abstract class TransactionalActor<TState> : TransactionalActor
    where TState : class
{
    private ActorState<TState>? _state;

    /// <summary>This actor's state as the transaction sees it.</summary>
    protected ActorState<TState> State => _state ??= new ActorState<TState>(Context, this);

    /// <summary>The state of an actor that was never written. Must not depend on anything but the actor's id.</summary>
    protected abstract TState InitialState();

    /// <summary>The same for <see cref="ActorState{TState}"/>, which needs no delegate of each actor object then.</summary>
    internal TState NeverWritten() => InitialState();
}
