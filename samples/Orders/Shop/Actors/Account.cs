using Orders.Contract;
using Snapper.Actors;

namespace Orders.Shop.Actors;

/// <summary>The account of a customer.</summary>
[TransactionalActor("Account")]
public sealed class Account : TransactionalActor<AccountState>, IAccount
{
    protected override AccountState InitialState() => new(500, 0, 0);

    public async Task SetLimit(decimal limit)
    {
        var mine = await State.ForUpdate();
        State.Set(mine with { Limit = limit });
    }

    [MayAbort]
    public async Task Reserve(decimal amount)
    {
        var mine = await State.ForUpdate();
        if (mine.Reserved + amount > mine.Limit)
        {
            throw Abort("over_limit", new { needed = amount, available = mine.Limit - mine.Reserved });
        }

        State.Set(mine with { Reserved = mine.Reserved + amount });
    }

    public async Task Settle(decimal amount)
    {
        var mine = await State.ForUpdate();
        State.Set(mine with { Reserved = mine.Reserved - amount, Charged = mine.Charged + amount });
    }

    public async Task Release(decimal amount)
    {
        var mine = await State.ForUpdate();
        State.Set(mine with { Reserved = mine.Reserved - amount });
    }

    [ReadOnlyMethod]
    public async Task<AccountState> Read() => await State.Get();
}
