namespace Snapper.Actors.State;

/// <summary>One actor's state as one transaction sees it.</summary>
public sealed class ActorState<TState>
    where TState : class
{
    private readonly ActorContext _context;
    private readonly TransactionalActor<TState> _actor;

    internal ActorState(ActorContext context, TransactionalActor<TState> actor)
    {
        _context = context;
        _actor = actor;
    }

    /// <summary>The state, to read only. An ACT waits for a shared lock; a PACT never waits.</summary>
    public ValueTask<TState> Get()
    {
        var read = _context.ReadState();
        return read.IsCompletedSuccessfully
            ? new ValueTask<TState>((TState?)read.Result ?? _actor.NeverWritten())
            : Await(read);
    }

    /// <summary>
    /// The state, to be changed: replace it with <see cref="Set"/>, or, if its type is mutable, change the returned
    /// object (a copy of this attempt's own). An ACT waits for an exclusive lock; a PACT never waits.
    /// </summary>
    public ValueTask<TState> ForUpdate()
    {
        var read = _context.ReadStateForUpdate();
        if (!read.IsCompletedSuccessfully)
        {
            return AwaitForUpdate(read);
        }

        return new ValueTask<TState>((TState?)read.Result ?? Begin());
    }

    /// <summary>Replaces the state.</summary>
    public void Set(TState next)
    {
        ArgumentNullException.ThrowIfNull(next);
        _context.WriteState(next);
    }

    private async ValueTask<TState> Await(ValueTask<object?> read) => (TState?)await read ?? _actor.NeverWritten();

    private async ValueTask<TState> AwaitForUpdate(ValueTask<object?> read) => (TState?)await read ?? Begin();

    private TState Begin()
    {
        // A mutable state that is changed in place must be in place: the first writer installs the initial one.
        var state = _actor.NeverWritten();
        _context.WriteState(state);
        return state;
    }
}
