using System.ComponentModel;
using Snapper.Actors;

namespace Snapper.DaprCompatibility;

/// <summary>
/// Runs a method of what was a plain Dapr actor with what its base class does around it. For generated code.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ActorCalls
{
    /// <summary>A method without a result.</summary>
    /// <param name="actor">The actor.</param>
    /// <param name="method">The method's name.</param>
    /// <param name="readOnly">It carries <see cref="ReadOnlyMethodAttribute"/>.</param>
    /// <param name="input">Its input.</param>
    /// <param name="call">Calls it.</param>
    public static async Task Run<TInput>(
        TransactionalActor actor, string method, bool readOnly, TInput input,
        Func<TransactionalActor, TInput, Task> call)
    {
        ArgumentNullException.ThrowIfNull(call);
        var compatible = (TransactionalDaprActor)actor;
        var context = new ActorMethodContext(method);
        try
        {
            await compatible.Begin(context, readOnly);
            await call(actor, input);
            await compatible.End(context);
        }
        catch (Exception failure)
        {
            await compatible.Failed(context, failure);
            throw;
        }
    }

    /// <summary>Gives an actor that was never written its named states.</summary>
    /// <param name="actor">The actor.</param>
    /// <param name="states">The states.</param>
    /// <returns>False: it was written already, and is left as it is.</returns>
    public static async Task<bool> Import(TransactionalActor actor, NamedStates states)
    {
        ArgumentNullException.ThrowIfNull(actor);
        ArgumentNullException.ThrowIfNull(states);
        var transaction = ((TransactionalDaprActor)actor).Transaction;
        if (await transaction.ReadStateForUpdate() is not null)
        {
            return false;
        }

        transaction.WriteState(states);
        return true;
    }

    /// <summary>A method with a result.</summary>
    /// <param name="actor">The actor.</param>
    /// <param name="method">The method's name.</param>
    /// <param name="readOnly">It carries <see cref="ReadOnlyMethodAttribute"/>.</param>
    /// <param name="input">Its input.</param>
    /// <param name="call">Calls it.</param>
    public static async Task<TResult> Run<TInput, TResult>(
        TransactionalActor actor, string method, bool readOnly, TInput input,
        Func<TransactionalActor, TInput, Task<TResult>> call)
    {
        ArgumentNullException.ThrowIfNull(call);
        var compatible = (TransactionalDaprActor)actor;
        var context = new ActorMethodContext(method);
        try
        {
            await compatible.Begin(context, readOnly);
            var result = await call(actor, input);
            await compatible.End(context);
            return result;
        }
        catch (Exception failure)
        {
            await compatible.Failed(context, failure);
            throw;
        }
    }
}
