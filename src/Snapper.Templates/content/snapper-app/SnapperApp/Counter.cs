using Snapper.Actors;

namespace SnapperApp;

public interface ICounter : ITransactionalActor
{
    Task<int> Add(int amount);

    Task<int> MoveTo(Move move);

    Task<int> Read();
}

public sealed record Move(string To, int Amount);

public sealed record Count(int Value);

[TransactionalActor("Counter")]
public sealed class Counter : TransactionalActor<Count>, ICounter
{
    protected override Count InitialState() => new(0);

    public async Task<int> Add(int amount)
    {
        var count = await State.ForUpdate();
        State.Set(new Count(count.Value + amount));
        return count.Value + amount;
    }

    // Both counters change, or none.
    public async Task<int> MoveTo(Move move)
    {
        var count = await State.ForUpdate();
        if (count.Value < move.Amount)
        {
            throw Abort($"{count.Value} is less than {move.Amount}");
        }

        State.Set(new Count(count.Value - move.Amount));
        await Actor<ICounter>(move.To).Add(move.Amount);
        return count.Value - move.Amount;
    }

    [ReadOnlyMethod]
    public async Task<int> Read() => (await State.Get()).Value;
}
