using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.DaprCompatibility;

/// <summary>
/// Calls other actors, and hands what was set so far to the transaction before: who is called may call back.
/// </summary>
/// <param name="actor">The actor.</param>
/// <param name="states">Its states.</param>
internal sealed class SavingCaller(TransactionalDaprActor actor, TransactionalStates states) : IActorCaller
{
    public Task<TResult> Call<TInput, TResult>(
        string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var saved = states.HandOver();
        return saved.IsCompletedSuccessfully
            ? actor.Transaction.Call<TInput, TResult>(actorType, actorId, method, input)
            : Then(saved);

        async Task<TResult> Then(Task before)
        {
            await before;
            return await actor.Transaction.Call<TInput, TResult>(actorType, actorId, method, input);
        }
    }

    public Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var saved = states.HandOver();
        return saved.IsCompletedSuccessfully
            ? actor.Transaction.CallVoid(actorType, actorId, method, input)
            : Then(saved);

        async Task Then(Task before)
        {
            await before;
            await actor.Transaction.CallVoid(actorType, actorId, method, input);
        }
    }
}
