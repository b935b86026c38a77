using Snapper.Actors;

namespace ActorNamespace;

public interface INewActor : ITransactionalActor
{
    Task<int> Add(int amount);

    Task<int> Read();
}

public sealed record NewActorState(int Value);

[TransactionalActor("NewActor")]
public sealed class NewActor : TransactionalActor<NewActorState>, INewActor
{
    protected override NewActorState InitialState() => new(0);

    public async Task<int> Add(int amount)
    {
        var state = await State.ForUpdate();
        State.Set(state with { Value = state.Value + amount });
        return state.Value + amount;
    }

    [ReadOnlyMethod]
    public async Task<int> Read() => (await State.Get()).Value;
}
